"""Snowball sampling: breadth-first from a few random nodes, until there are enough."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field

from paretognn.nn.sparse import expand_rows
from paretognn.sampling import DeviceGraph, Sampler, Subgraph, induced, random_nodes


class Snowball(Sampler):
    """At most ``seeds`` nodes, reached from ``roots`` random ones; of the last ring a random part is taken. Without
    ``seeds``, all that can be reached."""

    name: Literal["snowball"] = "snowball"
    roots: int = Field(1, ge=1)

    def sample(self, graph: DeviceGraph, generator: torch.Generator) -> Subgraph:
        budget = min(self.seeds or graph.num_nodes, graph.num_nodes)
        member = torch.zeros(graph.num_nodes, dtype=torch.bool, device=graph.device)
        ring = random_nodes(graph, min(self.roots, budget), generator)
        while len(ring):
            member[ring] = True
            reached = torch.unique(graph.indices[expand_rows(graph.indptr, ring)[0]])
            ring = reached[~member[reached]]
            room = budget - int(member.sum())
            if len(ring) > room:
                ring = ring[torch.randperm(len(ring), generator=generator, device=graph.device)[:room]]
        return induced(graph, member)

    def expected_nodes(self, nodes: int, degree: float) -> int:
        return min(nodes, self.seeds or nodes)
