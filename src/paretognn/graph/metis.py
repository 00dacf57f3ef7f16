"""METIS: a balanced partition with few edges between the parts."""

from __future__ import annotations

import numpy as np
import pymetis


def metis_parts(indptr: np.ndarray, indices: np.ndarray, parts: int, seed: int = 0) -> np.ndarray:
    """Part of every node, int64 [N], of a symmetric adjacency in compressed rows; weights are not taken.

    1 <= parts. As many parts as nodes or more: one a node. A graph without edges gets balanced parts at random.
    """
    n = len(indptr) - 1
    if parts <= 1:
        return np.zeros(n, dtype=np.int64)
    if parts >= n:
        return np.arange(n, dtype=np.int64)
    if not len(indices):
        return np.random.default_rng(seed).permutation(n) * parts // n
    kind = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(indptr.astype(kind), indices.astype(kind))
    found = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=seed))
    return np.asarray(found.vertex_part, dtype=np.int64)
