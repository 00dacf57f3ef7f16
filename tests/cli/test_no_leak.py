"""What training may not see changes nothing of what it writes, by way of the command line."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.small_tables import FAST, PLAIN, graph_of
from paretognn.cli.main import run
from paretognn.downstream import load_link_split
from paretognn.graph import load_graph
from paretognn.training import RunFolder
from paretognn.training.metrics import read_metrics

METHODS = ["paretognn", "autossl", "bgrl"]


def pretrained(folder):
    """All that pretraining makes, but for seconds."""
    home = RunFolder(folder)
    rows = [{k: v for k, v in row.items() if "seconds" not in k} for row in read_metrics(home.metrics_file)]
    files = [home.config_file, home.model_file, home.embeddings_file, *sorted(home.checkpoints.glob("*"))]
    return {path.name: path.read_bytes() for path in files} | {"metrics": rows}


def relabelled(folder, names):
    """The node table with other labels."""
    with (folder / "nodes.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    with (folder / "nodes.csv").open("w", newline="") as file:
        csv.writer(file).writerows([head, *([*row[:-1], name] for row, name in zip(rows, names, strict=True))])


@pytest.mark.parametrize("method", METHODS)
def test_randomised_labels_leave_pretraining_as_it_was_to_the_last_byte(tables, method):
    """Other classes, more of them, numbers in place of text, and none at all."""
    folder, ids = tables
    rng = np.random.default_rng(0)
    start = ["train", *graph_of(folder), "--steps", "3", "--method", method, "--set", "encoder.hidden_dims=[8, 4]"]
    kinds = [None, rng.choice(["x", "y"], len(ids)), rng.permutation(len(ids)), [""] * len(ids)]
    found = []
    for k, names in enumerate(kinds):
        if names is not None:
            relabelled(folder, names)
        out = folder / f"R{k}"
        assert run([*start, "--label-column", "label", "--out", str(out)]) == 0
        found.append(pretrained(out))
    names = [load_graph(folder / f"R{k}" / "graph").label_names for k in range(len(kinds))]
    assert [len(known) for known in names] == [3, 2, len(ids), 0]  # the labels did change
    assert found[1:] == found[:1] * 3


def test_a_graph_without_a_pair_that_is_tested_gives_the_link_model_the_same_bytes(tables):
    """`evaluate` on the run of a graph, and on that of the same graph without one of its test pairs, both by the split
    of the first."""
    folder, _ = tables
    judged = ["--seeds", "1", "--no-controls", "--tasks", "link_prediction"]
    start = ["train", "--steps", "2", *FAST]
    assert run([*start, *graph_of(folder), "--out", str(folder / "R")]) == 0
    assert run(["evaluate", str(folder / "R"), *judged]) == 0
    graph = load_graph(folder / "R" / "graph")
    split = load_link_split(folder / "R" / "link" / "split.parquet", graph)
    ids = graph.id_array().to_pylist()
    gone = {ids[node] for node in split.test[0]}
    rows = [r for r in (folder / "edges.csv").read_text().splitlines() if set(r.split(",")) != gone]
    (folder / "edges.csv").write_text("\n".join(rows) + "\n")
    assert run([*start, *graph_of(folder), "--out", str(folder / "S")]) == 0
    table = pq.read_table(folder / "R" / "link" / "split.parquet").to_pylist()
    kept = [row for row in table if {row["source"], row["target"]} != gone]
    assert len(kept) == len(table) - 1
    (folder / "S" / "link").mkdir()
    pq.write_table(pa.Table.from_pylist(kept), folder / "S" / "link" / "split.parquet")
    assert run(["evaluate", str(folder / "S"), *judged]) == 0
    files = [(folder / run_ / "link" / "model.safetensors").read_bytes() for run_ in "RS"]
    assert files[0] == files[1]


def test_the_same_command_in_another_process_writes_the_same_bytes(trained):
    """Another process hashes text in another order and has its memory elsewhere."""
    folder, _ = trained
    words = ["train", *graph_of(folder), "--out", str(folder / "S"), *PLAIN, *FAST]
    own = {**os.environ, "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-m", "paretognn", *words], check=True, capture_output=True, env=own)
    assert pretrained(folder / "S") == pretrained(folder / "R")


def test_the_digests_of_all_splits_are_printed_and_stored(trained, capsys):
    folder, _ = trained
    assert run(["evaluate", str(folder / "R"), "--seeds", "2", "--no-controls"]) == 0
    stored = json.loads((folder / "R" / "evaluation.json").read_text())
    graph = load_graph(folder / "R" / "graph")
    split = load_link_split(folder / "R" / "link" / "split.parquet", graph)
    assert stored["link_split_digest"] == split.digest()
    digests = [*stored["split_digests"], split.digest()]
    digests += [stored["partition"]["digest"], *stored["partition"]["split_digests"]]
    assert len({*digests}) == 4  # of a graph whose nodes all have labels, those of the parts are those of the nodes
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("splits (SHA-256): ")]
    assert [word.strip(";") for word in line.split() if word.strip(";") in {d[:8] for d in digests}] == [
        d[:8] for d in digests
    ]
