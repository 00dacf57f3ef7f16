"""A matrix of features as a graph: every row joined to those nearest to it, and new rows to them."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from paretognn.errors import InputError
from paretognn.graph import Graph, build_graph
from paretognn.training import TrainedEncoder


class NeighbourGraph:
    """The graph of the rows of ``features`` float32 [N, D]: a pair is an edge where either counts the other among its
    ``neighbours`` nearest, by the Euclidean distance of the features as they are."""

    def __init__(self, features: np.ndarray, neighbours: int) -> None:
        if neighbours < 1:
            raise InputError(f"n_neighbors must be at least 1, not {neighbours}")
        self.neighbours = neighbours
        self.features = features + 0.0  # a negative zero is a zero
        self._nearest = NearestNeighbors(n_neighbors=min(neighbours, len(features) - 1)).fit(self.features)
        found = self._nearest.kneighbors(return_distance=False)
        source = np.repeat(np.arange(len(found)), found.shape[1])
        self.graph: Graph = build_graph(len(features), source, found.ravel(), features=self.features)
        # Of rows that are equal the first stands for all.
        self._known = {row.tobytes(): place for place, row in reversed(list(enumerate(self.features)))}

    def embed(self, trained: TrainedEncoder, embedding: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """float32 [M, d] for ``rows`` float32 [M, D], where ``embedding`` [N, d] is that of the graph's nodes.

        A row that equals one of the graph's has its embedding. Another takes in its nearest rows of the graph, which do
        not take in it, so that what a row gets depends on no other new row.
        """
        rows = rows + 0.0
        place = np.array([self._known.get(row.tobytes(), -1) for row in rows])
        out = embedding[place]
        new = place < 0
        if new.any():
            out[new] = trained.embed(self._joined(trained, rows[new]))[len(self.features) :]
        return out

    def _joined(self, trained: TrainedEncoder, rows: np.ndarray) -> Graph:
        """The graph with further nodes behind its own, their edges in one direction."""
        if "diffusion" in trained.config.encoder.operators:
            raise InputError(
                f"the method '{trained.config.method}' embeds no new rows of a matrix, as a diffusion goes both ways"
            )
        found = self._nearest.kneighbors(rows, return_distance=False)
        ends = self.graph.indptr[-1] + found.shape[1] * np.arange(1, len(rows) + 1)
        joined = Graph(
            np.concatenate([self.graph.indptr, ends]),
            np.concatenate([self.graph.indices, np.sort(found, axis=1).ravel().astype(self.graph.indices.dtype)]),
            features=np.vstack([self.features, rows]),
        )
        return joined.replace(ids=joined.id_array())  # said, so that no one asks whether the numbers are the same
