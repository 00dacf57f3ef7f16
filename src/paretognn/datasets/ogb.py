"""Node data sets of the Open Graph Benchmark (Hu et al., 2020) from their raw ``.csv.gz`` files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paretognn.datasets.raw import check_length, compact, number_names, read_table, reading
from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph, Split

PARTS = ("train", "valid", "test")


def file_names(split: str) -> tuple[str, ...]:
    raw = ("edge", "node-feat", "node-label", "num-node-list")
    return (*(f"raw/{part}.csv.gz" for part in raw), *(f"split/{split}/{part}.csv.gz" for part in PARTS))


def read_ogb(folder: Path, split: str) -> Graph:
    """Read edges, float32 features [N, D], labels [N] and the public split named ``split``.

    Raises `InputError` for damaged files, and for tables that do not fit the number of nodes.
    """
    count = read_table(folder / "raw/num-node-list.csv.gz", 1)
    features = read_table(folder / "raw/node-feat.csv.gz", dtype=np.float32)
    labels = read_table(folder / "raw/node-label.csv.gz", 1)[:, 0]
    edges = read_table(folder / "raw/edge.csv.gz", 2)
    parts = [read_table(folder / f"split/{split}/{part}.csv.gz", 1)[:, 0] for part in PARTS]
    with reading(folder):
        if count.size != 1:
            raise InputError("num-node-list.csv.gz does not hold one number")
        nodes = int(count[0, 0])
        check_length("node-feat.csv.gz", len(features), nodes)
        check_length("node-label.csv.gz", len(labels), nodes)
        named = np.concatenate(parts)
        if len(named) and (named.min() < 0 or named.max() >= nodes or len(np.unique(named)) < len(named)):
            raise InputError(f"split '{split}' names a node twice, or one outside 0 to {nodes - 1}")
        return build_graph(
            nodes,
            edges[:, 0],
            edges[:, 1],
            features=compact(features),
            labels=labels,
            label_names=number_names(labels),
            splits=(Split(*parts),),
        )
