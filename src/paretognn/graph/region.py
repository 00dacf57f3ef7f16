"""A part of a graph that looks like it: the nodes that random walks meet, and the edges among them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paretognn.graph.graph import Graph

REGION = 50_000
"""Nodes from which on a region of so many stands for a graph, where it is judged or described."""
_LENGTH = 4
"""Steps of a walk, those of GraphSAINT's walks in the presets."""


def walked_region(graph: Graph, seed: int, most: int = REGION) -> Graph:
    """The graph itself where it has at most ``most`` nodes, else the region met by walks (`walked_nodes`)."""
    return graph if graph.num_nodes <= most else induced_graph(graph, walked_nodes(graph, seed, most))


def walked_nodes(graph: Graph, seed: int, most: int, labelled: bool = False) -> np.ndarray:
    """int64 [M], ascending and distinct: at most ``most`` nodes, met by walks of `_LENGTH` steps from random ones; a
    function of its arguments. With ``labelled`` the walks begin at nodes with a label, as far as there are any. Its
    time and memory are those of the region, and a few bytes a node."""
    rng = np.random.default_rng(seed)
    starts = min(graph.num_nodes, max(1, most // (_LENGTH + 1)))
    here = np.empty(0, np.int64)
    if labelled and graph.labels is not None:
        known = np.flatnonzero(graph.labels >= 0)
        here = rng.choice(known, min(starts, len(known)), replace=False, shuffle=False)
    others = rng.choice(graph.num_nodes, starts, replace=False, shuffle=False)
    here = np.concatenate([here, others[: starts - len(here)]])
    met = [here]
    for _ in range(_LENGTH if len(graph.indices) else 0):
        degree = graph.indptr[here + 1] - graph.indptr[here]
        entry = graph.indptr[here] + rng.integers(0, np.maximum(degree, 1))
        here = np.where(degree > 0, graph.indices[np.minimum(entry, len(graph.indices) - 1)], here)
        met.append(here)
    return np.unique(np.concatenate(met))


def induced_graph(graph: Graph, nodes: np.ndarray) -> Graph:
    """The graph on ``nodes`` (int64 [M], sorted, distinct) and the edges among them, with their features, labels and
    ids; without its public splits."""
    counts = graph.indptr[nodes + 1] - graph.indptr[nodes]
    ends = np.cumsum(counts)
    entries = np.repeat(graph.indptr[nodes] - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
    targets = graph.indices[entries]
    place = np.minimum(np.searchsorted(nodes, targets), len(nodes) - 1)
    inside = nodes[place] == targets
    row = np.repeat(np.arange(len(nodes)), counts)[inside]
    return graph.replace(
        indptr=np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(nodes)))]),
        indices=place[inside].astype(np.int32),
        weights=None if graph.weights is None else graph.weights[entries[inside]],
        features=None if graph.features is None else graph.features[nodes],
        labels=None if graph.labels is None else graph.labels[nodes],
        ids=graph.id_array().take(pa.array(nodes)) if graph.ids is not None else pa.array(nodes).cast(pa.string()),
        splits=(),
    )
