"""Induced sub-graphs, and the four square samplers: the whole graph, k hops, GraphSAINT's nodes and walks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from paretognn.nn.features import FeatureStore
from paretognn.nn.sparse import expand_rows
from paretognn.sampling.device_graph import DeviceGraph


@dataclass(eq=False)
class Subgraph:
    """An induced sub-graph before augmentation, nodes renumbered from 0.

    nodes : int64 [M], sorted ids in the parent; None where it is the whole graph.
    indptr int64 [M + 1], indices int64 [E'], weights float [E'] or None: symmetric, without self-loops.
    seeds : int64 [S], positions in ``nodes``; None for all.
    """

    parent: DeviceGraph
    nodes: Tensor | None
    indptr: Tensor
    indices: Tensor
    weights: Tensor | None
    seeds: Tensor | None = None

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def features(self) -> FeatureStore:
        """Those of its nodes, gathered once for all views of it."""
        return self.parent.features.whole() if self.nodes is None else self.parent.features.take(self.nodes)

    def structure(self) -> DeviceGraph:
        """Its edges as a graph of their own, to look pairs up in; the features stay the parent's."""
        own = DeviceGraph(self.indptr, self.indices, self.weights, self.parent.features)
        own.longest = self.parent.longest  # no less than its own, and known
        return own


def whole(graph: DeviceGraph) -> Subgraph:
    """The whole graph as its own sub-graph; nothing is copied."""
    return Subgraph(graph, None, graph.indptr, graph.indices.long(), graph.weights)


def induced(graph: DeviceGraph, nodes: Tensor, seeds: Tensor | None = None) -> Subgraph:
    """The sub-graph on ``nodes``: int64 [M], distinct and ascending, or bool [N]. ``seeds`` are ids of some of them."""
    if nodes.dtype == torch.bool:
        nodes = nodes.nonzero().squeeze(1)
    if len(nodes) == graph.num_nodes:
        return replace(whole(graph), seeds=seeds)
    positions, owner = expand_rows(graph.indptr, nodes)
    with graph.numbered(nodes) as place:
        columns = place[graph.targets(positions)]
        own = None if seeds is None else place[seeds].long()
    inside = (columns >= 0).nonzero().squeeze(1)
    indptr = torch.zeros(len(nodes) + 1, dtype=torch.int64, device=graph.device)
    indptr[1:] = torch.bincount(owner[inside], minlength=len(nodes)).cumsum(0)
    weights = None if graph.weights is None else graph.weights[positions[inside]]
    return Subgraph(graph, nodes, indptr, columns[inside].long(), weights, own)


def without_entries(subgraph: Subgraph, entries: Tensor) -> Subgraph:
    """The sub-graph less the entries at these positions (both directions of the pairs that leave)."""
    indices = subgraph.indices
    keep = torch.ones(len(indices), dtype=torch.bool, device=indices.device)
    keep[entries] = False
    before = torch.zeros(len(indices) + 1, dtype=torch.int64, device=indices.device)
    before[1:] = keep.cumsum(0)
    weights = None if subgraph.weights is None else subgraph.weights[keep]
    return replace(subgraph, indptr=before[subgraph.indptr], indices=indices[keep], weights=weights)


def random_nodes(graph: DeviceGraph, count: int, generator: torch.Generator) -> Tensor:
    """``count`` distinct nodes (at most all), uniformly from the graph's own, int64 in random order."""
    if graph.own is None:
        return _distinct(graph.num_nodes, count, graph.device, generator)
    return graph.own[_distinct(len(graph.own), count, graph.device, generator)]


def _distinct(n: int, count: int, device: torch.device, generator: torch.Generator) -> Tensor:
    """``count`` distinct numbers below n (at most n), in random order.

    Few of many are the first distinct ones of a sequence with repeats: no permutation of all n.
    """
    if count >= n:
        return torch.arange(n, device=device)
    if 8 * count >= n:
        return torch.randperm(n, generator=generator, device=device)[:count]
    drawn = torch.randint(n, (count + count // 4 + 8,), generator=generator, device=device)
    while True:
        found, which = torch.unique(drawn, return_inverse=True)
        if len(found) >= count:
            break
        drawn = torch.cat([drawn, torch.randint(n, (count,), generator=generator, device=device)])
    places = torch.arange(len(drawn), device=device)
    first = torch.full_like(found, len(drawn)).scatter_reduce_(0, which, places, "amin")
    return found[first.argsort()[:count]]


def k_hop(graph: DeviceGraph, seeds: int, hops: int, generator: torch.Generator) -> Subgraph:
    """Nodes within ``hops`` of ``seeds`` random nodes, and the edges among them (appendix B)."""
    if seeds >= graph.num_nodes:
        return whole(graph)
    chosen = random_nodes(graph, seeds, generator)
    member = torch.zeros(graph.num_nodes, dtype=torch.bool, device=graph.device)
    member[chosen] = True
    frontier = chosen
    for _ in range(hops):
        positions, _ = expand_rows(graph.indptr, frontier)
        reached = torch.zeros_like(member)
        reached[graph.targets(positions)] = True
        frontier = (reached & ~member).nonzero().squeeze(1)
        member |= reached
    return induced(graph, member, chosen)


def saint_nodes(graph: DeviceGraph, budget: int, power: float, generator: torch.Generator) -> Subgraph:
    """GraphSAINT's node sampler: ``budget`` draws with replacement, probability ~ degree^power.

    Zeng et al. (2020) derive power 2; their code, and PyG's, draw by degree. A budget of N or more takes
    the whole graph, so that small graphs lose no isolated node.
    """
    if budget >= graph.num_nodes or graph.num_entries == 0:
        return whole(graph)
    if power == 1.0:
        # The column of a uniform entry is a node by degree; no [N] distribution is needed.
        entry = torch.randint(graph.num_entries, (budget,), generator=generator, device=graph.device)
        drawn = graph.targets(entry)
    else:
        cumulative = graph.degrees().double().pow(power).cumsum(0)
        uniform = torch.rand(budget, generator=generator, device=graph.device, dtype=torch.float64)
        drawn = torch.searchsorted(cumulative, uniform * cumulative[-1], right=True).clamp(max=graph.num_nodes - 1)
    return induced(graph, torch.unique(drawn))


def saint_walks(graph: DeviceGraph, roots: int, length: int, generator: torch.Generator) -> Subgraph:
    """GraphSAINT's random-walk sampler: ``length`` steps from each of ``roots`` distinct random nodes, and the
    edges among all nodes met. A walk ends where a node has no neighbour."""
    if roots >= graph.num_nodes or graph.num_entries == 0:
        return whole(graph)
    here = random_nodes(graph, roots, generator)
    met = [here]
    for _ in range(length):
        degree = graph.degrees(here)
        uniform = torch.rand(len(here), generator=generator, device=graph.device, dtype=torch.float64)
        step = (uniform * degree).long().minimum((degree - 1).clamp(min=0))
        entry = (graph.indptr[here] + step).clamp(max=graph.num_entries - 1)
        here = torch.where(degree > 0, graph.targets(entry), here)
        met.append(here)
    return induced(graph, torch.unique(torch.cat(met)))
