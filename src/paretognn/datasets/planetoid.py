"""Cora, CiteSeer and PubMed in the layout of Planetoid (Yang et al., 2016): ``ind.NAME.*``."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretognn.datasets.raw import check_length, compact, number_names, read_table, reading
from paretognn.datasets.unpickle import read_pickle
from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph, Split

PARTS = ("tx", "allx", "y", "ty", "ally", "graph", "test.index")
VALIDATION = 500


def read_planetoid(folder: Path, prefix: str) -> Graph:
    """Read ``ind.{prefix}.*`` with the public split: the first len(y) nodes, the next 500, the test index.

    ``ind.{prefix}.x`` repeats the first rows of ``allx`` and is not needed.

    Test nodes that the files leave out (CiteSeer has 15) get no features and class 0, as in PyG.
    Raises `InputError` for files that are damaged or do not fit together.
    """
    files = {part: folder / f"ind.{prefix}.{part}" for part in PARTS}
    rows = {part: _matrix(files[part]) for part in ("allx", "tx", "y", "ally", "ty")}
    with reading(files["graph"]):
        source, target, nodes = _edges(read_pickle(files["graph"]))
    test = read_table(files["test.index"], 1)[:, 0]

    with reading(folder):
        known = rows["allx"].shape[0]
        ordered = np.sort(test)
        check_length("test features", rows["tx"].shape[0], len(test))
        check_length("test labels", rows["ty"].shape[0], len(test))
        check_length("labels", rows["ally"].shape[0], known)
        if not len(test) or ordered[0] != known or ordered[-1] != nodes - 1 or (np.diff(ordered) == 0).any():
            raise InputError(f"the test index does not name nodes {known} to {nodes - 1}, each at most once")
        if rows["y"].shape[0] + VALIDATION > known:
            raise InputError(f"the public split needs {VALIDATION} validation nodes after the training nodes")
        # The rows of tx follow the test file's order, not the node order.
        place = sp.csr_array((np.ones(len(test)), (test - known, np.arange(len(test)))), (nodes - known, len(test)))
        features = sp.vstack([rows["allx"], place @ rows["tx"]], format="csr")
        one_hot = sp.vstack([rows["ally"], place @ rows["ty"]], format="csr")
        labels = one_hot.toarray().argmax(axis=1).astype(np.int64)
        train = rows["y"].shape[0]
        absent = nodes - known - len(test)
        note = f"{absent} isolated nodes are in no file: no features, class 0 as in PyG"
        return build_graph(
            nodes,
            source,
            target,
            features=compact(features),
            labels=labels,
            label_names=number_names(labels),
            splits=(Split(np.arange(train), np.arange(train, train + VALIDATION), ordered),),
            notes=(note,) if absent else (),
        )


def _matrix(path: Path) -> sp.csr_array:
    with reading(path):
        value = read_pickle(path)
        if not hasattr(value, "shape") or len(value.shape) != 2:
            raise InputError("holds no matrix")
        return sp.csr_array(value)


def _edges(adjacency: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Source [R], target [R] and the number of nodes, from a dictionary of neighbour lists."""
    if not isinstance(adjacency, dict):
        raise InputError("holds no dictionary of neighbours")
    nodes = np.fromiter(adjacency.keys(), np.int64, len(adjacency))
    lengths = np.fromiter(map(len, adjacency.values()), np.int64, len(adjacency))
    target = np.fromiter(chain.from_iterable(adjacency.values()), np.int64, lengths.sum())
    return np.repeat(nodes, lengths), target, len(adjacency)
