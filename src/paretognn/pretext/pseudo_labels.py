"""Classify nodes by labels that the graph itself gives: two of AutoSSL's five tasks (Jin et al., 2022)."""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from paretognn.graph.metis import metis_parts
from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.sampling import AnySampler, DeviceGraph, SamplerSettings, clean_view


class PseudoLabelSettings(TaskSettings):
    """``classes``: clusters or parts."""

    sampler: AnySampler = SamplerSettings()
    classes: int = Field(10, ge=2)


class PseudoLabelTask(PretextTask):
    """A linear layer predicts, from a node's embedding, its pseudo-label; the mean cross-entropy."""

    Settings: ClassVar[type[TaskSettings]] = PseudoLabelSettings
    pseudo_labels: Tensor

    def __init__(self, settings: PseudoLabelSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        self.linear = nn.Linear(width, settings.classes)

    def make_labels(self, graph: DeviceGraph, seed: int) -> Tensor:
        """int64 [N], each below ``classes``."""
        raise NotImplementedError

    def start(self, graph: DeviceGraph, encoder: nn.Module, seed: int) -> None:
        labels = self.make_labels(graph, seed).to(graph.device)
        self.register_buffer("pseudo_labels", labels, persistent=False)

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> View:
        return clean_view(self.settings.sampler.sample(graph, generator))

    def loss(self, encoder: nn.Module, batch: View) -> Tensor:
        labels = self.pseudo_labels if batch.nodes is None else self.pseudo_labels[batch.nodes]
        return F.cross_entropy(self.linear(encoder(batch)), labels)


class FeatureClusters(PseudoLabelTask):
    """The labels are k-means clusters of the features, as the encoder reads them."""

    name: ClassVar[str] = "clu"

    def make_labels(self, graph: DeviceGraph, seed: int) -> Tensor:
        from sklearn.cluster import MiniBatchKMeans  # takes a second to load

        n, classes = graph.num_nodes, min(self.settings.classes, graph.num_nodes)
        k_means = MiniBatchKMeans(classes, random_state=seed % 2**32)
        generator = torch.Generator().manual_seed(seed)
        for _ in range(PASSES):
            order = torch.randperm(n, generator=generator).to(graph.device)
            for chosen in order.split(max(BATCH, classes)):
                if len(chosen) >= classes:
                    k_means.partial_fit(graph.features.take(chosen).rows().cpu().numpy())
        blocks = torch.arange(n, device=graph.device).split(BATCH)
        return torch.cat(
            [torch.from_numpy(k_means.predict(graph.features.take(b).rows().cpu().numpy())).long() for b in blocks]
        )


BATCH, PASSES = 4096, 4
"""Rows that are dense at one time, and how often k-means sees every row."""


class GraphParts(PseudoLabelTask):
    """The labels are the parts of a METIS partition, the same for every seed. With 10 classes they would be those that
    the evaluation's partition prediction asks for."""

    name: ClassVar[str] = "par"

    def make_labels(self, graph: DeviceGraph, seed: int) -> Tensor:
        parts = metis_parts(graph.indptr.cpu().numpy(), graph.indices.cpu().numpy(), self.settings.classes)
        return torch.from_numpy(parts)
