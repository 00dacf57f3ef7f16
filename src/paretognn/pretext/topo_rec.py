"""Topology reconstruction (TopoRec; appendix B, eq. 17-18)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from paretognn.nn.sparse import gather
from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.sampling import AnySampler, DeviceGraph, clean_view, sage_view
from paretognn.sampling.subgraph import without_entries

SEEN = 1 << 18
"""Rows that the first layer puts out at once; a step that would see more takes its pairs in parts."""


class TopoRecSettings(TaskSettings):
    """``batch_size`` B positive pairs (at most half of all pairs where the targets leave message passing)
    and as many negative ones. ``sampler``: ``sage`` takes pairs of the whole graph and ``fanouts[l]``
    neighbours at layer l (the paper); a sub-graph sampler takes pairs of a sub-graph and encodes that, which
    is cheaper. ``exclude_targets``: the positive pairs leave message passing."""

    sampler: Literal["sage"] | AnySampler = "sage"
    batch_size: int = Field(10240, ge=1)
    fanouts: list[int] = Field(default=[15, 10, 5], min_length=1)
    exclude_targets: bool = False


@dataclass(eq=False)
class PairBatch:
    """``source``, ``target`` int64 [P]: rows of the view's output; ``label`` float [P], 1 for an edge."""

    view: View
    source: Tensor
    target: Tensor
    label: Tensor


class TopoRec(PretextTask):
    """Tell edges from other pairs by a linear layer on the Hadamard product of their embeddings."""

    name: ClassVar[str] = "topo_rec"
    Settings: ClassVar[type[TaskSettings]] = TopoRecSettings

    def __init__(self, settings: TopoRecSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        self.weight = nn.Linear(width, 1, bias=False)

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> PairBatch:
        s: TopoRecSettings = self.settings
        if s.sampler == "sage":
            return self._seen(graph, encoder, *self._pairs(graph, generator), generator)
        subgraph = s.sampler.sample(graph, generator)
        pairs, label, entries = self._pairs(subgraph.structure(), generator)
        seen = without_entries(subgraph, entries) if s.exclude_targets else subgraph
        return PairBatch(clean_view(seen), pairs[:, 0], pairs[:, 1], label)

    def batches(
        self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator
    ) -> Iterator[tuple[float, PairBatch]]:
        """Neighbourhoods of ``sage`` grow by every layer: pairs are taken in parts of about `SEEN` nodes each. A batch
        norm has its statistics of a part alone."""
        s: TopoRecSettings = self.settings
        parts = 1 if s.sampler != "sage" else -(-hidden_rows(s, _layers(s, encoder), graph.num_nodes) // SEEN)
        if parts == 1:
            yield 1.0, self.sample(graph, encoder, generator)
            return
        pairs, label, entries = self._pairs(graph, generator)
        for part in range(max(1, min(parts, len(pairs)))):
            chosen = slice(part, None, parts)  # of edges and of other pairs alike
            batch = self._seen(graph, encoder, pairs[chosen], label[chosen], entries, generator)
            yield len(batch.label) / max(1, len(pairs)), batch

    def _pairs(self, home: DeviceGraph, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Pairs [P, 2], edges first; their labels [P]; the positions of both entries of the edges."""
        positive, entries = positive_pairs(home, self.settings.batch_size, self.settings.exclude_targets, generator)
        negative = negative_pairs(home, len(positive), generator)
        pairs = torch.cat([positive, negative])
        label = torch.zeros(len(pairs), device=home.device)
        label[: len(positive)] = 1
        return pairs, label, entries

    def _seen(
        self,
        graph: DeviceGraph,
        encoder: nn.Module,
        pairs: Tensor,
        label: Tensor,
        entries: Tensor,
        generator: torch.Generator,
    ) -> PairBatch:
        """The pairs with what sampled neighbourhoods show of them."""
        s: TopoRecSettings = self.settings
        nodes, place = torch.unique(pairs, return_inverse=True)
        fanouts = _fanouts(s, _layers(s, encoder))
        view = sage_view(graph, nodes, fanouts, generator, entries if s.exclude_targets else None)
        return PairBatch(view, place[:, 0], place[:, 1], label)

    def loss(self, encoder: nn.Module, batch: PairBatch) -> Tensor:
        """Mean binary cross-entropy over the pairs, from logits; 0 where there is no pair."""
        z = encoder(batch.view)
        if len(batch.label) == 0:
            return z.sum() * 0
        logits = (gather(z, batch.source) * gather(z, batch.target)) @ self.weight.weight[0]
        return F.binary_cross_entropy_with_logits(logits, batch.label.to(logits.dtype))


def _layers(settings: TopoRecSettings, encoder: nn.Module) -> int:
    return int(getattr(encoder, "num_layers", len(settings.fanouts)))


def _fanouts(settings: TopoRecSettings, layers: int) -> list[int]:
    """One a layer: those of the settings, the last again where there are more layers."""
    return (settings.fanouts + [settings.fanouts[-1]] * layers)[:layers]


def hidden_rows(settings: TopoRecSettings, layers: int, nodes: int) -> int:
    """At most how many rows the first of ``layers`` puts out for all pairs of a step with ``sage``."""
    return min(nodes, 4 * settings.batch_size * math.prod(1 + fanout for fanout in _fanouts(settings, layers)[1:]))


def positive_pairs(graph: DeviceGraph, count: int, exclude: bool, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random distinct unordered edges [P, 2] and the positions of both their entries [2P]."""
    total = graph.num_entries // 2
    limit = min(count, max(1, total // 2) if exclude else total)
    if total == 0:
        empty = torch.empty(0, dtype=torch.int64, device=graph.device)
        return empty.reshape(0, 2), empty
    if 4 * limit >= total:
        drawn = torch.randperm(graph.num_entries, generator=generator, device=graph.device)
    else:
        drawn = torch.randint(graph.num_entries, (2 * limit,), generator=generator, device=graph.device)
    source = torch.searchsorted(graph.indptr, drawn, right=True) - 1
    target = graph.targets(drawn)
    low, high = torch.minimum(source, target), torch.maximum(source, target)
    key = torch.unique(low * graph.num_nodes + high)
    if len(key) > limit:
        key = key[torch.randperm(len(key), generator=generator, device=graph.device)[:limit]]
    pairs = torch.stack([key // graph.num_nodes, key % graph.num_nodes], 1)
    both = torch.cat([graph.find(pairs[:, 0], pairs[:, 1]), graph.find(pairs[:, 1], pairs[:, 0])])
    return pairs, both


def negative_pairs(graph: DeviceGraph, count: int, generator: torch.Generator) -> Tensor:
    """Up to ``count`` random pairs [P, 2] of distinct nodes that are no edge; fewer where the graph is
    almost complete."""
    found = torch.empty((0, 2), dtype=torch.int64, device=graph.device)
    for _ in range(5):
        missing = count - len(found)
        if missing <= 0:
            break
        pairs = torch.randint(
            graph.num_nodes, (missing + missing // 8 + 8, 2), generator=generator, device=graph.device
        )
        fine = (pairs[:, 0] != pairs[:, 1]) & (graph.find(pairs[:, 0], pairs[:, 1]) < 0)
        found = torch.cat([found, pairs[fine]])
    return found[:count]
