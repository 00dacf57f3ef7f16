"""Duplicate nodes, with equal features and neighbours."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from paretognn.graph.graph import Features, Graph

_BLOCK = 1 << 18
"""Dense features that are looked at at once."""


def twin_groups(graph: Graph) -> np.ndarray | None:
    """Number of the group of each node, int64 [N]: equal for nodes with equal features and equal neighbours.

    Nodes with the same 64-bit sum of random words are compared. None for a graph without features, where all leaves of
    a star would be twins.
    """
    if graph.features is None:
        return None
    rng = np.random.default_rng(0)
    neighbours = _neighbour_sums(graph, rng)
    columns = _words(rng, graph.num_features)
    if isinstance(graph.features, np.ndarray):
        features = np.empty(graph.num_nodes, dtype=np.uint64)
        for block in _blocks(graph.num_nodes, graph.num_features):
            features[block] = _bits(graph.features[block]) @ columns
    else:
        features = _sums(columns[graph.features.indices] * _bits(graph.features.data), graph.features.indptr)
    return _groups(graph, neighbours * _words(rng, 1) + features, graph.features)


def neighbour_groups(graph: Graph) -> np.ndarray:
    """As `twin_groups`, of nodes with equal neighbours alone."""
    return _groups(graph, _neighbour_sums(graph, np.random.default_rng(0)))


def _neighbour_sums(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    return _sums(_words(rng, graph.num_nodes)[graph.indices], graph.indptr)


def _groups(graph: Graph, sums: np.ndarray, features: Features | None = None) -> np.ndarray:
    """As `twin_groups`, from sums [N] that are equal for twins; others with the same sum take further rounds."""
    n = graph.num_nodes
    joined = sp.csr_array((np.ones(len(graph.indices), dtype=np.int8), graph.indices, graph.indptr), shape=(n, n))
    groups, left, count = np.empty(n, dtype=np.int64), np.arange(n), 0
    while len(left):
        _, first, own = np.unique(sums[left], return_index=True, return_inverse=True)
        model = left[first[own]]
        same = left == model
        others = np.flatnonzero(~same)
        a, b = left[others], model[others]
        same[others] = _equal(joined, a, b) & (features is None or _equal(features, a, b))
        groups[left[same]] = count + own[same]
        left, count = left[~same], count + len(first)
    return groups


def _blocks(count: int, width: int) -> list[slice]:
    step = max(1, _BLOCK // max(1, width))
    return [slice(start, start + step) for start in range(0, count, step)]


def _equal(rows: Features, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether rows ``a`` [M] and ``b`` [M] of a matrix are equal, bool [M]."""
    if not isinstance(rows, np.ndarray):
        return np.diff((rows[a] != rows[b]).indptr) == 0
    same = np.empty(len(a), dtype=bool)
    for block in _blocks(len(a), rows.shape[1]):
        same[block] = (rows[a[block]] == rows[b[block]]).all(axis=1)
    return same


def _words(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(2**64, size=count, dtype=np.uint64) | np.uint64(1)


def _bits(values: np.ndarray) -> np.ndarray:
    # Adding 0 turns -0.0 into 0.0, an equal value with other bits.
    return (np.ascontiguousarray(values, dtype=np.float32) + np.float32(0)).view(np.uint32).astype(np.uint64)


def _sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sums of runs of ``values``, wrapping at 2^64; 0 for an empty run."""
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
    return total[indptr[1:]] - total[indptr[:-1]]
