import json
import os
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
import typer

from paretognn.benchmark import grid
from paretognn.benchmark.cells import Store
from paretognn.cli.benchmark import HELP, NAME, command
from paretognn.cli.main import run
from paretognn.errors import InputError
from paretognn.methods.rows import METHODS

FAST = ["--set", "encoder.hidden_dims=[8,4]", "--steps", "2", "--evaluation-seeds", "1"]


def benchmark(*words, out=None):
    app = typer.Typer()
    app.callback()(lambda: None)
    app.command(name=NAME, help=HELP)(command)
    return run([NAME, *map(str, words), *(["--out", str(out)] if out else [])], app)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store")
    assert benchmark("--datasets", "digits", "--methods", "mi-ng,raw-features", *FAST, out=path) == 0
    return path


def test_the_plan_as_json(tmp_path, capsys):
    words = ["benchmark", "--datasets", "digits", "--methods", "spectral", "--out", str(tmp_path / "S"), "--json"]
    assert run([*words, "--plan"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)
    assert (cell["dataset"], cell["method"], cell["status"]) == ("digits", "spectral", None)
    assert cell["estimate"]["memory"] > 0


def test_lines_for_every_cell_and_a_summary(store, capfd):
    names = {cell.key.method for cell in Store(store)}
    assert names == {"mi-ng", "raw-features"}
    files = {path: path.read_bytes() for path in (store / "cells").iterdir()}
    left = next(path for path in (store / "runs").iterdir() if "mi-ng" in path.name) / "checkpoints"
    left.mkdir()  # as a process leaves them that was killed once its cell was there
    assert benchmark("--datasets", "digits", "--methods", "mi-ng,raw-features,untrained", *FAST, out=store) == 0
    said = capfd.readouterr().err.splitlines()
    assert said[0] == f"3 cells, 2 of them recorded in {store}; 1 at once"
    assert said[1].startswith("started   digits untrained seed 0")
    assert said[2].startswith("finished  digits untrained seed 0")
    assert "[1/1]: nodes " in said[2]
    assert ", average " in said[2]
    assert said[3:] == ["3 of 3 cells finished", f"next: paretognn tables {store}"]
    assert all(path.read_bytes() == content for path, content in files.items())
    assert not left.exists()


def test_a_finished_cell_of_other_settings_is_named_and_kept(store, tmp_path, capfd):
    """As after an update that changed what a method is."""
    old = tmp_path / "S"
    shutil.copytree(store / "cells", old / "cells")
    words = ["--datasets", "digits", "--methods", "mi-ng,raw-features", *FAST]
    assert benchmark(*words, out=old) == 0
    assert "was made with settings" not in capfd.readouterr().err
    cell = next(path for path in (old / "cells").iterdir() if "mi-ng" in path.name)
    for change in ({"weight_decay": 0.5}, {"rate_of_before": 0.5}):
        content = json.loads(cell.read_text())
        content["config"]["optimizer"] = {**content["config"]["optimizer"], **change}
        cell.write_text(json.dumps(content))
        assert benchmark(*words, out=old) == 0
        assert f"{cell}: was made with settings of optimizer that 'mi-ng' no longer has" in capfd.readouterr().err
        assert json.loads(cell.read_text()) == content
        assert benchmark(*words, "--plan", out=old) == 0
        assert "(other settings)" in capfd.readouterr().out


def test_a_plan_runs_and_writes_nothing(store, tmp_path, capsys):
    before = sorted(store.rglob("*"))
    words = ["--datasets", "digits", "--methods", "mi-ng,mi-nsg,raw-features", *FAST, "--plan"]
    assert benchmark(*words, out=store) == 0
    shown = capsys.readouterr().out
    states = {line.split()[1]: line for line in shown.splitlines() if line.startswith("digits")}
    assert " done " in states["mi-ng"]
    assert " to run " in states["mi-nsg"]
    assert "GiB  probed" in states["mi-nsg"]
    assert "3 cells, 1 to run: about " in shown
    assert sorted(store.rglob("*")) == before
    assert benchmark(*words, out=tmp_path / "new") == 0
    assert not (tmp_path / "new").exists()


def test_all_leaves_out_what_is_not_installed_and_says_so(tmp_path, monkeypatch, capsys):
    config = grid.method_config

    def missing(graph, method="paretognn", *rest, **more):
        if method == "pcgrad":
            raise InputError("needs a further package")
        return config(graph, method, *rest, **more)

    monkeypatch.setattr(grid, "method_config", missing)
    monkeypatch.setattr(grid, "METHODS", {name: METHODS[name] for name in ("mi-ng", "pcgrad")})
    words = ["--datasets", "digits", *FAST, "--plan"]
    assert benchmark(*words, "--methods", "all", out=tmp_path / "store") == 0
    shown = capsys.readouterr()
    assert "warning: pcgrad is left out: needs a further package" in shown.err
    assert "pcgrad" not in shown.out
    assert "concat-pca" in shown.out
    assert benchmark(*words, "--methods", "mi-ng,pcgrad", out=tmp_path / "store") == 2


def test_a_row_from_a_file_is_judged_again_only_when_it_changes(store, tmp_path, capfd):
    file = tmp_path / "mine.npy"
    rng = np.random.default_rng(0)
    np.save(file, rng.standard_normal((1797, 3)))
    words = ["--datasets", "digits", "--embeddings", f"mine={file}", "--evaluation-seeds", "1"]
    assert benchmark(*words, out=store) == 0
    said = capfd.readouterr().err
    assert f"mine: no link score without --link-embeddings; the split to train on will be {store}/splits" in said
    assert "links -, " in said
    (first,) = [cell for cell in Store(store) if cell.key.method == "mine"]
    assert benchmark(*words, out=store) == 0
    assert "started" not in capfd.readouterr().err
    np.save(file, rng.standard_normal((1797, 5)))
    assert benchmark(*words, out=store) == 0
    (second,) = [cell for cell in Store(store) if cell.key.method == "mine"]
    assert (first.width, second.width) == (3, 5)


def test_the_exit_code_is_1_where_cells_failed_and_none_is_finished(tmp_path, capfd):
    words = ["--datasets", "digits", "--methods", "mi-ng", *FAST, "--set", "optimizer.learning_rate=1e30"]
    assert benchmark(*words, out=tmp_path) == 1
    assert "0 of 1 cells finished, 1 failed" in capfd.readouterr().err
    assert benchmark(*words, out=tmp_path) == 1
    assert benchmark(*words, "--plan", out=tmp_path) == 0
    words[3] = "mi-ng,raw-features"
    assert benchmark(*words, out=tmp_path) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--datasets", "digits", "--methods", "mi-n"], "unknown method 'mi-n' (did you mean 'mi-ng'?)"),
        (["--datasets", "digits", "--methods", "mi-ng", "--widths", "8,x"], "--widths 8,x: expected whole numbers"),
        (["--datasets", "digits", "--methods", "mi-ng", "--widths", ","], "--widths ,: expected whole numbers"),
        (["--datasets", "digits", "--methods", "mi-ng", "--budget", "9"], "--budget goes with --sampler"),
        (["--datasets", "digits", "--methods", "spectral", "--sampler", "k-hpo"], "unknown sampler 'k-hpo'"),
        (["--datasets", "digits", "--methods", "mi-ng", "--sampler", "k-hop"], "--sampler k-hop: needs --budget N"),
        (
            ["--datasets", "digits", "--methods", "mi-ng", "--sampler", "full", "--budget", "9"],
            "--sampler full: takes no --budget",
        ),
        (["--datasets", "digits", "--methods", "mi-ng", "--jobs", "0"], "--jobs must be at least 1"),
        (["--datasets", "digits", "--embeddings", "mine.npy"], "expected NAME=FILE"),
        (["--datasets", "digits", "--link-embeddings", "a=b.npy"], "there is no --embeddings a=FILE beside it"),
        (
            ["--datasets", "digits", *(["--embeddings", "a=b.npy"]), *(2 * ["--link-embeddings", "a=c.npy"])],
            "given twice",
        ),
        (["--datasets", "digits", "--embeddings", "m\udcff=b.npy"], "'m\\udcff': the name is not UTF-8 text"),
        (["--datasets", "digits", "--embeddings", f"{'m' * 101}=b.npy"], "the name is longer than 100 bytes"),
        (["--datasets", "digits", "--embeddings", "a=none.npy"], "none.npy: cannot be read"),
        (["--datasets", "cora", "--methods", "mi-ng", "--data-root", "nowhere"], "cora: 7 of 7 files are missing"),
    ],
)
def test_one_line_and_nothing_written_where_the_input_is_wrong(words, message, tmp_path, capsys):
    assert benchmark(*words, out=tmp_path / "store") == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "store").exists()


