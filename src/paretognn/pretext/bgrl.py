"""Bootstrapped representation learning on graphs (BGRL; Thakoor et al., 2022)."""

from __future__ import annotations

import copy
import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from paretognn.nn.unit_rows import unit_rows
from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.pretext.two_views import TwoViewSettings
from paretognn.sampling import DeviceGraph


class BGRLSettings(TwoViewSettings):
    """``predictor``: width of the predictor's hidden layer. ``momentum``: of the target's moving average, rising to 1
    as a cosine over ``horizon_steps``."""

    predictor: int = Field(512, ge=1)
    momentum: float = Field(0.99, ge=0, le=1)
    horizon_steps: int = Field(10_000, ge=1)


class BGRL(PretextTask):
    """The encoder predicts, from one view of a node, what a target encoder makes of its other view:
    2 - mean cos(p(z1), t2) - mean cos(p(z2), t1). The target, a moving average of the encoder, gets no gradient."""

    name: ClassVar[str] = "bgrl"
    Settings: ClassVar[type[TaskSettings]] = BGRLSettings

    def __init__(self, settings: BGRLSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        hidden = settings.predictor
        self.predictor = nn.Sequential(nn.Linear(width, hidden), nn.PReLU(), nn.Linear(hidden, width))

    def start(self, graph: DeviceGraph, encoder: nn.Module, seed: int) -> None:
        self.target = copy.deepcopy(encoder).requires_grad_(False)

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> tuple[View, View]:
        _, first, second = self.settings.draw(graph, generator)
        return first, second

    def loss(self, encoder: nn.Module, batch: tuple[View, View]) -> Tensor:
        with torch.no_grad():
            targets = [self.target(view) for view in batch]
        predictions = [self.predictor(encoder(view)) for view in batch]
        return 2 - _mean_cosine(predictions[0], targets[1]) - _mean_cosine(predictions[1], targets[0])

    @torch.no_grad()
    def after_step(self, encoder: nn.Module, done: int) -> None:
        momentum = self.momentum(done)
        for own, new in zip(self.target.parameters(), encoder.parameters(), strict=True):
            own.mul_(momentum).add_(new, alpha=1 - momentum)

    def momentum(self, done: int) -> float:
        """That of step ``done``, from 1."""
        share = min(1.0, (done - 1) / self.settings.horizon_steps)
        return 1 - (1 - self.settings.momentum) * 0.5 * (1 + math.cos(math.pi * share))


def _mean_cosine(a: Tensor, b: Tensor) -> Tensor:
    return (unit_rows(a) * unit_rows(b)).sum(1).mean()
