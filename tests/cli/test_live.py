import io
import sys

import pytest
from rich.console import Console

from cli.small_tables import FAST, graph_of
from made import SMALL, make_graph
from paretognn.cli.live import Terminal
from paretognn.cli.main import run
from paretognn.training import make_config, merge, train


def shown(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    config = make_config(merge(SMALL, {"steps": 3}))
    train(make_graph(), config, trackers=[Terminal("link model", console)])
    return console.file.getvalue()


def test_a_terminal_shows_rate_time_left_losses_and_weights():
    text = shown(terminal=True)
    for word in ("link model", "3/3", "steps/s", "left", "mi_nsg", "loss", "weight"):
        assert word in text


def test_what_is_no_terminal_sees_nothing():
    assert shown(terminal=False) == ""


def test_tensorboard_is_one_flag_away_and_asked_for_before_any_work(tables, capsys, monkeypatch):
    folder, _ = tables
    words = ["train", *graph_of(folder), "--out", str(folder / "R"), "--steps", "2", "--tensorboard", *FAST]
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "torch.utils.tensorboard", None)
        assert run(words) == 2
    assert "pip install 'paretognn[tensorboard]'" in capsys.readouterr().err
    assert not (folder / "R").exists()
    pytest.importorskip("tensorboard")
    assert run(words) == 0
    assert len(list((folder / "R" / "tensorboard").glob("events*"))) == 1
