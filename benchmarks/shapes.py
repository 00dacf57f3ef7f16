"""Graphs that the benchmarks measure on: by name, or synthetic ones with the sizes of a known graph.

A synthetic graph has a heavy-tailed degree distribution (its ends are drawn by a power law), so that sampling
and sparse products meet hubs, as they do in real graphs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from paretognn.datasets import load_dataset
from paretognn.graph import Graph, build_graph


@dataclass(frozen=True)
class Shape:
    """Sizes of a synthetic graph; ``per_row`` entries of 1.0 in every row of sparse features (None: dense)."""

    nodes: int
    pairs: int
    features: int
    per_row: int | None = None

    def make(self, seed: int = 0) -> Graph:
        """The graph; its number of pairs is exact."""
        rng = np.random.default_rng(seed)
        source, target = self._pairs(rng)
        return build_graph(self.nodes, source, target, features=self._features(rng))

    def _pairs(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        attraction = rng.pareto(2.0, self.nodes) + 1
        ends = np.cumsum(attraction / attraction.sum())
        keys = np.empty(0, dtype=np.int64)
        while len(keys) < self.pairs:
            missing = self.pairs - len(keys)
            drawn = np.minimum(np.searchsorted(ends, rng.random((missing + missing // 4 + 16, 2))), self.nodes - 1)
            drawn = np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1)
            keys = np.unique(np.concatenate([keys, drawn[:, 0] * self.nodes + drawn[:, 1]]))
        keys = rng.permutation(keys)[: self.pairs]
        return keys // self.nodes, keys % self.nodes

    def _features(self, rng: np.random.Generator) -> np.ndarray | sp.csr_array:
        if self.per_row is None:
            return rng.standard_normal((self.nodes, self.features), dtype=np.float32)
        # Word counts fall off as in text: a few columns are in most rows.
        weight = 1.0 / (np.arange(self.features) + 20.0)
        ends = np.cumsum(weight / weight.sum())
        entries = self.nodes * self.per_row
        rows = np.repeat(np.arange(self.nodes), self.per_row)
        columns = np.minimum(np.searchsorted(ends, rng.random(entries)), self.features - 1)
        columns = rng.permutation(self.features)[columns]
        matrix = sp.csr_array((np.ones(entries, dtype=np.float32), (rows, columns)), (self.nodes, self.features))
        matrix.sum_duplicates()
        matrix.data[:] = 1.0
        return matrix


SHAPES = {
    "wiki-cs-shape": Shape(11_701, 216_123, 300),
    "coauthor-cs-shape": Shape(18_333, 81_894, 6_805, per_row=66),
    "arxiv-shape": Shape(169_343, 1_157_799, 128),
    "products-shape": Shape(2_449_029, 61_859_140, 100),
}
"""66 draws leave about 60 distinct words in a row."""


def graph_named(name: str) -> Graph:
    """A synthetic shape of that name, else the public data set of that name."""
    return SHAPES[name].make() if name in SHAPES else load_dataset(name)
