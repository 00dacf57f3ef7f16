"""What a pretext task is: given a graph, an encoder and a random generator, a scalar loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from paretognn.sampling import DeviceGraph


class TaskSettings(BaseModel):
    """Settings of one task; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class PretextTask(nn.Module):
    """A self-supervised task with its own head (its parameters) and its own views.

    A subclass states ``name``, its ``Settings``, and the two halves of a step: `sample` draws the views,
    `loss` encodes them. It knows no other task. in_dim is the number D of
    features, width the number d of embedding dimensions. ``operators`` are those that its encoder must have.

    What a task needs of the whole graph, or a second encoder, it makes in `start`; what moves with the weights, in
    `after_step`.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[TaskSettings]]
    operators: ClassVar[tuple[str, ...]] = ("adjacency",)

    def __init__(self, settings: TaskSettings, in_dim: int, width: int) -> None:
        super().__init__()
        self.settings: Any = settings

    def start(self, graph: DeviceGraph, encoder: nn.Module, seed: int) -> None:
        """Called once, before the first step of a run and before a checkpoint is loaded."""

    def after_step(self, encoder: nn.Module, done: int) -> None:
        """Called when the optimiser has made its step number ``done``."""

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> Any:
        raise NotImplementedError

    def loss(self, encoder: nn.Module, batch: Any) -> Tensor:
        raise NotImplementedError

    def batches(
        self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator
    ) -> Iterator[tuple[float, Any]]:
        """What a step sees: a batch; or, where one would take too much memory, its parts one after another, each with
        the share of its loss in the task's."""
        yield 1.0, self.sample(graph, encoder, generator)

    def forward(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> Tensor:
        return self.loss(encoder, self.sample(graph, encoder, generator))
