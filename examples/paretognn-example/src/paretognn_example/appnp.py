"""Predict, then propagate (APPNP: Gasteiger, Bojchevski and Günnemann, 2019)."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from pydantic import Field
from torch import Tensor, nn

from paretognn.nn import Encoder, EncoderSettings, OwnSettings, View


class APPNPSettings(OwnSettings):
    """Given as ``encoder.settings``. ``hops`` of propagation, each with probability ``teleport`` of a jump back."""

    hops: int = Field(10, ge=1)
    teleport: float = Field(0.1, gt=0, le=1)


class APPNP(Encoder):
    """Z = MLP(X), then H = (1 - teleport) A_hat H + teleport Z, ``hops`` times from H = Z."""

    name: ClassVar[str] = "appnp"
    Settings: ClassVar[type[OwnSettings]] = APPNPSettings

    def __init__(self, in_dim: int, settings: EncoderSettings) -> None:
        super().__init__(in_dim, settings)
        dims = [in_dim, *settings.hidden_dims]
        layers = [layer for a, b in pairwise(dims) for layer in (nn.Linear(a, b), nn.PReLU())]
        self.perceptron = nn.Sequential(*layers[:-1])
        self.own: APPNPSettings = settings.settings  # type: ignore[assignment]
        self.out_dim, self.num_layers = dims[-1], self.own.hops

    def forward(self, view: View) -> Tensor:
        z = self.perceptron(view.features.dense())
        h = z
        for layer in range(self.own.hops):
            adjacency = view.adjacency(layer)
            # In sampled blocks the rows that go on are the first ones; in a sub-graph they are all.
            h = (1 - self.own.teleport) * (adjacency @ h) + self.own.teleport * z[: adjacency.shape[0]]
        return h
