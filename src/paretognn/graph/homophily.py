"""Whether neighbours' features are alike."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph.graph import Features, Graph

_SAMPLE = 20_000


def feature_homophily(graph: Graph, seed: int = 0) -> float:
    """Mean cosine of the features of two neighbours, less that of two nodes drawn at random; over at most 20,000 pairs
    each. Columns are centred, and those of dense features scaled to variance 1. InputError without features or
    edges."""
    if graph.features is None or not graph.num_edges:
        raise InputError("feature homophily is of a graph with features and edges")
    rng = np.random.default_rng(seed)
    pairs = graph.pairs()
    if len(pairs) > _SAMPLE:
        pairs = pairs[rng.choice(len(pairs), _SAMPLE, replace=False)]
    strangers = rng.integers(0, graph.num_nodes, (_SAMPLE, 2))
    return _mean_cosine(graph.features, pairs) - _mean_cosine(graph.features, strangers)


def _mean_cosine(features: Features, pairs: np.ndarray) -> float:
    mean = np.asarray(features.mean(axis=0, dtype=np.float64)).ravel()
    if sp.issparse(features):
        scale = np.ones_like(mean)
    else:
        deviation = features.std(axis=0, dtype=np.float64)
        scale = np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1), 0)
    total = 0.0
    for block in np.array_split(pairs, max(1, len(pairs) * len(mean) // 2**24)):
        a, b = (_dense(features[block[:, end]]) for end in (0, 1))
        a, b = (a - mean) * scale, (b - mean) * scale
        norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        total += float((np.einsum("ij,ij->i", a, b) / np.where(norms > 0, norms, 1)).sum())
    return total / len(pairs)


def _dense(features: Features) -> np.ndarray:
    return np.asarray(features.toarray() if not isinstance(features, np.ndarray) else features, dtype=np.float64)
