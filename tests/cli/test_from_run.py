"""``train --from-run``: a run folder holds all that is needed to repeat it."""

import json

import pyarrow.parquet as pq
import pytest

from cli.small_tables import FAST, PLAIN, graph_of
from paretognn import ParetoGNN
from paretognn.cli.main import run
from paretognn.graph import load_graph
from paretognn.training import RunFolder
from paretognn.training.metrics import read_metrics


def content(folder):
    """What two equal runs share."""
    home = RunFolder(folder)
    names = ("config.yaml", "model.safetensors", "embeddings.parquet", "graph.json", "graph/arrays.npz")
    rows = [{k: v for k, v in row.items() if "seconds" not in k} for row in read_metrics(home.metrics_file)]
    return {name: (home.path / name).read_bytes() for name in names} | {"metrics": rows}


def again(folder, *words, out="S"):
    return run(["train", "--from-run", str(folder / "R"), "--out", str(folder / out), *words])


def test_a_repeated_run_has_the_same_bytes_where_the_tables_are_gone(trained):
    folder, _ = trained
    (folder / "nodes.csv").unlink()
    assert again(folder) == 0
    assert content(folder / "S") == content(folder / "R")


def test_a_repeated_extended_run_is_as_long_as_it_was_extended(trained):
    folder, _ = trained
    assert run(["train", "--resume", "--out", str(folder / "R"), "--steps", "4"]) == 0
    assert again(folder) == 0
    assert content(folder / "S") == content(folder / "R")


def test_a_run_that_was_not_finished_is_repeated_from_its_start(trained):
    folder, _ = trained
    want = content(folder / "R")
    for name in ("model.safetensors", "embeddings.parquet", "metrics.jsonl"):
        (folder / "R" / name).unlink()
    assert again(folder) == 0
    assert content(folder / "S") == want


def test_what_is_given_is_laid_over(trained):
    folder, _ = trained
    own = ["--seed", "3", "--steps", "3", "--set", "optimizer.weight_decay=0.5", "--device", "cpu"]
    assert again(folder, *own, "--sampler", "saint-node", "--budget", "20") == 0
    before, after = RunFolder(folder / "R").config(), RunFolder(folder / "S").config()
    assert (after.seed, after.steps, after.optimizer.weight_decay) == (3, 3, 0.5)
    assert {task.sampler.name for task in after.tasks.values()} == {"saint-node"}
    assert after.schedule == before.schedule
    assert after.encoder == before.encoder


def test_another_seed_is_the_run_that_was_started_with_it(trained):
    folder, _ = trained
    assert again(folder, "--seed", "1") == 0
    assert run(["train", *graph_of(folder), "--out", str(folder / "T"), *PLAIN, "--seed", "1", *FAST]) == 0
    assert content(folder / "S") == content(folder / "T") != content(folder / "R")


def test_tasks_that_the_run_left_out_stay_out(tables):
    folder, _ = tables
    asked = ["--steps", "2", *FAST, "--set", "tasks.mi_ng=null"]
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), *asked]) == 0
    assert again(folder) == 0
    assert content(folder / "S") == content(folder / "R")
    fitted = ParetoGNN.load(folder / "R").fit(load_graph(folder / "R" / "graph"))
    assert "mi_ng" not in fitted.config_.tasks
    table = pq.read_table(folder / "R" / "embeddings.parquet")
    for j, column in enumerate(fitted.embedding_.T):
        assert table[f"e{j}"].to_numpy().tobytes() == column.tobytes()


def test_without_a_copy_the_source_is_read_again_and_must_be_the_same(tables, capsys):
    folder, _ = tables
    started = ["train", *graph_of(folder), "--out", str(folder / "R"), "--steps", "2", *FAST, "--no-graph-copy"]
    assert run(started) == 0
    assert again(folder, "--no-graph-copy") == 0
    for name in ("graph.json", "embeddings.parquet"):
        assert (folder / "S" / name).read_bytes() == (folder / "R" / name).read_bytes()
    with (folder / "edges.csv").open("a") as file:
        file.write("n50,n51\nn50,n52\nn50,n53\n")
    assert again(folder, out="T") == 2
    assert "the graph has changed since this run was started" in capsys.readouterr().err
    assert not (folder / "T").exists()


def test_a_repeated_run_can_be_repeated_resumed_and_judged(trained):
    folder, _ = trained
    assert again(folder, "--no-graph-copy") == 0
    assert json.loads((folder / "S" / "graph.json").read_text())["source"]["nodes"] == str(folder / "nodes.csv")
    assert run(["train", "--from-run", str(folder / "S"), "--out", str(folder / "T")]) == 0
    assert content(folder / "T") == content(folder / "R")
    assert run(["train", "--resume", "--out", str(folder / "S"), "--steps", "3"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "bgrl"], "--method and --from-run cannot be combined"),
        (["--preset", "quick"], "--preset and --from-run cannot be combined"),
        (["--set", "method=bgrl"], "--method and --from-run cannot be combined"),
        (["--config", "CONFIG"], "--config and --from-run cannot be combined"),
        (["--resume"], "--from-run cannot be changed with --resume"),
        (["--dataset", "digits"], "the graph has changed since this run was started"),
        (["--set", "optimizer.lr=1"], "optimizer.lr"),
    ],
)
def test_what_would_make_it_another_run_is_one_line(trained, capsys, words, message):
    folder, _ = trained
    given = [str(folder / "R" / "config.yaml") if word == "CONFIG" else word for word in words]
    capsys.readouterr()
    assert again(folder, *given) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("error: ")
    assert message in said
    assert not (folder / "S").exists()


def test_a_folder_without_a_run_is_named(trained, capsys):
    folder, _ = trained
    assert run(["train", "--from-run", str(folder / "nowhere"), "--out", str(folder / "S")]) == 2
    assert "nowhere: no such run folder" in capsys.readouterr().err
    assert again(folder, out="R") == 2
    assert "already holds a run" in capsys.readouterr().err
