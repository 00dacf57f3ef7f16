"""Several graph convolutional encoders side by side, each over an operator of its own; their outputs are added."""

from __future__ import annotations

from torch import Tensor, nn

from paretognn.nn.gcn import GCN, DiffusionSettings, EncoderSettings
from paretognn.nn.view import View


class BranchedGCN(nn.Module):
    """One `GCN` for each of ``settings.operators``, by its name in ``branches``; a node's embedding is the sum of
    theirs (MVGRL). A view has one operator, so a pretext task encodes with the branches, not with the whole."""

    def __init__(self, in_dim: int, settings: EncoderSettings) -> None:
        super().__init__()
        self.out_dim = settings.hidden_dims[-1]
        self.diffusion: DiffusionSettings = settings.diffusion
        self.branches = nn.ModuleDict({operator: GCN(in_dim, settings) for operator in settings.operators})

    def forward(self, view: View) -> Tensor:
        raise NotImplementedError("encode with one of its branches")
