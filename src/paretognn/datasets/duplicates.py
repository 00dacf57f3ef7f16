"""Nodes that are copies of one another leak labels from train to test (Platonov et al., 2023)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import scipy.sparse as sp

from paretognn.graph.graph import Graph


def duplicate_groups(graph: Graph) -> np.ndarray:
    """int64 [N]: nodes with the same number have the same features and the same neighbours."""
    rows = graph.features if sp.issparse(graph.features) else sp.csr_array(graph.features)
    seen: defaultdict[bytes, int] = defaultdict(lambda: len(seen))
    groups = np.empty(graph.num_nodes, dtype=np.int64)
    for node in range(graph.num_nodes):
        own = slice(rows.indptr[node], rows.indptr[node + 1])
        near = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        parts = (np.int64(len(near)), near, rows.indices[own], rows.data[own])
        groups[node] = seen[b"".join(part.tobytes() for part in parts)]
    return groups


def with_duplicates_counted(graph: Graph) -> Graph:
    """The graph, with a warning where nodes of a test set have a copy in its training set.

    Isolated nodes and nodes without features have nothing to be compared by and are not counted.
    """
    groups = duplicate_groups(graph)
    width = np.diff(graph.features.indptr) if sp.issparse(graph.features) else np.count_nonzero(graph.features, 1)  # type: ignore[union-attr]
    counted = (graph.degrees > 0) & (width > 0)
    sizes = np.bincount(groups[counted], minlength=groups.max() + 1)
    copies = int((sizes[groups[counted]] > 1).sum())
    crossing = [
        int((np.isin(groups[split.test], groups[split.train]) & counted[split.test]).sum()) for split in graph.splits
    ]
    if not copies:
        return graph
    warning = f"{copies} of {graph.num_nodes} nodes have the same features and neighbours as another node"
    if any(crossing):
        warning += (
            f"; {min(crossing)} to {max(crossing)} test nodes of a public split have such a copy in its training set"
        )
    return graph.replace(warnings=(*graph.warnings, warning))
