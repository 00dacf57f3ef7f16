"""K-layer neighbour sampling with a fan-out a layer (GraphSAGE: Hamilton, Ying and Leskovec, 2017)."""

from __future__ import annotations

import torch
from torch import Tensor

from paretognn.nn.features import FeatureView
from paretognn.nn.sparse import Csr
from paretognn.nn.view import View
from paretognn.sampling.device_graph import DeviceGraph


def sample_neighbours(
    graph: DeviceGraph, nodes: Tensor, fanout: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """At most ``fanout`` distinct entries of every node's row, uniformly: (entry positions, row number).

    Floyd's algorithm over all rows at once: the work does not depend on the degrees.
    """
    degree = graph.degrees(nodes)
    taken = degree.clamp(max=fanout)
    chosen = torch.full((len(nodes), fanout), -1, dtype=torch.int64, device=graph.device)
    for j in range(fanout):
        # Step j of Floyd draws from 0..top, and takes top itself where the draw is already there.
        top = degree - taken + j
        uniform = torch.rand(len(nodes), generator=generator, device=graph.device, dtype=torch.float64)
        drawn = (uniform * (top + 1)).long().clamp(max=top)
        repeated = (chosen[:, :j] == drawn[:, None]).any(1)
        value = torch.where(repeated, top, drawn)
        chosen[:, j] = torch.where(j < taken, value, -1)
    valid = chosen >= 0
    positions = (graph.indptr[nodes][:, None] + chosen)[valid]
    owner = torch.arange(len(nodes), device=graph.device)[:, None].expand_as(chosen)[valid]
    return positions, owner


def sage_view(
    graph: DeviceGraph,
    seeds: Tensor,
    fanouts: list[int],
    generator: torch.Generator,
    exclude: Tensor | None = None,
) -> View:
    """The blocks that compute embeddings of ``seeds`` [S] (distinct ids); ``fanouts[l]`` belongs to layer l.

    Entries carry the normalisation of the whole graph, and a sampled neighbour stands for degree / fan-out
    of them, so the expected aggregate is that of the full neighbourhood. ``exclude``: positions of entries
    that carry no message.
    """
    inverse_root = graph.inverse_root
    blocks: list[Csr] = []
    targets = seeds
    for fanout in reversed(fanouts):
        positions, owner = sample_neighbours(graph, targets, fanout, generator)
        if exclude is not None:
            carries = ~torch.isin(positions, exclude)
            positions, owner = positions[carries], owner[carries]
        neighbours = graph.targets(positions)
        with graph.numbered(targets) as place:
            new = torch.unique(neighbours[place[neighbours] < 0])
        sources = torch.cat([targets, new])
        with graph.numbered(sources) as place:
            local = place[neighbours].long()
        real = graph.degrees(targets)
        share = real.to(torch.float32) / real.clamp(min=1, max=fanout)
        values = inverse_root[targets][owner] * inverse_root[neighbours] * share[owner]
        if graph.weights is not None:
            values = values * graph.weights[positions]
        own = torch.arange(len(targets), device=graph.device)
        row = torch.cat([owner, own])
        column = torch.cat([local, own])
        value = torch.cat([values, inverse_root[targets].square()])
        order = torch.argsort(row, stable=True)
        indptr = torch.zeros(len(targets) + 1, dtype=torch.int64, device=graph.device)
        indptr[1:] = torch.bincount(row, minlength=len(targets)).cumsum(0)
        blocks.append(Csr(indptr, column[order], value[order], (len(targets), len(sources))))
        targets = sources
    return View(FeatureView(graph.features.take(targets)), tuple(reversed(blocks)), seeds)
