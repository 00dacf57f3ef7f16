"""Training-free controls: what a user gets in seconds, and what training must beat."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from paretognn.graph import Graph
from paretognn.nn import FeatureScaling
from paretognn.training.config import TrainConfig
from paretognn.training.frozen import untrained
from paretognn.training.prepare import with_features


def normalised_adjacency(graph: Graph) -> sp.csr_array:
    """D^-1/2 (A + I) D^-1/2, float64 [N, N]."""
    adjacency = sp.csr_array(graph.adjacency(), dtype=np.float64) + sp.eye_array(graph.num_nodes, format="csr")
    inverse_root = sp.diags_array(1.0 / np.sqrt(np.asarray(adjacency.sum(axis=1)).ravel()))
    return sp.csr_array(inverse_root @ adjacency @ inverse_root)


def raw_features(graph: Graph, width: int, seed: int = 0) -> np.ndarray:
    """The features themselves, reduced to ``width`` by a truncated SVD where they are wider. float32 [N, <= width]."""
    return _reduce(with_features(graph).features, width, seed)


def smoothed_features(graph: Graph, width: int, seed: int = 0) -> np.ndarray:
    """Features after two hops of the normalised adjacency (SGC: Wu et al., 2019), reduced alike."""
    adjacency = normalised_adjacency(graph)
    features = with_features(graph).features
    assert features is not None
    if not isinstance(features, np.ndarray):
        # SVD and smoothing do not commute, but A^2 X of a wide sparse X fills in: smooth the left factor of
        # the product instead, through an operator.
        return _reduce_operator(adjacency, sp.csr_array(features, dtype=np.float64), width, seed)
    return _reduce(adjacency @ (adjacency @ features.astype(np.float64)), width, seed)


def spectral_positions(graph: Graph, width: int, seed: int = 0) -> np.ndarray:
    """Eigenvectors of the normalised adjacency with the largest absolute eigenvalues, weighted by these. float32
    [N, <= width]."""
    adjacency = normalised_adjacency(graph)
    k = min(width, graph.num_nodes - 1)
    if k < 1:
        return np.ones((graph.num_nodes, 1), dtype=np.float32)
    return _truncated_svd(adjacency, k, 8, seed)


CONTROLS = ("raw-features", "smoothed-features", "spectral", "untrained")


def control_embeddings(name: str, graph: Graph, config: TrainConfig, device: str = "cpu") -> np.ndarray:
    """Embeddings of a control at the width of ``config``'s embeddings; only ``graph`` is looked at.

    Dense features are standardised where the encoder's are: a column in thousands would drown the others, and a control
    beaten by a matter of units says nothing of training.
    """
    width = config.width
    if name == "untrained":
        return untrained(graph, config, device).embed(graph)
    graph = with_features(graph)
    if config.features == "standardise" and isinstance(graph.features, np.ndarray):
        scaling = FeatureScaling.fit(graph.features, config.features)
        graph = graph.replace(features=(graph.features - scaling.mean) * scaling.scale)
    make: Callable[[Graph, int, int], np.ndarray] = {
        "raw-features": raw_features,
        "smoothed-features": smoothed_features,
        "spectral": spectral_positions,
    }[name]
    return make(graph, width, config.seed)


def _truncated_svd(matrix: np.ndarray | sp.csr_array, k: int, iterations: int, seed: int) -> np.ndarray:
    """Left singular vectors times singular values, float32 [n, k]."""
    from sklearn.utils.extmath import randomized_svd  # takes a second to load

    u, s, _ = randomized_svd(matrix, k, n_iter=iterations, random_state=seed)
    return np.asarray(u * s, dtype=np.float32)


def _reduce(features: np.ndarray | sp.csr_array, width: int, seed: int) -> np.ndarray:
    n, d = features.shape
    if d <= width:
        dense = features if isinstance(features, np.ndarray) else features.toarray()
        return np.asarray(dense, dtype=np.float32)
    k = min(width, n, d)
    return _truncated_svd(features, k, 5, seed)


def _reduce_operator(adjacency: sp.csr_array, features: sp.csr_array, width: int, seed: int) -> np.ndarray:
    """Truncated SVD of A A X by a randomised range finder, never forming the product."""
    n, d = features.shape
    if d <= width:
        return np.asarray(adjacency @ (adjacency @ features.toarray()), dtype=np.float32)
    k = min(width, n, d)
    rng = np.random.default_rng(seed)
    sample = rng.standard_normal((d, min(k + 10, n, d)))

    def forward(v: np.ndarray) -> np.ndarray:
        return adjacency @ (adjacency @ (features @ v))

    def backward(v: np.ndarray) -> np.ndarray:
        return features.T @ (adjacency @ (adjacency @ v))

    basis = np.linalg.qr(forward(sample))[0]
    for _ in range(5):
        basis = np.linalg.qr(forward(np.linalg.qr(backward(basis))[0]))[0]
    u, s, _ = np.linalg.svd(backward(basis).T, full_matrices=False)
    return (basis @ (u[:, :k] * s[:k])).astype(np.float32)
