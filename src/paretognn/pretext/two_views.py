"""Settings of the tasks that compare two augmented views of one sub-graph."""

from __future__ import annotations

from typing import Annotated

import torch
from pydantic import Field

from paretognn.nn.view import View
from paretognn.pretext.base import TaskSettings
from paretognn.sampling import AnySampler, Augmentation, DeviceGraph, SamplerSettings, Subgraph, augment

Probability = Annotated[float, Field(ge=0, lt=1)]
Rate = Probability | tuple[Probability, Probability]
"""A probability for both views, or one for each."""


class TwoViewSettings(TaskSettings):
    """Probabilities that an edge is dropped, a feature column masked, a node dropped: one, or one for each view."""

    sampler: AnySampler = SamplerSettings()
    edge_drop: Rate = 0.2
    feature_mask: Rate = 0.2
    node_drop: Rate = 0.0

    def draw(self, graph: DeviceGraph, generator: torch.Generator) -> tuple[Subgraph, View, View]:
        """A sub-graph and two augmentations of it, row by row the same nodes."""
        subgraph = self.sampler.sample(graph, generator)
        first, second = (augment(subgraph, self._changes(view), generator) for view in (0, 1))
        return subgraph, first, second

    def _changes(self, view: int) -> Augmentation:
        rates = {"edge_drop": self.edge_drop, "feature_mask": self.feature_mask, "node_drop": self.node_drop}
        return Augmentation(**{k: r[view] if isinstance(r, tuple) else r for k, r in rates.items()})