def test_names_in_brackets_are_no_markup(tmp_path, capsys):
    np.save(tmp_path / "mine.npy", np.ones((1797, 3)))
    words = ["--datasets", "digits", "--embeddings", f"[/x]={tmp_path / 'mine.npy'}", "--plan"]
    assert benchmark(*words, out=tmp_path / "store") == 0
    assert "digits    [/x]" in capsys.readouterr().out


@pytest.mark.parametrize(("ends", "code"), [
    ("| true", 0), ("2>&1 | true", 0), (">&-", 0), ("--json | true", 0), ("> /dev/null 2>&-", 0),
])  # fmt: skip
def test_what_a_reader_that_went_away_has_asked_for_is_written(store, ends, code, tmp_path):
    words = f"{sys.executable} -m paretognn tables {shlex.quote(str(store))} --out {tmp_path / 'T'} {ends}"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {words}"], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert (tmp_path / "T" / "average-performance-all.md").exists()


def test_a_grid_goes_on_without_a_reader_of_its_progress(tmp_path):
    words = f"benchmark --datasets digits --methods raw-features,untrained {shlex.join(FAST)} --out {tmp_path / 'S'}"
    command = f"set -o pipefail; {sys.executable} -m paretognn {words} 2>&1 | true"
    assert subprocess.run(["bash", "-c", command], check=False).returncode == 0
    assert {cell.key.method for cell in Store(tmp_path / "S")} == {"raw-features", "untrained"}


def test_a_terminal_without_the_sign_still_gets_its_table(store):
    words = [sys.executable, "-m", "paretognn", "tables", str(store)]
    done = subprocess.run(words, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert b"raw-features" in done.stdout


def test_a_folder_of_something_else_is_not_written_to(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("")
    assert benchmark("--datasets", "digits", "--methods", "mi-ng", out=tmp_path) == 2
    assert "is not empty and holds no benchmark" in capsys.readouterr().err
    assert benchmark("--datasets", "digits", "--methods", "mi-ng", out=tmp_path / "thesis.txt") == 2
    assert "is a file" in capsys.readouterr().err
