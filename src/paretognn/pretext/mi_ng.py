"""Mutual information between nodes and the whole graph (MI-NG; appendix B, eq. 20, after DGI:
Velickovic et al., 2019)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.sampling import AnySampler, DeviceGraph, SamplerSettings, clean_view


class MINGSettings(TaskSettings):
    """``head``: ``bilinear`` on the sigmoid of the mean (DGI and the published code), or ``linear`` on the
    concatenation (the text), where the graph vector can only be a shared bias."""

    sampler: AnySampler = SamplerSettings()
    head: Literal["bilinear", "linear"] = "bilinear"


class MING(PretextTask):
    """Tell the sub-graph's nodes from those of a copy with shuffled features, given the mean embedding."""

    name: ClassVar[str] = "mi_ng"
    Settings: ClassVar[type[TaskSettings]] = MINGSettings

    def __init__(self, settings: MINGSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        if settings.head == "bilinear":
            self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, width)))
        else:
            self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(2, width)))

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> tuple[View, View]:
        view = clean_view(self.settings.sampler.sample(graph, generator))
        order = torch.randperm(view.num_rows, generator=generator, device=graph.device)
        return view, replace(view, features=view.features.shuffled(order))

    def loss(self, encoder: nn.Module, batch: tuple[View, View]) -> Tensor:
        """Mean binary cross-entropy over the nodes of both copies, from logits."""
        true, false = encoder(batch[0]), encoder(batch[1])
        direction = self._direction(true)
        positive, negative = self._logits(true, direction), self._logits(false, direction)
        return 0.5 * (F.softplus(-positive).mean() + F.softplus(negative).mean())

    def _direction(self, true: Tensor) -> Tensor:
        mean = true.mean(0)
        return self.weight @ torch.sigmoid(mean) if self.settings.head == "bilinear" else mean

    def _logits(self, z: Tensor, direction: Tensor) -> Tensor:
        if self.settings.head == "bilinear":
            return z @ direction
        return z @ self.weight[0] + direction @ self.weight[1]
