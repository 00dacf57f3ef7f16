import csv

import pytest

from cli.small_tables import FAST, IDS, PLAIN, graph_of
from made import make_graph
from paretognn.cli.main import run


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


@pytest.fixture
def trained(tables):
    folder, ids = tables
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), *PLAIN, *FAST]) == 0
    return folder, ids
