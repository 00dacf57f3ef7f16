"""PyG's ``Data`` as a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph
from paretognn.graph.host import to_host
from paretognn.graph.labels import encode_values
from paretognn.graph.masks import MASKS, splits_from_masks


def from_pyg(data: Any) -> Graph:
    """``x``, ``edge_index``, ``edge_weight``, ``y`` and the masks; other attributes are not used.

    Raises InputError where these do not fit together.
    """
    if data.edge_index is None:
        raise InputError("the Data object has no edge_index")
    source, target = edge_ends(data.edge_index)
    x = getattr(data, "x", None)
    features = None if x is None else to_host(x)
    num_nodes = int(data.num_nodes) if features is None else features.shape[0]
    weight = getattr(data, "edge_weight", None)
    notes: list[str] = []
    if weight is None and getattr(data, "edge_attr", None) is not None:
        notes.append("edge_attr is not used; weights are read from edge_weight")
    splits, unused = splits_from_masks({name: getattr(data, name, None) for name in MASKS}, num_nodes)
    labels, label_names, warnings = labels_of(getattr(data, "y", None))
    return build_graph(
        num_nodes,
        source,
        target,
        None if weight is None else to_host(weight).ravel(),
        features=features,
        labels=labels,
        label_names=label_names,
        splits=splits,
        notes=(*notes, *unused),
        warnings=warnings,
    )


def edge_ends(edge_index: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both rows of an integer array [2, E]; InputError for anything else."""
    ends = to_host(edge_index)
    if getattr(ends, "ndim", 0) != 2 or ends.shape[0] != 2:
        shape = getattr(ends, "shape", None)
        raise InputError(f"edge_index must be an integer array [2, E], not one of shape {shape}")
    return ends[0], ends[1]


def labels_of(y: Any) -> tuple[np.ndarray | None, tuple[str, ...], tuple[str, ...]]:
    """Labels, their names and warnings, from ``y`` [N] or [N, 1]; several columns are left out."""
    if y is None:
        return None, (), ()
    values = to_host(y)
    if values.ndim > 1 and values.size != len(values):
        return None, (), (f"labels of shape {values.shape} (several a node) are not used",)
    return *encode_values(values.ravel()), ()
