"""Feature reconstruction (FeatRec; appendix B, eq. 15-16, after GraphMAE: Hou et al., 2022)."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from paretognn.nn.sparse import gather
from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.pretext.reconstruction import cosines, squared_residual
from paretognn.sampling import Augmentation, DeviceGraph, SamplerSettings, augment


class FeatRecSettings(TaskSettings):
    """``form``: relative Frobenius residual (text, eq. 16) or GraphMAE's scaled cosine error with exponent
    ``gamma`` (published code). ``masked_input``: what stands for a masked node's features."""

    sampler: SamplerSettings = SamplerSettings()
    node_mask: float = Field(0.5, gt=0, lt=1)
    edge_drop: float = Field(0.35, ge=0, lt=1)
    form: Literal["frobenius", "cosine"] = "frobenius"
    gamma: float = Field(2.0, ge=1)
    masked_input: Literal["token", "zero"] = "token"


class FeatRec(PretextTask):
    """Mask the features of a share of the nodes, encode, zero their rows again, and decode them with one
    linear graph convolution from their neighbours; the loss is taken on the masked nodes."""

    name: ClassVar[str] = "feat_rec"
    Settings: ClassVar[type[TaskSettings]] = FeatRecSettings

    def __init__(self, settings: FeatRecSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        self.decoder = nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_dim, width)))
        self.token = nn.Parameter(torch.zeros(in_dim)) if settings.masked_input == "token" else None

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> View:
        s: FeatRecSettings = self.settings
        view = augment(s.sampler.sample(graph, generator), Augmentation(edge_drop=s.edge_drop), generator)
        masked = torch.rand(view.num_rows, generator=generator, device=graph.device) < s.node_mask
        view.features.row_mask = masked
        return view

    def loss(self, encoder: nn.Module, batch: View) -> Tensor:
        """Scalar: |X_hat - X|_F / |X|_F over the masked rows, or the mean of (1 - cos)^gamma."""
        features, masked = batch.features, batch.features.row_mask
        assert masked is not None
        features.token = self.token
        z = encoder(batch)
        picked = masked.nonzero().squeeze(1)
        targets = features.store.take(picked)
        h = gather(batch.adjacencies[-1] @ z.masked_fill(masked[:, None], 0.0), picked)
        if self.settings.form == "cosine":
            cosine = cosines(h, self.decoder, targets)[targets.squared_norms > 0]
            return (1 - cosine).pow(self.settings.gamma).sum() / max(1, len(cosine))
        total = targets.squared_norms.sum().to(z.dtype)
        inverse = torch.where(total > 0, total.clamp(min=1e-30).reciprocal(), 0.0)
        return (squared_residual(h, self.decoder, targets) * inverse).clamp(min=1e-12).sqrt()
