"""A networkx graph as a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph
from paretognn.graph.host import to_host
from paretognn.graph.ids import as_ids, check_ids, listed, shown
from paretognn.graph.labels import encode_values


def from_networkx(source: Any, fill_missing: bool) -> Graph:
    """Nodes in the graph's order, their text as ids; node attributes ``x`` (a number or a vector) and ``y``
    or ``label``; edge attribute ``weight`` (1 where an edge has none).

    Raises InputError where some nodes have ``x`` and others not (unless ``fill_missing``), where vectors
    differ in length, where two nodes have one text, and for nodes that are blank or floats.
    """
    nodes = list(source.nodes)
    if not nodes:
        raise InputError("the graph has no nodes")
    ids = as_ids(nodes)
    check_ids(ids, "networkx graph")
    index = {node: k for k, node in enumerate(nodes)}
    edges = list(source.edges(data="weight"))
    ends = np.array([(index[u], index[v]) for u, v, _ in edges], dtype=np.int64).reshape(-1, 2)
    given = [w for _, _, w in edges if w is not None]
    weights = None
    notes: list[str] = []
    if given:
        weights = _weights([1.0 if w is None else w for _, _, w in edges])
        if len(given) < len(edges):
            notes.append(f"{len(edges) - len(given)} of {len(edges)} edges have no weight: 1 is used")
    features, warnings = _features([source.nodes[node].get("x") for node in nodes], ids, fill_missing)
    attributes = [source.nodes[node] for node in nodes]
    key = next((key for key in ("y", "label") if any(key in a for a in attributes)), None)
    labels, label_names = (None, ()) if key is None else _labels([a.get(key) for a in attributes])
    return build_graph(
        len(nodes),
        ends[:, 0],
        ends[:, 1],
        weights,
        features=features,
        labels=labels,
        label_names=label_names,
        ids=ids,
        name=str(source.name or "graph"),
        notes=notes,
        warnings=warnings,
    )


def _weights(values: list[Any]) -> np.ndarray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("edge attribute 'weight' is not a number on every edge") from None


def _features(vectors: list[Any], ids: pa.StringArray, fill_missing: bool) -> tuple[np.ndarray | None, tuple[str, ...]]:
    missing = [k for k, vector in enumerate(vectors) if vector is None]
    if len(missing) == len(vectors):
        return None, ()
    nodes = listed(ids.take(pa.array(missing, pa.int64())))
    if missing and not fill_missing:
        raise InputError(
            f"{len(missing)} of {len(vectors)} nodes have no feature vector 'x': {nodes}; "
            "as_graph(graph, fill_missing=True) gives them zeros"
        )
    rows = [None if vector is None else np.ravel(to_host(vector)) for vector in vectors]
    widths = {len(row) for row in rows if row is not None}
    if len(widths) > 1:
        raise InputError(f"node attribute 'x' differs in length: {sorted(widths)[:5]}")
    zero = np.zeros(widths.pop(), dtype=np.float32)
    matrix = np.array([zero if row is None else _numbers(row, ids[k].as_py()) for k, row in enumerate(rows)])
    warnings = (f"{len(missing)} node(s) without 'x' have zero features: {nodes}",) if missing else ()
    return matrix, warnings


def _numbers(row: np.ndarray, node: str) -> np.ndarray:
    try:
        if row.dtype.kind == "c":
            raise TypeError
        return row.astype(np.float64)
    except (TypeError, ValueError):
        first = shown(str(row.tolist()[:3]))
        raise InputError(f"node attribute 'x' is not numeric: {first} at node '{shown(node)}'") from None


def _labels(values: list[Any]) -> tuple[np.ndarray, tuple[str, ...]]:
    objects = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        # A label may be held as a tensor or an array of one element.
        objects[k] = value.item() if getattr(value, "size", None) == 1 or hasattr(value, "detach") else value
    return encode_values(objects)
