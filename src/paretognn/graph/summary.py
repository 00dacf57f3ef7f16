"""What a graph holds, as numbers for a machine and as lines for a reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paretognn.graph.graph import Features, Graph


def summarise(graph: Graph) -> dict[str, Any]:
    """Counts and checks, ready for JSON: structure, ``features``, ``labels``, ``notes`` and ``warnings``."""
    if graph.stored is not None:
        return graph.stored.summary
    degrees, counts = graph.degrees, graph.counts
    components, member = connected_components(graph.adjacency(), directed=False)
    pairs = graph.num_nodes * (graph.num_nodes - 1) // 2
    notes = list(graph.notes)
    if counts.one_way:
        notes.append(
            f"{counts.one_way:,} of {graph.num_edges:,} pairs are given in one direction only; read as undirected"
        )
    return {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "rows_read": counts.rows,
        "self_loops": counts.self_loops,
        "duplicates": counts.duplicates,
        "one_way": counts.one_way,
        "weighted": graph.weights is not None,
        "isolated_nodes": int((degrees == 0).sum()),
        "components": int(components),
        "largest_component": int(np.bincount(member).max()),
        "density": graph.num_edges / pairs if pairs else 0.0,
        "mean_degree": float(degrees.mean()),
        "median_degree": float(np.median(degrees)),
        "hub_share": hub_share(degrees),
        "max_degree": int(degrees.max()),
        "features": _features(graph),
        "labels": _labels(graph),
        "splits": len(graph.splits),
        "notes": notes,
        "warnings": list(graph.warnings),
    }


def edge_homophily(graph: Graph) -> float | None:
    """The share of edges between nodes of one class, of those whose ends are both labelled."""
    if graph.labels is None:
        return None
    ends = graph.labels[graph.pairs()]
    known = (ends >= 0).all(axis=1)
    return float((ends[known, 0] == ends[known, 1]).mean()) if known.any() else None


def hub_share(degrees: np.ndarray) -> float:
    """The share of all ends of edges that are at the hundredth of the nodes with most neighbours."""
    hubs = np.sort(degrees)[-max(1, len(degrees) // 100) :]
    return float(hubs.sum() / max(1, degrees.sum()))


def _homophily_by_chance(graph: Graph) -> float | None:
    """Edge homophily that is expected where each node of an edge is drawn anew from the ends of all edges."""
    assert graph.labels is not None
    ends = graph.labels[graph.pairs()]
    known = ends[(ends >= 0).all(axis=1)]
    if not len(known):
        return None
    shares = np.bincount(known.ravel()) / known.size
    return float((shares**2).sum())


def _features(graph: Graph) -> dict[str, Any]:
    features = graph.features
    if features is None or graph.num_features == 0:
        return {"count": 0, "kind": "none"}
    if isinstance(features, np.ndarray):
        stored, filled = features, np.count_nonzero(features, axis=1)
    else:
        stored, filled = features.data, np.diff(features.indptr)
    binary = bool(np.isin(stored, (0, 1)).all())
    columns = graph.feature_columns
    one_hot = columns is not None and all(column.category is not None for column in columns)
    return {
        "count": graph.num_features,
        "kind": "one-hot" if one_hot else "binary" if binary else "numeric",
        "density": float(filled.sum() / (features.shape[0] * features.shape[1])),
        "stored": "dense" if stored is features else "sparse",
        "constant_columns": _constant_columns(features),
        "zero_rows": int((filled == 0).sum()),
    }


def _constant_columns(features: Features) -> int:
    low, high = features.min(axis=0), features.max(axis=0)
    if sp.issparse(features):
        low, high = low.toarray(), high.toarray()
    return int((low == high).sum())


def _labels(graph: Graph) -> dict[str, Any] | None:
    if graph.labels is None:
        return None
    known = graph.labels[graph.labels >= 0]
    sizes = np.bincount(known, minlength=graph.num_classes).tolist()
    return {
        "classes": graph.num_classes,
        "labelled": len(known),
        "unlabelled": graph.num_nodes - len(known),
        "class_sizes": dict(zip(graph.label_names, sizes, strict=True)),
        "edge_homophily": edge_homophily(graph),
        "edge_homophily_by_chance": _homophily_by_chance(graph),
    }


def format_summary(summary: dict[str, Any]) -> list[str]:
    """Plain lines of `summarise`'s numbers, warnings last."""
    s = summary
    lines = [
        f"{s['name']}: {s['nodes']:,} nodes, {s['edges']:,} undirected edges" + (", weighted" if s["weighted"] else ""),
        f"  read: {s['rows_read']:,} rows, {s['self_loops']:,} self-loops, {s['duplicates']:,} duplicates",
        f"  degrees: mean {s['mean_degree']:.2f}, max {s['max_degree']:,}; "
        f"{s['isolated_nodes']:,} isolated nodes"
        + ("" if s["components"] is None else f", {s['components']:,} components"),
    ]
    f = s["features"]
    if f["count"]:
        lines.append(
            f"  features: {f['count']:,} {f['kind']}, {f['density']:.2%} non-zero, stored {f['stored']}; "
            f"{f['constant_columns']:,} constant columns, {f['zero_rows']:,} all-zero rows"
        )
    else:
        lines.append("  features: none")
    if s["labels"]:
        lines += _label_lines(s["labels"])
    if s["splits"]:
        lines.append(f"  public splits: {s['splits']}")
    lines += [f"  note: {note}" for note in s["notes"]]
    return lines + [f"  warning: {warning}" for warning in s["warnings"]]


def _label_lines(labels: dict[str, Any]) -> list[str]:
    sizes = list(labels["class_sizes"].items())
    shown = ", ".join(f"{name} {size:,}" for name, size in sizes[:8]) + (", ..." if len(sizes) > 8 else "")
    homophily = labels["edge_homophily"]
    return [
        f"  labels: {labels['classes']} classes ({shown}); {labels['unlabelled']:,} unlabelled"
        + ("" if homophily is None else f"; edge homophily {homophily:.3f}")
    ]
