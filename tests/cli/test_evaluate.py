import json
import shlex
import subprocess
import sys

import numpy as np

from cli.small_tables import graph_of
from paretognn.cli.main import run
from paretognn.downstream import evaluate_embeddings
from paretognn.downstream.partition import partition_digest
from paretognn.methods.judge import kept_partition
from paretognn.methods.judged_region import judged_region
from paretognn.sources import run_embeddings
from paretognn.training import RunFolder


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
    kept = np.load(folder / "R" / "partition.npy")
    assert result["partition"]["sizes"] == np.bincount(kept).tolist()
    assert result["partition"]["digest"] == partition_digest(kept)


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


def test_scores_are_written_though_nobody_reads_them(trained):
    folder, _ = trained
    words = ["evaluate", "R", "--seeds", "1", "--no-controls", "--tasks", "node_clustering", "--out", "e.json"]
    piped = f"{shlex.join([sys.executable, '-m', 'paretognn', *words])} | true"
    subprocess.run(["bash", "-c", piped], cwd=folder, check=True, capture_output=True)
    assert json.loads((folder / "e.json").read_text())["tasks"]["node_clustering"]["mean"] is not None


def test_some_tasks_alone_do_not_replace_a_whole_evaluation(trained):
    folder, _ = trained
    assert run(["evaluate", str(folder / "R"), "--seeds", "1", "--no-controls"]) == 0
    before = (folder / "R" / "evaluation.json").read_bytes()
    assert run(["evaluate", str(folder / "R"), "--seeds", "1", "--tasks", "node_clustering", "--no-controls"]) == 0
    assert (folder / "R" / "evaluation.json").read_bytes() == before


def test_a_folder_for_a_file_is_said_before_the_work(trained, capsys):
    folder, _ = trained
    assert run(["evaluate", str(folder / "R"), "--out", str(folder)]) == 2
    assert f"{folder}: is a folder; --out names a file" in capsys.readouterr().err


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


def test_a_region_is_judged_by_the_embeddings_of_the_whole_graph(trained, capsys):
    folder, _ = trained
    home = RunFolder(folder / "R")
    graph, points = run_embeddings(home)
    region = judged_region(graph, 20)
    assert run(["evaluate", str(home.path), "--seeds", "2", "--region", "20", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["nodes"] == len(region.nodes) <= 20 < graph.num_nodes
    assert result["region"] == {"nodes": len(region.nodes), "of": graph.num_nodes, "digest": region.graph.digest()}
    assert not home.evaluation_file.exists()
    assert result["warnings"][0] == region.notes[0]
    assert result["controls"]
    parts = kept_partition(home.path / f"region-{region.graph.digest()[:8]}" / "partition.npy", region.graph)
    alone = evaluate_embeddings(points[region.nodes], region.graph, seeds=2, partition=parts).to_json()
    for task in ("node_classification", "node_clustering", "partition_prediction"):
        assert result["tasks"][task] == alone["tasks"][task]
    assert not home.link_folder.exists()

    file = ["evaluate", "--embeddings", str(home.embeddings_file), *graph_of(folder), "--seeds", "2"]
    assert run([*file, "--region", "20", "--json", "--no-controls"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"]["node_clustering"] == alone["tasks"]["node_clustering"]
    assert run([*file, "--region", "9"]) == 2
    assert run([*file, "--region", "20", "--link-split", "split.parquet"]) == 2
    assert f"--region {graph.num_nodes}" in capsys.readouterr().err
