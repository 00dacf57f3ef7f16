"""Mutual information between nodes and their sub-graphs (MI-NSG; appendix B, eq. 21)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from paretognn.nn.sparse import gather
from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.pretext.info_nce import info_nce
from paretognn.pretext.two_views import TwoViewSettings
from paretognn.sampling import DeviceGraph


class MINSGSettings(TwoViewSettings):
    """``contrast``: which nodes are anchors and negatives: ``all`` nodes of the sub-graph (the text), its
    ``seeds``, or a number of them drawn at random. ``projection``: width of the projection head's hidden
    layer, 0 for no head; out of it come rows as wide as those that go in."""

    temperature: float = Field(0.1, ge=0.005, le=10)
    contrast: Literal["all", "seeds"] | Annotated[int, Field(ge=2, strict=True)] = "all"
    projection: int = Field(256, ge=0)


@dataclass(eq=False)
class ContrastBatch:
    """Two views of one sub-graph and the rows [n] that are contrasted (None: all)."""

    first: View
    second: View
    rows: Tensor | None


class MINSG(PretextTask):
    """A node's embeddings in two views attract; those of different nodes repel (InfoNCE). With views of different
    rates, the whole graph and all its nodes contrasted this is GRACE (Zhu et al., 2020)."""

    name: ClassVar[str] = "mi_nsg"
    Settings: ClassVar[type[TaskSettings]] = MINSGSettings

    def __init__(self, settings: MINSGSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        p = settings.projection
        self.head = nn.Sequential(nn.Linear(width, p), nn.ELU(), nn.Linear(p, width)) if p else nn.Identity()

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> ContrastBatch:
        s: MINSGSettings = self.settings
        subgraph, first, second = s.draw(graph, generator)
        rows = None
        if s.contrast == "seeds":
            rows = subgraph.seeds
        elif isinstance(s.contrast, int) and s.contrast < subgraph.num_nodes:
            order = torch.randperm(subgraph.num_nodes, generator=generator, device=graph.device)
            rows = order[: s.contrast]
        return ContrastBatch(first, second, rows)

    def loss(self, encoder: nn.Module, batch: ContrastBatch) -> Tensor:
        z1, z2 = encoder(batch.first), encoder(batch.second)
        if batch.rows is not None:
            z1, z2 = gather(z1, batch.rows), gather(z2, batch.rows)
        return info_nce(self.head(z1), self.head(z2), self.settings.temperature)
