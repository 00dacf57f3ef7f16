"""A sampler as a setting: which sub-graph a task sees at a step."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny, field_validator, model_validator

from paretognn.registry import Registry
from paretognn.sampling.device_graph import DeviceGraph
from paretognn.sampling.subgraph import Subgraph, k_hop, saint_nodes, saint_walks, whole


class Sampler(BaseModel):
    """What a sampler is: its settings, and how it draws a sub-graph.

    A subclass states ``name`` as a `Literal` with a default, settings of its own, and `sample`, which draws from the
    generator alone. ``seeds`` is a number of nodes, draws or walks: that of ``--budget``.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    name: str
    seeds: int | None = Field(None, ge=1)

    def sample(self, graph: DeviceGraph, generator: torch.Generator) -> Subgraph:
        raise NotImplementedError

    def expected_nodes(self, nodes: int, degree: float) -> int:
        """About how many nodes a sub-graph has of a graph of ``nodes`` nodes of mean ``degree``, for the estimate of
        memory; all of them where a sampler does not say."""
        return nodes


class SamplerSettings(Sampler):
    """``full``: the whole graph. ``k-hop``: ``hops`` around ``seeds`` random nodes. ``saint-node``:
    GraphSAINT's nodes, ``seeds`` draws with probability ~ degree^``power``. ``saint-walk``: GraphSAINT's random
    walks, ``hops`` steps from each of ``seeds`` random nodes. A number of seeds at or above N is the whole graph."""

    name: Literal["full", "k-hop", "saint-node", "saint-walk"] = "full"
    hops: int = Field(3, ge=0)
    power: float = Field(1.0, ge=0)

    @field_validator("name", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        if value not in OWN:
            raise ValueError(SAMPLERS.unknown(value))
        return value

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

    def expected_nodes(self, nodes: int, degree: float) -> int:
        if self.name == "full" or self.seeds is None:
            return nodes
        if self.name == "saint-node":
            return min(nodes, self.seeds)
        if self.name == "saint-walk":
            return min(nodes, self.seeds * (1 + self.hops))
        return int(min(nodes, self.seeds * (1 + degree) ** min(self.hops, 6)))


OWN = ("full", "k-hop", "saint-node", "saint-walk")
SAMPLERS: Registry[type[Sampler]] = Registry("sampler", "samplers", Sampler, ((name, SamplerSettings) for name in OWN))


def _resolved(value: Any) -> Any:
    """A mapping as the sampler that it names."""
    if isinstance(value, dict):
        name = value.get("name", "full")
        kind = SAMPLERS.find(name) if isinstance(name, str) and name in SAMPLERS else SamplerSettings
        return kind.model_validate(value)
    return value


AnySampler = Annotated[SerializeAsAny[Sampler], BeforeValidator(_resolved)]
"""The type of a setting that is a sampler: one of the house's own, or of another package."""
