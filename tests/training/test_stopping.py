import json

import numpy as np
import pytest

from made import SMALL, make_graph
from paretognn.training import RunFolder, make_config, merge, train
from paretognn.training.metrics import read_metrics
from paretognn.training.stopping import Plateau, StoppingSettings

PLATEAU = {"stopping": {"name": "plateau", "window": 2, "tolerance": 0.5}, "steps": 40}


def watch(losses, **settings):
    """The 1-based step at which the plateau is reached; None for never."""
    plateau = Plateau(StoppingSettings(**settings))
    return next((i + 1 for i, loss in enumerate(losses) if plateau.reached({"a": loss, "b": 7.0})), None)


def test_stops_where_the_windows_fall_by_less_than_the_tolerance():
    falling = [10.0, 10, 8, 8, 6, 6, 5.99, 5.99, 1, 1]  # the mean over two tasks falls by half as much
    assert watch(falling, name="plateau", window=2, tolerance=0.01) == 8
    assert watch(falling, name="plateau", window=2, tolerance=0.11) == 4
    assert watch(falling, name="plateau", window=2, tolerance=0) is None
    assert watch(falling) is None


def test_rising_and_negative_losses_stop_and_a_zero_one_takes_no_part():
    assert watch([1.0, 2.0, 3.0], name="plateau", window=1) == 2
    assert watch([-1.0, -2.0, -3.0], name="plateau", window=1) is None
    assert watch([0.0, 0.0, 0.0], name="plateau", window=1) == 2


def trained(folder, steps=40, resume=False, graph=None):
    home = RunFolder(folder)
    home.path.mkdir(exist_ok=True)
    config = make_config(merge(SMALL, {**PLATEAU, "steps": steps}))
    home.write_config(config)
    encoder, embeddings = train(graph or make_graph(), config, folder=home, resume=resume)
    return encoder, embeddings, [row["step"] for row in read_metrics(home.metrics_file)]


def test_a_run_ends_early_and_a_resumed_one_at_the_same_step(tmp_path):
    whole, embeddings, rows = trained(tmp_path / "whole")
    assert 4 <= whole.steps < 40
    assert rows == list(range(1, whole.steps + 1))
    trained(tmp_path / "parts", steps=3)
    part, again, rows_again = trained(tmp_path / "parts", resume=True)
    assert (part.steps, rows_again) == (whole.steps, rows)
    np.testing.assert_array_equal(embeddings, again)
    _, once_more, rows_once_more = trained(tmp_path / "parts", steps=60, resume=True)
    assert rows_once_more == rows
    np.testing.assert_array_equal(embeddings, once_more)


def test_labels_do_not_move_the_end(tmp_path):
    graph = make_graph()
    other = graph.replace(labels=np.random.default_rng(1).permutation(graph.labels))
    one, embeddings, _ = trained(tmp_path / "one", graph=graph)
    two, others, _ = trained(tmp_path / "two", graph=other)
    assert one.steps == two.steps
    np.testing.assert_array_equal(embeddings, others)


def test_a_state_goes_through_json():
    losses = np.random.default_rng(0).random(30).cumsum()[::-1]
    settings = StoppingSettings(name="plateau", window=4, tolerance=0)
    plain, restored = Plateau(settings), Plateau(settings)
    for loss in losses:
        again = Plateau(settings)
        again.restore(json.loads(json.dumps(restored.state())))
        restored = again
        assert plain.reached({"a": float(loss)}) == restored.reached({"a": float(loss)})
        assert plain.state() == restored.state()
    with pytest.raises(KeyError):
        plain.restore({})
