"""Representation decorrelation (RepDecor; appendix B, eq. 19, after CCA-SSG: Zhang et al., 2021)."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.pretext.two_views import TwoViewSettings
from paretognn.sampling import DeviceGraph


class RepDecorSettings(TwoViewSettings):
    """``form``: ``per-view`` (CCA-SSG and the published code) or ``cross`` (the text)."""

    alpha: float = Field(1e-3, ge=0)
    form: Literal["per-view", "cross"] = "per-view"


class RepDecor(PretextTask):
    """Two views of one sub-graph agree node by node, while columns are uncorrelated.

    With Z1, Z2 [M, d] standardised by column (population deviation):
    per-view: |Z1 - Z2|_F^2 / M + alpha (|Z1^T Z1 / M - I|_F^2 + |Z2^T Z2 / M - I|_F^2);
    cross: |Z1 - Z2|_F / sqrt(M) + alpha |Z1^T Z2 / M - I|_F.
    CCA-SSG's loss, -tr(Z1^T Z2) / M + lambda (the same spread), is half of per-view with alpha = 2 lambda, less d.
    """

    name: ClassVar[str] = "rep_decor"
    Settings: ClassVar[type[TaskSettings]] = RepDecorSettings

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> tuple[View, View]:
        _, first, second = self.settings.draw(graph, generator)
        return first, second

    def loss(self, encoder: nn.Module, batch: tuple[View, View]) -> Tensor:
        first, second = (standardise(encoder(view)) for view in batch)
        return decorrelation(first, second, self.settings.alpha, self.settings.form)


def standardise(z: Tensor) -> Tensor:
    """Columns of [M, d] to mean 0 and population deviation 1; a constant column (or one row) gives 0."""
    centred = z - z.mean(0)
    return centred * (centred.square().mean(0) + 1e-8).rsqrt()


def decorrelation(z1: Tensor, z2: Tensor, alpha: float, form: str) -> Tensor:
    """The loss of `RepDecor` for standardised views [M, d]; a scalar."""
    m, d = z1.shape
    identity = torch.eye(d, dtype=z1.dtype, device=z1.device)
    if form == "cross":
        distance = ((z1 - z2).square().sum() / m).clamp(min=1e-12).sqrt()
        spread = (z1.T @ z2 / m - identity).square().sum().clamp(min=1e-12).sqrt()
        return distance + alpha * spread
    spread = (z1.T @ z1 / m - identity).square().sum() + (z2.T @ z2 / m - identity).square().sum()
    return (z1 - z2).square().sum() / m + alpha * spread
