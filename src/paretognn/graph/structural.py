"""Features for a graph that has none: degrees, and positions by diffused random vectors of the ids.

Every node draws a random vector from its id alone, and sees the average of those one, two and three random
steps away (as in FastRP: Chen et al., 2019). New nodes that join later get features in the same space, and
the order of nodes does not matter.
"""

from __future__ import annotations

import hashlib

import numpy as np
import scipy.sparse as sp

from paretognn.graph.graph import Graph

RANDOM_DIMS = 128
_STEPS = 3


def structural_features(graph: Graph) -> np.ndarray:
    """float32 [N, 2 + 128]: log degree, mean log degree of the neighbours, diffused positions."""
    log_degree = np.log1p(graph.degrees)[:, None]
    # In float64: sums of weights, or their inverses, may leave the range of float32.
    adjacency = graph.adjacency().astype(np.float64)
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    inverse = np.where(strength > 0, 1.0 / np.where(strength > 0, strength, 1.0), 0.0)
    walk = sp.csr_array(sp.diags_array(inverse) @ adjacency).astype(np.float32)
    current = np.stack([_id_vector(text) for text in graph.id_array().to_pylist()])
    total = np.zeros_like(current)
    for _ in range(_STEPS):
        current = walk @ current
        norm = np.linalg.norm(current, axis=1, keepdims=True)
        total += current / np.where(norm > 0, norm, 1.0)
    return np.concatenate([log_degree, walk @ log_degree, total], axis=1).astype(np.float32)


def _id_vector(text: str) -> np.ndarray:
    """float32 [128] of signs, a function of the id alone."""
    bits = np.frombuffer(hashlib.blake2b(text.encode(), digest_size=RANDOM_DIMS // 8).digest(), dtype=np.uint8)
    return np.unpackbits(bits).astype(np.float32) * 2 - 1
