"""What an encoder is: a view in, an embedding of every node of it out."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from paretognn.nn.view import View
from paretognn.registry import Registry


class OwnSettings(BaseModel):
    """Settings of one encoder beside those that all have; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Encoder(nn.Module):
    """An encoder by name. A subclass states ``name``, perhaps its ``Settings``, and `forward`.

    It is made with the number D of features and the run's `EncoderSettings`, whose ``settings`` are its own; its
    parameters are drawn from torch's global stream, which is seeded. It sets ``out_dim``, the width d of the
    embeddings, to the last of ``hidden_dims``, and ``num_layers``, the hops that it sees.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[OwnSettings]] = OwnSettings
    out_dim: int
    num_layers: int

    def __init__(self, in_dim: int, settings: Any) -> None:
        super().__init__()

    def forward(self, view: View) -> Tensor:
        """Embeddings [n, d] of the view's `View.num_rows` nodes."""
        raise NotImplementedError


ENCODERS: Registry[type[Encoder]] = Registry("encoder", "encoders", Encoder, ())
"""By name; the house's own stand in the file of their class."""
