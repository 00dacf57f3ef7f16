"""Nodes that are copies of one another leak labels from train to test (Platonov et al., 2023)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from paretognn.graph.graph import Graph


def with_duplicates_counted(graph: Graph) -> Graph:
    """The graph, with a warning where nodes have the features and neighbours of another.

    Isolated nodes and nodes without features have nothing to be compared by and are not counted. Nodes that
    share their neighbours only are counted beside: the filtered forms of chameleon and squirrel remove these.
    """
    features = sp.csr_array(graph.features)
    near = _rows(graph.indptr, graph.indices)
    own = _rows(features.indptr, features.indices), _rows(features.indptr, features.data)
    same_neighbours = _groups(near, graph.degrees > 0)
    same_all = _groups(zip(near, *own, strict=True), (graph.degrees > 0) & (np.diff(features.indptr) > 0))
    copies = int((same_all >= 0).sum())
    if not copies:
        return graph
    warning = (
        f"{copies} of {graph.num_nodes} nodes have the same features and neighbours as another node "
        f"({int((same_neighbours >= 0).sum())} the same neighbours)"
    )
    if graph.splits:
        warning += (
            f"; {_crossing(graph, same_all)} test nodes of a split have such a copy in its training part "
            f"({_crossing(graph, same_neighbours)} by neighbours)"
        )
    return graph.replace(warnings=(*graph.warnings, warning))


def _rows(indptr: np.ndarray, values: np.ndarray) -> list[bytes]:
    return [values[start:end].tobytes() for start, end in pairwise(indptr)]


def _groups(keys: Iterable[object], counted: np.ndarray) -> np.ndarray:
    """int64 [N]: a number shared by the nodes of equal key; -1 for a node alone or not ``counted``."""
    seen: defaultdict[object, int] = defaultdict(lambda: len(seen))
    groups = np.array([seen[key] for key in keys], dtype=np.int64)
    sizes = np.bincount(groups[counted], minlength=len(seen))
    return np.where(counted & (sizes[groups] > 1), groups, -1)


def _crossing(graph: Graph, groups: np.ndarray) -> str:
    """Smallest and largest number, over the splits, of test nodes whose group has a training node."""
    found = []
    for split in graph.splits:
        train = groups[split.train]
        found.append(int(np.isin(groups[split.test], train[train >= 0]).sum()))
    return f"{min(found)} to {max(found)}"
