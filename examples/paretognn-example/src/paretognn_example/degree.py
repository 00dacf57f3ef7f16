"""Predict a node's degree from its embedding (NodeProperty: Jin et al., 2020)."""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from paretognn.nn import View
from paretognn.pretext import PretextTask, TaskSettings
from paretognn.sampling import AnySampler, Augmentation, DeviceGraph, SamplerSettings, augment


class DegreeSettings(TaskSettings):
    """``edge_drop``: the share of edges that the encoder does not see; the degree is that in the whole graph."""

    sampler: AnySampler = SamplerSettings()
    edge_drop: float = Field(0.2, ge=0, lt=1)


class Degree(PretextTask):
    """Mean squared error of a linear head's log(1 + degree)."""

    name: ClassVar[str] = "degree"  # that of the entry point
    Settings: ClassVar[type[TaskSettings]] = DegreeSettings

    def __init__(self, settings: DegreeSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        self.head = nn.Linear(width, 1)

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> tuple[View, Tensor]:
        # All that is random comes from the generator, so that a resumed run ends where an uninterrupted one does.
        subgraph = self.settings.sampler.sample(graph, generator)
        view = augment(subgraph, Augmentation(edge_drop=self.settings.edge_drop), generator)
        return view, graph.degrees(subgraph.nodes).float().log1p()

    def loss(self, encoder: nn.Module, batch: tuple[View, Tensor]) -> Tensor:
        view, target = batch
        return F.mse_loss(self.head(encoder(view)).squeeze(1), target)
