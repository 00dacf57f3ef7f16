"""Duplicate nodes, with equal features and neighbours: one in train and another in test is a leak."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretognn.downstream.notices import notify
from paretognn.graph.graph import Graph, Split


def twin_groups(graph: Graph) -> np.ndarray | None:
    """Number of the group of each node, int64 [N]: equal for nodes with equal features and equal neighbours.

    Found by 64-bit sums of random words: some two different nodes meet with a chance of about N^2 / 2^65.
    None for a graph without features, where all leaves of a star would be twins.
    """
    if graph.features is None:
        return None
    rng = np.random.default_rng(0)
    words = _words(rng, graph.num_nodes)
    neighbours = _sums(words[graph.indices], graph.indptr)
    columns = _words(rng, graph.num_features)
    if isinstance(graph.features, np.ndarray):
        features = np.zeros(graph.num_nodes, dtype=np.uint64)
        for column, word in zip(graph.features.T, columns, strict=True):
            features += _bits(column) * word
    else:
        features = _sums(columns[graph.features.indices] * _bits(graph.features.data), graph.features.indptr)
    both = np.stack([neighbours, features], axis=1)
    return np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)


def warn_of_twins(graph: Graph, splits: Sequence[Split]) -> None:
    """Warn with the number of test nodes that have a duplicate among the training nodes."""
    groups = twin_groups(graph)
    if groups is None or not splits:
        return
    crossing = [int(np.isin(groups[split.test], groups[split.train]).sum()) for split in splits]
    worst = int(np.argmax(crossing))
    if crossing[worst]:
        notify(
            f"duplicate nodes: in the worst split {crossing[worst]} of {len(splits[worst].test)} test nodes have "
            "the features and neighbours of a training node; the graph is used raw, not filtered"
        )


def _words(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(2**64, size=count, dtype=np.uint64) | np.uint64(1)


def _bits(values: np.ndarray) -> np.ndarray:
    # Adding 0 turns -0.0 into 0.0, an equal value with other bits.
    return (np.ascontiguousarray(values, dtype=np.float32) + np.float32(0)).view(np.uint32).astype(np.uint64)


def _sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sums of runs of ``values``, wrapping at 2^64; 0 for an empty run."""
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
    return total[indptr[1:]] - total[indptr[:-1]]
