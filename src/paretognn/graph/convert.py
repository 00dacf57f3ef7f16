"""Graphs of other libraries."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph.adjacency import matrix_entries
from paretognn.graph.build import build_graph
from paretognn.graph.from_networkx import from_networkx
from paretognn.graph.from_pyg import edge_ends, from_pyg, labels_of
from paretognn.graph.graph import Graph
from paretognn.graph.host import to_host

_ACCEPTED = (
    "a paretognn Graph, a PyG Data, a networkx graph, or a tuple (scipy adjacency or edge_index [2, E], "
    "features [N, D] or None) with labels [N] as an optional third"
)


def as_graph(source: Any, *, fill_missing: bool = False) -> Graph:
    """A graph from ``source``, which is not changed: a Graph (returned as it is), a PyG ``Data``, a networkx
    graph, a scipy adjacency matrix, or a tuple (adjacency or edge_index, features[, labels]).

    fill_missing : give zeros to networkx nodes without a feature vector, with a warning, instead of an error.

    Raises InputError for anything else, and where the parts do not fit together.

    >>> import numpy as np
    >>> as_graph((np.array([[0, 1], [1, 2]]), np.eye(3))).num_edges
    2
    """
    if isinstance(source, Graph):
        return source
    if sp.issparse(source):
        return _from_arrays(source, None, None)
    if isinstance(source, tuple) and len(source) in (2, 3):
        return _from_arrays(*source, *([None] if len(source) == 2 else []))
    if hasattr(source, "edge_index") and hasattr(source, "num_nodes"):
        return from_pyg(source)
    if hasattr(source, "nodes") and hasattr(source, "edges") and hasattr(source, "add_nodes_from"):
        return from_networkx(source, fill_missing)
    hint = "; for files there is read_graph" if hasattr(source, "__fspath__") or isinstance(source, str) else ""
    raise InputError(f"cannot make a graph of a {type(source).__name__}: give {_ACCEPTED}{hint}")


def _from_arrays(structure: Any, features: Any, labels: Any) -> Graph:
    features = None if features is None else to_host(features)
    structure = to_host(structure)
    weights = None
    if sp.issparse(structure):
        num_nodes = structure.shape[0]
        if structure.shape != (num_nodes, num_nodes):
            raise InputError(f"the adjacency matrix is not square: {structure.shape}")
        source, target, weights = matrix_entries(structure)
    else:
        source, target = edge_ends(structure)
        top = int(max(source.max(), target.max())) + 1 if source.size else 0
        num_nodes = top if features is None else features.shape[0]
    codes, names, warnings = labels_of(labels)
    return build_graph(
        num_nodes,
        source,
        target,
        weights,
        features=features,
        labels=codes,
        label_names=names,
        warnings=warnings,
    )
