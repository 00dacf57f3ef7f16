"""Embeddings in two dimensions, of all nodes or of a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SAMPLE = 3_000
_FEWEST = 10
"""Nodes from which t-SNE has neighbourhoods to keep; fewer are shown by their two principal components."""


@dataclass(frozen=True, eq=False)
class Projection:
    """nodes : int64 [M], sorted, those shown. points : float [M, 2]. method : how they were placed."""

    nodes: np.ndarray
    points: np.ndarray
    method: str


def project(units: np.ndarray, seed: int = 0) -> Projection:
    """t-SNE (van der Maaten and Hinton, 2008) of rows [N, d] of length 1, reduced to 50 principal components;
    of `SAMPLE` random ones where there are more."""
    n = len(units)
    nodes = np.arange(n)
    if n > SAMPLE:
        nodes = np.sort(np.random.default_rng(seed).choice(n, SAMPLE, replace=False))
    points = units[nodes]

    from sklearn.decomposition import PCA  # takes seconds to load
    from sklearn.manifold import TSNE

    distinct = len(np.unique(points, axis=0))
    if distinct < _FEWEST:
        flat = PCA(min(2, *points.shape), random_state=seed).fit_transform(points) if distinct > 1 else points[:, :0]
        return Projection(nodes, np.pad(flat, ((0, 0), (0, 2 - flat.shape[1]))), "principal components")
    reduced = PCA(min(50, *points.shape), random_state=seed).fit_transform(points)
    perplexity = min(30.0, (len(nodes) - 1) / 3)
    placed = TSNE(2, perplexity=perplexity, init="pca", random_state=seed).fit_transform(reduced)
    return Projection(nodes, placed, "t-SNE")
