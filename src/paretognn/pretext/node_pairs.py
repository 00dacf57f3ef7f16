"""Classify pairs of nodes by what lies between them: two of AutoSSL's five tasks (Jin et al., 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from paretognn.nn.features import FeatureStore
from paretognn.nn.sparse import Csr, gather
from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.sampling import AnySampler, DeviceGraph, SamplerSettings, Subgraph, clean_view

HOPS = 3
_BLOCK = 1024


@dataclass(eq=False)
class NodePairs:
    """``source``, ``target`` int64 [P]: rows of the view; ``label`` int64 [P]: the class of the pair."""

    view: View
    source: Tensor
    target: Tensor
    label: Tensor


class NodePairTask(PretextTask):
    """A linear layer on |z_i - z_j| tells the class of a pair; the mean cross-entropy, 0 where there is no pair."""

    classes: ClassVar[int]

    def __init__(self, settings: TaskSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        self.linear = nn.Linear(width, self.classes)

    def loss(self, encoder: nn.Module, batch: NodePairs) -> Tensor:
        z = encoder(batch.view)
        if not len(batch.label):
            return z.sum() * 0
        difference = (gather(z, batch.source) - gather(z, batch.target)).abs()
        return F.cross_entropy(self.linear(difference), batch.label)


class PairSimilaritySettings(TaskSettings):
    """``neighbours``: how many of a node's most similar ones are positive partners. ``pairs``: of either class."""

    sampler: AnySampler = SamplerSettings()
    neighbours: int = Field(10, ge=1)
    pairs: int = Field(4000, ge=1)


class PairSimilarity(NodePairTask):
    """Is node j among the nodes of the sub-graph whose features are nearest to those of i, by the cosine?"""

    name: ClassVar[str] = "pair_sim"
    Settings: ClassVar[type[TaskSettings]] = PairSimilaritySettings
    classes: ClassVar[int] = 2
    _whole: Tensor | None = None

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> NodePairs:
        s: PairSimilaritySettings = self.settings
        subgraph = s.sampler.sample(graph, generator)
        nearest = self._nearest(subgraph)
        n, device = len(nearest), graph.device
        if n < 2:
            return _pairs(subgraph, [torch.empty(0, 2, dtype=torch.int64, device=device)])
        source = torch.randint(n, (s.pairs,), generator=generator, device=device)
        partner = torch.randint(nearest.shape[1], (s.pairs,), generator=generator, device=device)
        positive = torch.stack([source, nearest[source, partner]], 1)
        negative = torch.randint(n, (s.pairs, 2), generator=generator, device=device)
        far = (nearest[negative[:, 0]] != negative[:, 1:]).all(1) & (negative[:, 0] != negative[:, 1])
        return _pairs(subgraph, [negative[far], positive])

    def _nearest(self, subgraph: Subgraph) -> Tensor:
        """Those of the whole graph are found once."""
        if subgraph.nodes is not None:
            return nearest_rows(subgraph.features, self.settings.neighbours)
        if self._whole is None:
            self._whole = nearest_rows(subgraph.features, self.settings.neighbours)
        return self._whole


def nearest_rows(features: FeatureStore, count: int) -> Tensor:
    """int64 [M, min(count, M - 1)]: the rows with the largest cosine to each row, itself left out; a zero row has
    cosine 0 with all."""
    m = features.num_rows
    inverse = features.squared_norms.clamp(min=1e-24).rsqrt().float()
    found = []
    for start in range(0, m, _BLOCK):
        rows = slice(start, min(start + _BLOCK, m))
        own = torch.arange(rows.start, rows.stop, device=features.device)
        cosine = features.times(features.rows(rows).T.contiguous()) * inverse[:, None]
        cosine[own, own - start] = -torch.inf
        found.append(cosine.T.topk(min(count, m - 1), dim=1).indices)
    return torch.cat(found)


class PairDistanceSettings(TaskSettings):
    """``roots``: nodes from which distances are measured. ``pairs``: of each class, at most."""

    sampler: AnySampler = SamplerSettings()
    roots: int = Field(256, ge=1)
    pairs: int = Field(4000, ge=1)


class PairDistance(NodePairTask):
    """How many hops lie between two nodes of the sub-graph: 1, 2, 3, or more?"""

    name: ClassVar[str] = "pair_dis"
    Settings: ClassVar[type[TaskSettings]] = PairDistanceSettings
    classes: ClassVar[int] = HOPS + 1

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> NodePairs:
        s: PairDistanceSettings = self.settings
        subgraph = s.sampler.sample(graph, generator)
        order = torch.randperm(subgraph.num_nodes, generator=generator, device=graph.device)
        roots = order[: s.roots]
        distance = hop_distances(subgraph, roots)
        chosen = []
        for hops in range(1, HOPS + 2):
            row, column = (distance == hops).nonzero(as_tuple=True)
            if len(row) > s.pairs:
                drawn = torch.randint(len(row), (s.pairs,), generator=generator, device=graph.device)
                row, column = row[drawn], column[drawn]
            chosen.append(torch.stack([roots[column], row], 1))
        return _pairs(subgraph, chosen)


def hop_distances(subgraph: Subgraph, roots: Tensor) -> Tensor:
    """int64 [M, R]: edges on the shortest path from each root to each node, `HOPS` + 1 for more or no path."""
    m, device = subgraph.num_nodes, roots.device
    ones = torch.ones(len(subgraph.indices), device=device)
    adjacency = Csr(subgraph.indptr, subgraph.indices, ones, (m, m), symmetric=True)
    distance = torch.full((m, len(roots)), HOPS + 1, dtype=torch.int64, device=device)
    frontier = torch.zeros(m, len(roots), device=device)
    frontier[roots, torch.arange(len(roots), device=device)] = 1
    distance[frontier > 0] = 0
    for hops in range(1, HOPS + 1):
        fresh = (adjacency.product(frontier) > 0) & (distance > HOPS)
        distance[fresh] = hops
        frontier = fresh.float()
    return distance


def _pairs(subgraph: Subgraph, by_class: list[Tensor]) -> NodePairs:
    """``by_class``: int64 [P_c, 2] for class 0, 1, .."""
    both = torch.cat(by_class)
    label = torch.cat([torch.full((len(p),), c, device=both.device) for c, p in enumerate(by_class)])
    return NodePairs(clean_view(subgraph), both[:, 0], both[:, 1], label)
