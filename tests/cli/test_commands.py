import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from made import make_graph
from paretognn.cli.main import run
from paretognn.training import RunFolder

FAST = [
    "--set",
    "encoder.hidden_dims=[8, 4]",
    "--set",
    "tasks.mi_nsg.projection=6",
    "--set",
    "tasks.mi_nsg.contrast=20",
]
IDS = ["007", "7", "NA", "null", "1e5"]


@pytest.fixture
def tables(tmp_path):
    """Two CSV files: ids of all kinds, labels, one isolated node, and nodes enough to split."""
    graph = make_graph(60)
    ids = IDS + [f"n{i}" for i in range(5, 61)]
    with (tmp_path / "nodes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *(f"x{j}" for j in range(4)), "label"])
        for i, name in enumerate(ids):
            row = graph.features[i % 60, :4]
            writer.writerow([name, *row.tolist(), "abc"[i % 3]])
    with (tmp_path / "edges.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target"])
        writer.writerows((ids[a], ids[b]) for a, b in graph.pairs())
    return tmp_path, ids


def graph_of(folder):
    return ["--nodes", str(folder / "nodes.csv"), "--edges", str(folder / "edges.csv")]


@pytest.fixture
def trained(tables):
    folder, ids = tables
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), "--steps", "2", *FAST]) == 0
    return folder, ids


def test_a_sampler_for_every_task(tables, capsys):
    folder, _ = tables
    asked = ["--steps", "1", *FAST, "--sampler", "saint-node", "--budget", "25"]
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), *asked]) == 0
    config = RunFolder(folder / "R").config()
    assert {(task.sampler.name, task.sampler.seeds) for task in config.tasks.values()} == {("saint-node", 25)}
    assert run(["train", "--resume", "--out", str(folder / "R"), "--sampler", "full"]) == 2
    assert "--sampler cannot be changed" in capsys.readouterr().err


def test_a_control_is_not_trained(tables, capsys):
    folder, _ = tables
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), "--method", "spectral"]) == 2
    assert "'spectral' is a control" in capsys.readouterr().err


