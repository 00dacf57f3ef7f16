"""Which pairs of nodes without an edge look most like edges."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from paretognn.downstream.link_prediction import FIT_BYTES, fit_links
from paretognn.downstream.nearest import largest
from paretognn.downstream.negatives import sample_non_edges
from paretognn.errors import InputError
from paretognn.graph.graph import Graph


class LinkRecommender:
    """A logistic regression on products of embeddings, fitted on a graph's edges and as many other pairs.

    units : float32 [N, d], rows of length 1 or 0. C is one of the evaluation's, by the AUC on a fifth of the pairs.
    Raises InputError for fewer than 2 edges, and where the graph has too few pairs without one.
    """

    def __init__(self, units: np.ndarray, graph: Graph, seed: int = 0) -> None:
        self.units, self.graph = units, graph
        random = np.random.default_rng(seed)
        edges = random.permutation(graph.pairs())[: max(2, FIT_BYTES // (2 * 4 * units.shape[1]))]
        if len(edges) < 2:
            raise InputError(f"links are learnt from edges, and the graph has {len(edges)}")
        others = sample_non_edges(graph, len(edges), random)
        kept = max(1, len(edges) * 4 // 5)
        self._path, self._chosen = fit_links(units, (edges[:kept], others[:kept]), (edges[kept:], others[kept:]))

    def partners(self, node: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` likeliest partners of ``node`` that no edge joins it to, likeliest first: nodes int64 [k'], and
        probabilities float32 [k'] of an edge among as many edges as other pairs."""
        weights = self._path.coef[self._chosen, 0] * self.units[node]
        scores = self.units @ weights.astype(np.float32) + self._path.intercept[self._chosen, 0]
        start, end = self.graph.indptr[node : node + 2]
        known = np.append(self.graph.indices[start:end], node)
        scores[known] = -np.inf
        found = largest(scores, min(k, len(scores) - len(known)))
        return found, expit(scores[found]).astype(np.float32)
