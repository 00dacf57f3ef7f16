"""The training graph on its device: structure and features, ready to be sampled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from paretognn.graph import Graph
from paretognn.nn.features import FeatureStore
from paretognn.nn.gcn import DiffusionSettings
from paretognn.nn.sparse import Csr
from paretognn.sampling.normalise import NormalisedRows, normalised


@dataclass(eq=False)
class DeviceGraph:
    """Symmetric adjacency in compressed rows (no self-loops) and the feature store, on one device.

    indptr int64 [N + 1], indices int64 [2E] (int32 where the graph is mapped from disk) sorted in every row, weights
    float [2E] or None.
    own : int64, the nodes at which this process begins its walks and hops, where it shares a run; None: all.
    diffusions : those that were asked for, kept.
    """

    indptr: Tensor
    indices: Tensor
    weights: Tensor | None
    features: FeatureStore
    own: Tensor | None = None
    diffusions: dict[DiffusionSettings, Csr] = field(default_factory=dict, repr=False)

    @classmethod
    def from_graph(cls, graph: Graph, features: FeatureStore, device: torch.device | str = "cpu") -> DeviceGraph:
        if graph.stored is not None and torch.device(device).type == "cpu":
            weights = None if graph.weights is None else _mapped(graph.weights)
            return cls(_mapped(graph.indptr), _mapped(graph.indices), weights, features)
        kind = torch.int64 if graph.stored is None else None  # a large graph's are left as they are, mostly int32
        return cls(
            torch.tensor(graph.indptr, dtype=torch.int64, device=device),
            torch.tensor(graph.indices, dtype=kind, device=device),
            None if graph.weights is None else torch.tensor(graph.weights, device=device),
            features,
        )

    def targets(self, entries: Tensor) -> Tensor:
        """The columns of stored entries, int64."""
        return self.indices[entries].long()

    @cached_property
    def longest(self) -> int:
        """The most neighbours that a node has."""
        return int(self.degrees().max()) if self.num_nodes else 0

    @cached_property
    def inverse_root(self) -> Tensor:
        """float32 [N]: D^-1/2 of the adjacency with self-loops."""
        return NormalisedRows(self.indptr, self.indices, self.weights).inverse_root

    @cached_property
    def adjacency(self) -> Csr:
        """The normalised adjacency of the whole graph."""
        adjacency = normalised(self.indptr, self.indices, self.weights)
        adjacency.kept = True
        return adjacency

    @cached_property
    def _places(self) -> Tensor:
        return torch.full((self.num_nodes,), -1, dtype=torch.int32, device=self.device)

    @contextmanager
    def numbered(self, nodes: Tensor) -> Iterator[Tensor]:
        """int32 [N]: of ``nodes`` their places, of others -1; good within the context, one at a time. It costs what
        the nodes do, not all N of them."""
        places = self._places
        try:
            places[nodes] = torch.arange(len(nodes), dtype=places.dtype, device=places.device)
            yield places
        finally:
            places[nodes] = -1

    @property
    def device(self) -> torch.device:
        return self.indices.device

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def num_entries(self) -> int:
        """Stored entries, two for every pair."""
        return self.indices.numel()

    def degrees(self, nodes: Tensor | None = None) -> Tensor:
        """Neighbours of ``nodes`` (None: all), int64."""
        if nodes is None:
            return self.indptr[1:] - self.indptr[:-1]
        return self.indptr[nodes + 1] - self.indptr[nodes]

    def find(self, source: Tensor, target: Tensor) -> Tensor:
        """int64 [P]: the position of the entry (source, target), -1 where it is no edge.

        Bisection in the sorted rows, all pairs at once.
        """
        low, end = self.indptr[source], self.indptr[source + 1]
        high = end
        last = self.num_entries - 1
        if last < 0 or len(source) == 0:
            return torch.full_like(source, -1)
        for _ in range(self.longest.bit_length()):
            middle = (low + high) // 2
            before = (low < high) & (self.targets(middle.clamp(max=last)) < target)
            low = torch.where(before, middle + 1, low)
            high = torch.where(before, high, torch.minimum(high, middle))
        hit = (low < end) & (self.targets(low.clamp(max=last)) == target)
        return torch.where(hit, low, -1)


def _mapped(array: np.ndarray) -> Tensor:
    """The array itself, which may be mapped from disk, and not a copy."""
    return torch.from_numpy(np.asarray(array))
