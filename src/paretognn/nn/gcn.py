"""The encoder of the paper: stacked graph convolutions, each with a norm and a PReLU."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidationInfo, field_validator
from torch import Tensor, nn

from paretognn.nn.encoder import ENCODERS, Encoder, OwnSettings
from paretognn.nn.norm import make_norm
from paretognn.nn.prelu import PReLU
from paretognn.nn.products import Precision, product
from paretognn.nn.view import View


class DiffusionSettings(BaseModel):
    """Personalised PageRank with probability ``teleport`` of a jump back; entries below ``threshold`` are left out."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)
    teleport: float = Field(0.2, ge=0.01, lt=1)
    threshold: float = Field(1e-4, ge=0, lt=1)


Width = Annotated[int, Field(ge=1, lt=2**31)]


class EncoderSettings(BaseModel):
    """The encoder by name and its shape. ``hidden_dims`` has one width a layer; the last is the embedding's.
    ``operators``: one encoder over each, their outputs added; ``diffusion`` says which one that is. ``settings``: those
    of the named encoder alone."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    name: str = "gcn"
    hidden_dims: list[Width] = Field(default=[512, 256], min_length=1)
    norm: Literal["batch", "layer", "none"] = "batch"
    activation: Literal["prelu", "relu", "elu"] = "prelu"
    operators: list[Literal["adjacency", "diffusion"]] = Field(default=["adjacency"], min_length=1)
    diffusion: DiffusionSettings = DiffusionSettings()
    settings: SerializeAsAny[OwnSettings] = Field(default=OwnSettings(), validate_default=True)

    @field_validator("name")
    @classmethod
    def _known(cls, value: str) -> str:
        ENCODERS.find(value)
        return value

    @field_validator("settings", mode="before")
    @classmethod
    def _own(cls, value: Any, info: ValidationInfo) -> Any:
        if "name" not in info.data:
            return OwnSettings()  # the name is at fault
        tree = value.model_dump() if isinstance(value, OwnSettings) else value or {}
        return ENCODERS.find(info.data["name"]).Settings.model_validate(tree)


class GCNSettings(OwnSettings):
    """``precision``: of dense products in training (`bfloat16_matmul`); weights, norms and the embedding of nodes are
    float32 in either."""

    precision: Precision = "float32"


class GCN(Encoder):
    """H^{l+1} = act(norm(A_hat H^l W^l)), A_hat = D^-1/2 (A + I) D^-1/2 (Kipf and Welling, 2017).

    The bias is left out under a batch norm, which would cancel it.
    """

    name: ClassVar[str] = "gcn"
    Settings: ClassVar[type[OwnSettings]] = GCNSettings

    def __init__(self, in_dim: int, settings: EncoderSettings) -> None:
        super().__init__(in_dim, settings)
        dims = [in_dim, *settings.hidden_dims]
        self.out_dim, self.num_layers = dims[-1], len(dims) - 1
        own = settings.settings
        self.product = product(own.precision if isinstance(own, GCNSettings) else "float32")
        biased = settings.norm != "batch"
        self.weights = nn.ParameterList(
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(a, b))) for a, b in pairwise(dims)
        )
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(b)) for b in dims[1:] if biased)
        self.norms = nn.ModuleList(make_norm(settings.norm, b) for b in dims[1:])
        self.activations = nn.ModuleList(_activation(settings.activation) for _ in dims[1:])

    def forward(self, view: View) -> Tensor:
        """Embeddings [n, d] of the view's nodes."""
        h = view.features.convolve(view.adjacency(0), self.weights[0], self.product)
        h = self.finish(h, 0)
        for layer in range(1, self.num_layers):
            h = self.finish(self.convolve(view, layer, h), layer)
        return h

    def convolve(self, view: View, layer: int, h: Tensor) -> Tensor:
        """A_hat h W in the cheaper order."""
        adjacency, weight = view.adjacency(layer), self.weights[layer]
        if weight.shape[1] <= weight.shape[0]:
            return adjacency @ self.product(h, weight)
        return self.product(adjacency @ h, weight)

    def finish(self, h: Tensor, layer: int) -> Tensor:
        """Bias, norm and activation of one layer, [n, d] -> [n, d]."""
        if len(self.biases):
            h = h + self.biases[layer]
        out: Tensor = self.activations[layer](self.norms[layer](h))
        return out


ENCODERS[GCN.name] = GCN


def _activation(name: str) -> nn.Module:
    if name == "prelu":
        return PReLU()
    return nn.ELU() if name == "elu" else nn.ReLU()
