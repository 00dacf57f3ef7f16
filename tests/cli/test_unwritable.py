"""A full disk or a read-only place is one line and exit code 2, and nothing that was there is lost."""

import json
import shutil

import numpy as np
import pytest

from benchmark.small_cells import made
from cli.small_tables import FAST, graph_of
from full_disk import disk, no_file_larger, remount
from paretognn.cli.main import run
from paretognn.training import RunFolder
from paretognn.training.checkpoint import newest_checkpoint
from paretognn.training.metrics import read_metrics

EVERY = ["--set", "checkpoint.every_steps=1"]


def said(capsys, path):
    """The last line, which must name ``path``, and what was printed before it."""
    *before, last = capsys.readouterr().err.strip().splitlines()
    assert last.startswith(f"error: {path}")
    assert "cannot be written (" in last
    assert not [line for line in before if "Traceback" in line or "Exception ignored" in line]
    return last


def everything(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def same_run(folder, other):
    """Whether two runs ended alike."""
    files = ("config.yaml", "model.safetensors", "embeddings.parquet")
    rows = [
        [{k: v for k, v in row.items() if "seconds" not in k} for row in read_metrics(RunFolder(one).metrics_file)]
        for one in (folder, other)
    ]
    return rows[0] == rows[1] and all((folder / f).read_bytes() == (other / f).read_bytes() for f in files)


@pytest.mark.parametrize(
    ("largest", "reached"),
    [
        ("graph/ids.parquet", "graph/"),
        ("graph/arrays.npz", "config.yaml"),
        ("model.safetensors", "checkpoints/step-00000001.safetensors"),
        ("checkpoints/step-00000001.safetensors", "metrics.jsonl"),
    ],
)
def test_a_start_or_a_run_on_a_full_disk_ends_alike_when_there_is_room(trained, capsys, largest, reached):
    """The disk takes files up to the size of ``largest`` less a byte; ``reached`` is what there is by then."""
    folder, _ = trained
    start = ["train", *graph_of(folder), "--steps", "2", *FAST, *EVERY]
    assert run([*start, "--out", str(folder / "whole")]) == 0
    room = (folder / "whole" / largest).stat().st_size
    capsys.readouterr()
    with no_file_larger(room - 1):
        assert run([*start, "--out", str(folder / "S")]) == 2
    said(capsys, folder / "S")
    again = ["train", "--resume"] if (folder / "S" / "config.yaml").exists() else start
    assert run([*again, "--out", str(folder / "S")]) == 0
    assert same_run(folder / "S", folder / "whole")
    assert not list((folder / "S").rglob(".partial-*"))


def test_metrics_that_do_not_fit_keep_the_last_checkpoint(trained, capsys):
    """Rows grow the file until it is the largest."""
    folder, _ = trained
    more = ["--set", "schedule.horizon_steps=90", *EVERY, *FAST]
    start = ["train", *graph_of(folder), "--steps", "90", *more]
    assert run([*start, "--out", str(folder / "whole")]) == 0
    largest = max(p.stat().st_size for p in (folder / "whole").rglob("*") if p.name != "metrics.jsonl")
    room = (folder / "whole" / "metrics.jsonl").stat().st_size * 2 // 3
    assert room > largest
    capsys.readouterr()
    with no_file_larger(room):
        assert run([*start, "--out", str(folder / "S")]) == 2
    said(capsys, folder / "S" / "metrics.jsonl")
    step = newest_checkpoint(RunFolder(folder / "S").checkpoints)[1]["step"]
    assert 0 < step < 90
    assert run(["train", "--resume", "--out", str(folder / "S")]) == 0
    assert same_run(folder / "S", folder / "whole")


def test_a_disk_that_fills_up_keeps_the_last_checkpoint_and_goes_on_when_it_has_room(tables, capsys):
    folder, _ = tables
    wide = [*FAST, *EVERY, "--set", "encoder.hidden_dims=[200, 100]", "--set", "schedule.horizon_steps=4"]
    start = ["train", *graph_of(folder), *wide, "--out"]
    assert run([*start, str(folder / "whole"), "--steps", "4"]) == 0
    with disk(folder / "disk", "64m") as small:
        home = RunFolder(small / "S")
        assert run([*start, str(home.path), "--steps", "1"]) == 0
        # Room for one more checkpoint and a part of the next.
        checkpoint = (home.checkpoints / "step-00000001.safetensors").stat().st_size
        assert checkpoint > 1 << 18
        (small / "ballast").write_bytes(bytes(shutil.disk_usage(small).free - checkpoint * 3 // 2))
        capsys.readouterr()
        assert run(["train", "--resume", "--out", str(home.path), "--steps", "4"]) == 2
        assert "No space left on device" in said(capsys, home.checkpoints / "step-00000003.safetensors")
        assert newest_checkpoint(home.checkpoints)[1]["step"] == 2
        assert run(["train", "--resume", "--out", str(home.path)]) == 2
        assert newest_checkpoint(home.checkpoints)[1]["step"] == 2
        (small / "ballast").unlink()
        assert run(["train", "--resume", "--out", str(home.path)]) == 0
        assert same_run(home.path, folder / "whole")


@pytest.mark.parametrize("suffix", ["parquet", "csv", "npy"])
def test_embeddings_that_do_not_fit_leave_those_that_are_there(trained, capsys, suffix):
    folder, _ = trained
    out = folder / f"x.{suffix}"
    out.write_bytes(b"mine")
    before = everything(folder)
    capsys.readouterr()
    with no_file_larger(200):
        assert run(["embed", str(folder / "R"), "--out", str(out)]) == 2
    assert "File too large" in said(capsys, out)
    assert everything(folder) == before


def test_scores_that_do_not_fit_are_printed_and_the_file_that_is_there_stays(trained, capsys):
    folder, _ = trained
    judged = ["evaluate", str(folder / "R"), "--seeds", "1", "--no-controls"]
    assert run(judged) == 0
    before = everything(folder)
    capsys.readouterr()
    with no_file_larger(200):
        assert run(judged) == 2
        shown = capsys.readouterr()
    assert "average" in shown.out
    assert (
        shown.err.strip().splitlines()[-1].startswith(f"error: {folder / 'R' / 'evaluation.json'}: cannot be written")
    )
    assert everything(folder) == before


def test_a_link_model_that_does_not_fit_is_trained_when_there_is_room(trained, capsys):
    folder, _ = trained
    shutil.copytree(folder / "R", folder / "S")
    judged = ["--seeds", "1", "--no-controls", "--tasks", "link_prediction"]
    assert run(["evaluate", str(folder / "S"), *judged]) == 0
    for room in (100, (folder / "S" / "link" / "model.safetensors").stat().st_size - 1):
        capsys.readouterr()
        with no_file_larger(room):
            assert run(["evaluate", str(folder / "R"), *judged]) == 2
        said(capsys, folder / "R" / "link")
    assert run(["evaluate", str(folder / "R"), *judged]) == 0
    for name in ("split.parquet", "model.safetensors"):
        assert (folder / "R" / "link" / name).read_bytes() == (folder / "S" / "link" / name).read_bytes()


def test_a_grid_whose_store_is_full_ends_and_no_cell_has_failed(tmp_path, capfd):
    words = ["benchmark", "--datasets", "digits", "--methods", "raw-features,spectral", "--evaluation-seeds", "1"]
    words += ["--out", str(tmp_path / "store"), "--jobs", "1"]
    with no_file_larger(2000):
        assert run(words) == 2
    said(capfd, tmp_path / "store")
    assert not list((tmp_path / "store" / "cells").glob("*.json"))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store")
    made(path, "raw-features")
    return path


def test_tables_that_do_not_fit_leave_those_that_are_there(store, tmp_path, capsys):
    assert run(["tables", str(store), "--out", str(tmp_path)]) == 0
    before = everything(tmp_path)
    with no_file_larger(50):
        capsys.readouterr()
        assert run(["tables", str(store), "--out", str(tmp_path)]) == 2
    said(capsys, tmp_path)
    assert everything(tmp_path) == before


def test_an_output_path_below_a_file_is_one_line(trained, store, capsys):
    """Not even root may write there."""
    folder, _ = trained
    below = folder / "nodes.csv" / "x"
    before = everything(folder)
    digits = ["--datasets", "digits", "--methods", "raw-features"]
    for words in (
        ["train", *graph_of(folder), "--steps", "1", *FAST, "--out", str(below)],
        ["train", "--from-run", str(folder / "R"), "--out", str(below)],
        ["embed", str(folder / "R"), "--out", f"{below}.csv"],
        [
            "evaluate",
            str(folder / "R"),
            "--tasks",
            "node_clustering",
            "--seeds",
            "1",
            "--no-controls",
            "--out",
            str(below),
        ],
        ["tables", str(store), "--out", str(below)],
        ["benchmark", *digits, "--out", str(below)],
    ):
        capsys.readouterr()
        assert run(words) == 2, words
        assert "Not a directory" in said(capsys, below), words
    costs = folder / "R" / "cost.json"  # evaluation did its work, and its costs are the run's
    assert {k: v for k, v in everything(folder).items() if k != costs} == {
        k: v for k, v in before.items() if k != costs
    }


def test_a_run_on_a_read_only_disk_is_read_and_never_written(trained, capsys):
    folder, _ = trained
    with disk(folder / "disk", "64m") as place:
        home = place / "R"
        shutil.copytree(folder / "R", home)
        before = everything(home)
        remount(place, "ro")
        assert run(["embed", str(home), "--out", str(folder / "x.npy")]) == 0
        assert run(["train", "--from-run", str(home), "--out", str(folder / "S")]) == 0
        for words in (
            ["train", "--resume", "--out", str(home), "--steps", "3"],
            ["train", *graph_of(folder), "--out", str(place / "T"), *FAST],
            ["evaluate", str(home), "--seeds", "1"],
            ["embed", str(home), "--out", str(place / "x.csv")],
            ["benchmark", "--datasets", "digits", "--methods", "raw-features", "--out", str(place / "store")],
        ):
            capsys.readouterr()
            assert run(words) == 2, words
            assert "Read-only file system" in said(capsys, place), words
        assert everything(home) == before
    assert np.load(folder / "x.npy").shape == (61, 4)
    assert json.loads((folder / "S" / "graph.json").read_text())["copy"]
