"""Nodes that are copies of one another leak labels from train to test (Platonov et al., 2023)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from paretognn.graph.graph import Graph
from paretognn.graph.twins import neighbour_groups, twin_groups


def with_duplicates_counted(graph: Graph) -> Graph:
    """The graph, with a warning where nodes have the features and neighbours of another.

    Isolated nodes and nodes without features have nothing to be compared by and are not counted. Nodes that
    share their neighbours only are counted beside: the filtered forms of chameleon and squirrel remove these.
    """
    twins = twin_groups(graph)
    if twins is None:
        return graph
    joined = graph.degrees > 0
    described = np.diff(sp.csr_array(graph.features).indptr) > 0
    same_neighbours = _shared(neighbour_groups(graph), joined)
    same_all = _shared(twins, joined & described)
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


def _shared(groups: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """The groups int64 [N]; -1 for a node that is alone in its own or not ``counted``."""
    sizes = np.bincount(groups[counted], minlength=len(groups))
    return np.where(counted & (sizes[groups] > 1), groups, -1)


def _crossing(graph: Graph, groups: np.ndarray) -> str:
    """Smallest and largest number, over the splits, of test nodes whose group has a training node."""
    found = []
    for split in graph.splits:
        train = groups[split.train]
        found.append(int(np.isin(groups[split.test], train[train >= 0]).sum()))
    return f"{min(found)} to {max(found)}"