def test_ids_come_back_as_written_and_in_order(trained):
    folder, ids = trained
    for suffix in ("csv", "parquet", "npy"):
        assert run(["embed", str(folder / "R"), "--out", str(folder / f"x.{suffix}")]) == 0
    with (folder / "x.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["id", "e0"]
    assert (folder / "x.csv").read_text().startswith("id,e0,e1,e2,e3\n007,")
    assert [row[0] for row in rows[1:]] == ids
    table = pq.read_table(folder / "x.parquet")
    assert table.column_names == ["id", "e0", "e1", "e2", "e3"]
    assert table["id"].to_pylist() == ids
    np.testing.assert_allclose(
        np.load(folder / "x.npy"), np.array([r[1:] for r in rows[1:]], dtype=np.float32), rtol=1e-6
    )
    assert pq.read_table(folder / "R" / "embeddings.parquet").equals(table)


def test_a_run_folder_holds_what_it_should(trained):
    folder, _ = trained
    names = {str(p.relative_to(folder / "R")).split("/")[0] for p in (folder / "R").rglob("*")}
    assert {
        "config.yaml",
        "graph.json",
        "graph",
        "checkpoints",
        "metrics.jsonl",
        "model.safetensors",
        "embeddings.parquet",
    } <= names
    assert not [p for p in (folder / "R").rglob("*") if p.suffix in (".pt", ".pth", ".pkl", ".pickle")]
    summary = json.loads((folder / "R" / "graph.json").read_text())["summary"]
    assert summary["nodes"] == 61


def test_new_nodes_reach_into_the_training_graph(trained):
    folder, _ = trained
    (folder / "new.csv").write_text("id,x0,x1,x2,x3\nnew1,1,0,0,0\nnew2,0,1,0,0\nn9,0,0,1,0\n")
    (folder / "links.csv").write_text("source,target\nnew1,007\nnew1,new2\nn30,new2\n")
    new = ["--nodes", str(folder / "new.csv"), "--edges", str(folder / "links.csv")]
    assert run(["embed", str(folder / "R"), *new, "--out", str(folder / "new.parquet")]) == 0
    table = pq.read_table(folder / "new.parquet")
    assert table["id"].to_pylist() == ["new1", "new2", "n9"]
    assert np.isfinite(np.array([table[c].to_numpy() for c in table.column_names[1:]])).all()


def test_new_tables_must_have_the_training_columns(trained, capsys):
    folder, _ = trained
    (folder / "new.csv").write_text("id,x0,x1,x2\nnew1,1,0,0\n")
    (folder / "links.csv").write_text("source,target\nnew1,007\n")
    new = ["--nodes", str(folder / "new.csv"), "--edges", str(folder / "links.csv")]
    assert run(["embed", str(folder / "R"), *new, "--out", str(folder / "new.parquet")]) == 2
    assert "x3" in capsys.readouterr().err
    assert not (folder / "new.parquet").exists()


def test_evaluate_writes_scores_and_prints_controls(trained, capsys):
    folder, _ = trained
    assert run(["evaluate", str(folder / "R"), "--seeds", "2"]) == 0
    shown = capsys.readouterr().out
    for name in ("paretognn", "raw-features", "smoothed-features", "spectral", "untrained", "training"):
        assert name in shown
    result = json.loads((folder / "R" / "evaluation.json").read_text())
    assert result["run"] == {"method": "paretognn", "preset": "auto", "steps": 2, "training_seeds": [0]}
    assert result["average"] is not None
    assert (folder / "R" / "link" / "split.parquet").exists()


def test_evaluate_tasks_seeds_and_no_controls(trained, capsys):
    folder, _ = trained
    out = folder / "e.json"
    arguments = [
        "evaluate",
        str(folder / "R"),
        "--tasks",
        "node_clustering",
        "--seeds",
        "1",
        "--no-controls",
        "--out",
        str(out),
    ]
    assert run(arguments) == 0
    result = json.loads(out.read_text())
    assert "controls" not in result
    assert result["average"] is None
    assert not (folder / "R" / "link").exists()
    assert not (folder / "R" / "evaluation.json").exists()


def test_some_tasks_alone_do_not_replace_a_whole_evaluation(trained):
    folder, _ = trained
    assert run(["evaluate", str(folder / "R"), "--seeds", "1", "--no-controls"]) == 0
    before = (folder / "R" / "evaluation.json").read_bytes()
    assert run(["evaluate", str(folder / "R"), "--seeds", "1", "--tasks", "node_clustering", "--no-controls"]) == 0
    assert (folder / "R" / "evaluation.json").read_bytes() == before


def test_embeddings_from_elsewhere(trained, capsys):
    folder, _ids = trained
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 0
    given = ["evaluate", "--embeddings", str(folder / "x.csv"), *graph_of(folder), "--seeds", "1"]
    assert run([*given, "--out", str(folder / "e.json")]) == 0
    link = json.loads((folder / "e.json").read_text())["tasks"]["link_prediction"]
    assert link["mean"] is None
    assert "test links" in link["reason"]
    assert run(["evaluate", str(folder / "R"), "--seeds", "1", "--no-controls"]) == 0
    split = folder / "R" / "link" / "split.parquet"
    assert run([*given, "--link-split", str(split), "--out", str(folder / "e.json")]) == 0
    assert json.loads((folder / "e.json").read_text())["average"] is not None
    lines = (folder / "x.csv").read_text().splitlines()
    (folder / "y.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    assert (
        run(
            [
                "evaluate",
                "--embeddings",
                str(folder / "y.csv"),
                *graph_of(folder),
                "--seeds",
                "1",
                "--out",
                str(folder / "f.json"),
            ]
        )
        == 0
    )
    tasks = [json.loads((folder / n).read_text())["tasks"]["node_classification"]["mean"] for n in ("e.json", "f.json")]
    assert tasks[0] == tasks[1]


def test_resume_extends_to_the_same_bytes(tables):
    """Of one schedule: that of a run that is extended stays as it was laid out."""
    folder, _ = tables
    fixed = ["--set", "schedule.horizon_steps=4", *FAST]
    for name, steps in (("A", "4"), ("B", "2")):
        assert run(["train", *graph_of(folder), "--out", str(folder / name), "--steps", steps, *fixed]) == 0
    assert run(["train", "--out", str(folder / "B"), "--resume", "--steps", "4"]) == 0
    for file in ("embeddings.parquet", "model.safetensors", "config.yaml"):
        assert (folder / "A" / file).read_bytes() == (folder / "B" / file).read_bytes()


def test_ctrl_c_saves_and_says_how_to_go_on(tables):
    folder, _ = tables
    command = [
        sys.executable,
        "-m",
        "paretognn",
        "train",
        *graph_of(folder),
        "--out",
        str(folder / "R"),
        "--steps",
        "100000",
        *FAST,
    ]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    metrics = folder / "R" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not metrics.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=120)
    assert child.returncode == 130
    assert "--resume" in errors
    assert "Traceback" not in errors
    assert list((folder / "R" / "checkpoints").glob("*.json"))
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_a_signal_before_training_is_one_word_and_130(number, seconds):
    command = "import paretognn.__main__ as m; print(flush=True); m.main()"
    child = subprocess.Popen(
        [sys.executable, "-c", command, "inspect", "--dataset", "digits"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(seconds)
    child.send_signal(number)
    _, errors = child.communicate(timeout=120)
    assert (child.returncode, errors.strip()) == (130, "interrupted")


def test_edges_alone_and_without_a_copy(tables):
    folder, _ids = tables
    only = ["--edges", str(folder / "edges.csv")]
    assert run(["train", *only, "--out", str(folder / "R"), "--steps", "2", "--no-graph-copy", *FAST]) == 0
    assert not (folder / "R" / "graph").exists()
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 0
    assert run(["evaluate", str(folder / "R"), "--seeds", "1"]) == 0
    result = json.loads((folder / "R" / "evaluation.json").read_text())
    assert result["tasks"]["node_classification"]["mean"] is None
    assert result["tasks"]["partition_prediction"]["mean"] is not None
    with (folder / "edges.csv").open("a") as file:
        file.write("n50,n51\nn50,n52\nn50,n53\n")
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 2


def test_new_edges_alone_join_a_run_without_features(tables):
    folder, _ = tables
    only = ["--edges", str(folder / "edges.csv")]
    assert run(["train", *only, "--out", str(folder / "R"), "--steps", "2", *FAST]) == 0
    (folder / "links.csv").write_text("source,target\nnew1,007\nnew1,n30\n")
    assert run(["embed", str(folder / "R"), "--edges", str(folder / "links.csv"), "--out", str(folder / "x.csv")]) == 0
    with (folder / "x.csv").open(newline="") as file:
        assert [row[0] for row in list(csv.reader(file))[1:]] == ["new1", "007", "n30"]


def test_inspect_and_datasets(tables, capsys):
    folder, _ = tables
    assert run(["inspect", *graph_of(folder), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["graph"]["nodes"] == 61
    assert content["presets"]["auto"]["memory_bytes"] > 0
    assert run(["inspect", *graph_of(folder)]) == 0
    assert "preset quick" in capsys.readouterr().out
    assert run(["datasets"]) == 0
    assert "ogbn-products" in capsys.readouterr().out
    assert run(["datasets", "--json"]) == 0
    assert {e["name"] for e in json.loads(capsys.readouterr().out)} >= {"wiki-cs", "cora", "digits"}


WRONG = [
    ([], "name a graph"),
    (["--dataset", "coraa"], "did you mean 'cora'"),
    (["--dataset", "digits", "--edges", "EDGES"], "one graph only"),
    (["--nodes", "NODES"], "--edges"),
    (["--dataset", "digits", "--id-column", "x"], "--id-column"),
    (["--nodes", "NODES", "--edges", "nowhere.csv"], "nowhere.csv"),
    (["--dataset", "digits", "--method", "paretogn"], "did you mean 'paretognn'"),
    (["--dataset", "digits", "--preset", "fast"], "preset 'fast'"),
    (["--dataset", "digits", "--steps", "0"], "steps"),
    (["--dataset", "digits", "--steps", "many"], "--steps"),
    (["--dataset", "digits", "--seed", "-1"], "seed"),
    (["--dataset", "digits", "--device", "tpu"], "--device"),
    (["--dataset", "digits", "--set", "optimizer.lr=1"], "optimizer.lr"),
    (["--dataset", "digits", "--set", "steps"], "key=value"),
    (["--dataset", "digits", "--config", "nowhere.yaml"], "nowhere.yaml"),
    (["--dataset", "digits", "--resume"], "no such run folder"),
    (["--dataset", "digits", "--no-such-flag"], "--no-such-flag"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_input_is_one_line_and_exit_code_2(tables, capsys, arguments, message):
    folder, _ = tables
    known = {"EDGES": str(folder / "edges.csv"), "NODES": str(folder / "nodes.csv")}
    out = folder / "R"
    assert run(["train", *(known.get(a, a) for a in arguments), "--out", str(out)]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ")
    assert message in error
    assert not out.exists()


def test_an_existing_run_is_never_overwritten(trained, capsys):
    folder, _ = trained
    before = (folder / "R" / "embeddings.parquet").read_bytes()
    assert run(["train", *graph_of(folder), "--out", str(folder / "R")]) == 2
    assert "--resume" in capsys.readouterr().err
    assert run(["train", "--resume", "--out", str(folder / "R"), "--seed", "3"]) == 2
    assert run(["train", "--resume", "--out", str(folder / "R"), "--seed", "0"]) == 2
    assert run(["train", "--resume", "--out", str(folder / "R"), "--steps", "1"]) == 2
    assert (folder / "R" / "embeddings.parquet").read_bytes() == before


def test_what_a_start_that_was_cut_off_has_left_is_no_obstacle(trained, capsys):
    """A kill after the graph's copy and before config.yaml; a file of the user's still is one."""
    folder, _ = trained
    started = folder / "S"
    started.mkdir()
    shutil.copytree(folder / "R" / "graph", started / "graph")
    (started / ".partial-x.json").write_text("{")
    assert run(["train", *graph_of(folder), "--out", str(started), "--steps", "1", *FAST]) == 0
    other = folder / "T"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    assert run(["train", *graph_of(folder), "--out", str(other), "--steps", "1", *FAST]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_resuming_past_a_damaged_checkpoint_says_so(trained, capsys):
    folder, _ = trained
    newest = max((folder / "R" / "checkpoints").glob("*.safetensors"))
    shutil.copy(newest, newest.with_name("step-00000009.safetensors"))
    newest.with_name("step-00000009.json").write_text("{}")
    assert run(["train", "--resume", "--out", str(folder / "R")]) == 0
    assert "warning: " in (said := capsys.readouterr().err)
    assert "corrupt checkpoint; going on from step 2" in " ".join(said.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate"],
        ["evaluate", "nowhere"],
        ["evaluate", "R", "--tasks", "nodes"],
        ["evaluate", "R", "--seeds", "0"],
        ["evaluate", "R", "--split", "public"],
        ["evaluate", "R", "--embeddings", "x.csv"],
        ["evaluate", "R", "--tasks", ","],
        ["evaluate", "R", "--link-split", "x.parquet"],
        ["embed", "R", "--out", "x.txt"],
        ["embed", "nowhere", "--out", "x.csv"],
    ],
)
def test_wrong_uses_of_a_run(trained, capsys, monkeypatch, arguments):
    monkeypatch.chdir(trained[0])
    assert run(arguments) == 2
    assert capsys.readouterr().err.strip().splitlines()[-1].startswith("error: ")


def test_c20_a_folder_with_a_space_and_an_accent(tables):
    folder, _ = tables
    out = folder / "mes données é" / "run 1"
    assert run(["train", *graph_of(folder), "--out", str(out), "--steps", "1", *FAST]) == 0
    assert run(["embed", str(out), "--out", str(folder / "ré sultat.csv")]) == 0
    names = [p.name for p in out.rglob("*")]
    assert not [n for n in names if set(n) & set('\\/:*?"<>|')]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_place_is_one_line(tables, capsys):
    folder, _ = tables
    (folder / "locked").mkdir(mode=0o500)
    assert run(["train", *graph_of(folder), "--out", str(folder / "locked" / "R")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_pipe_that_closes_early_is_no_error():
    command = f"{sys.executable} -m paretognn datasets | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.stdout


def test_a_run_that_memory_does_not_allow_leaves_no_folder(tables, capsys):
    folder, _ = tables
    wide = ["--set", "encoder.hidden_dims=[1000000, 1000000]"]
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), *wide]) == 2
    assert "GiB" in capsys.readouterr().err
    assert not (folder / "R").exists()
