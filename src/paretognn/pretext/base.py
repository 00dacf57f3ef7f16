"""What a pretext task is: given a graph, an encoder and a random generator, a scalar loss."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from paretognn.sampling import DeviceGraph


class TaskSettings(BaseModel):
    """Settings of one task; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid")


class PretextTask(nn.Module):
    """A self-supervised task with its own head (its parameters) and its own views.

    A subclass states ``name``, its ``Settings``, and the two halves of a step: `sample` draws the views,
    `loss` encodes them. It knows no other task. ``settings`` may be a mapping. in_dim is the number D of
    features, width the number d of embedding dimensions.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[TaskSettings]]

    def __init__(self, settings: TaskSettings, in_dim: int, width: int) -> None:
        super().__init__()
        self.settings: Any = settings

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> Any:
        raise NotImplementedError

    def loss(self, encoder: nn.Module, batch: Any) -> Tensor:
        raise NotImplementedError

    def forward(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> Tensor:
        return self.loss(encoder, self.sample(graph, encoder, generator))
