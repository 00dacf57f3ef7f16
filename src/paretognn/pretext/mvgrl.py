"""Contrastive multi-view representation learning (MVGRL; Hassani and Khasahmadi, 2020)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from paretognn.nn.branched import BranchedGCN
from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.sampling import AnySampler, DeviceGraph, SamplerSettings, clean_view, diffused


class MVGRLSettings(TaskSettings):
    """``sampler``: the sub-graph whose nodes are told apart (the authors: 2,000 nodes)."""

    sampler: AnySampler = SamplerSettings()


class MVGRL(PretextTask):
    """Two views of a sub-graph, its adjacency and its diffusion, each with an encoder of its own. Tell the nodes of
    each from those of a copy with shuffled features, given the sigmoid of the mean embedding of the other view."""

    name: ClassVar[str] = "mvgrl"
    Settings: ClassVar[type[TaskSettings]] = MVGRLSettings
    operators: ClassVar[tuple[str, ...]] = ("adjacency", "diffusion")

    def __init__(self, settings: MVGRLSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, width)))
        self.bias = nn.Parameter(torch.zeros(()))

    def sample(
        self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator
    ) -> tuple[tuple[View, View], tuple[View, View]]:
        """The two views, and the same two with their features shuffled (by one order)."""
        assert isinstance(encoder, BranchedGCN)
        view = clean_view(self.settings.sampler.sample(graph, generator))
        diffusion = diffused(graph, encoder.diffusion, view.nodes)
        true = view, replace(view, adjacencies=(diffusion,))
        order = torch.randperm(view.num_rows, generator=generator, device=graph.device)
        first, second = (replace(v, features=v.features.shuffled(order)) for v in true)
        return true, (first, second)

    def loss(self, encoder: nn.Module, batch: tuple[tuple[View, View], tuple[View, View]]) -> Tensor:
        """Mean binary cross-entropy over the nodes of both views and both copies, from logits."""
        assert isinstance(encoder, BranchedGCN)
        true, false = (
            [branch(view) for branch, view in zip(encoder.branches.values(), views, strict=True)] for views in batch
        )
        total = true[0].new_zeros(())
        for view, other in ((0, 1), (1, 0)):
            direction = self.weight @ torch.sigmoid(true[other].mean(0))
            total = total + F.softplus(-(true[view] @ direction + self.bias)).mean()
            total = total + F.softplus(false[view] @ direction + self.bias).mean()
        return total / 4
