"""A sampler as a setting: which sub-graph a task sees at a step."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator

from paretognn.sampling.device_graph import DeviceGraph
from paretognn.sampling.subgraph import Subgraph, k_hop, saint_nodes, saint_walks, whole


class SamplerSettings(BaseModel):
    """``full``: the whole graph. ``k-hop``: ``hops`` around ``seeds`` random nodes. ``saint-node``:
    GraphSAINT's nodes, ``seeds`` draws with probability ~ degree^``power``. ``saint-walk``: GraphSAINT's random
    walks, ``hops`` steps from each of ``seeds`` random nodes. A number of seeds at or above N is the whole graph."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    name: Literal["full", "k-hop", "saint-node", "saint-walk"] = "full"
    seeds: int | None = Field(None, ge=1)
    hops: int = Field(3, ge=0)
    power: float = Field(1.0, ge=0)

    @model_validator(mode="after")
    def _needs_seeds(self) -> SamplerSettings:
        if self.name != "full" and self.seeds is None:
            raise ValueError(f"the sampler '{self.name}' needs 'seeds', a number of nodes")
        return self

    def sample(self, graph: DeviceGraph, generator: torch.Generator) -> Subgraph:
        if self.name == "full" or self.seeds is None:
            return whole(graph)
        if self.name == "k-hop":
            return k_hop(graph, self.seeds, self.hops, generator)
        if self.name == "saint-walk":
            return saint_walks(graph, self.seeds, self.hops, generator)
        return saint_nodes(graph, self.seeds, self.power, generator)
