"""Feature reconstruction (FeatRec; appendix B, eq. 15-16, after GraphMAE: Hou et al., 2022)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from paretognn.nn.features import FeatureStore
from paretognn.nn.sparse import gather
from paretognn.nn.view import View
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.pretext.reconstruction import cosines, squared_residual
from paretognn.sampling import AnySampler, Augmentation, DeviceGraph, SamplerSettings, augment


class FeatRecSettings(TaskSettings):
    """``form``: relative Frobenius residual (text, eq. 16) or GraphMAE's scaled cosine error with exponent
    ``gamma`` (published code). ``masked_input``: what stands for a masked node's features. ``replace``: the share of
    masked nodes that get another node's features instead. ``bridge``: a linear map between encoder and decoder."""

    sampler: AnySampler = SamplerSettings()
    node_mask: float = Field(0.5, gt=0, lt=1)
    edge_drop: float = Field(0.35, ge=0, lt=1)
    form: Literal["frobenius", "cosine"] = "cosine"
    gamma: float = Field(2.0, ge=1)
    masked_input: Literal["token", "zero"] = "token"
    replace: float = Field(0.0, ge=0, lt=1)
    bridge: bool = False


@dataclass(eq=False)
class MaskedBatch:
    """A view whose nodes ``masked`` (bool [M]) hide their features, and the features that those had."""

    view: View
    masked: Tensor
    picked: Tensor
    targets: FeatureStore


class FeatRec(PretextTask):
    """Mask the features of a share of the nodes, encode, zero their rows again, and decode them with one
    linear graph convolution from their neighbours; the loss is taken on the masked nodes. In the form ``cosine``, with
    ``replace`` and ``bridge``, this is GraphMAE."""

    name: ClassVar[str] = "feat_rec"
    Settings: ClassVar[type[TaskSettings]] = FeatRecSettings

    def __init__(self, settings: FeatRecSettings, in_dim: int, width: int) -> None:
        super().__init__(settings, in_dim, width)
        self.decoder = nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_dim, width)))
        self.token = nn.Parameter(torch.zeros(in_dim)) if settings.masked_input == "token" else None
        self.bridge = nn.Linear(width, width, bias=False) if settings.bridge else None

    def sample(self, graph: DeviceGraph, encoder: nn.Module, generator: torch.Generator) -> MaskedBatch:
        s: FeatRecSettings = self.settings
        view = augment(s.sampler.sample(graph, generator), Augmentation(edge_drop=s.edge_drop), generator)
        masked = torch.rand(view.num_rows, generator=generator, device=graph.device) < s.node_mask
        picked = masked.nonzero().squeeze(1)
        store = view.features.store
        hidden = masked
        if s.replace > 0:
            replaced = masked & (torch.rand(len(masked), generator=generator, device=graph.device) < s.replace)
            other = torch.randint(len(masked), (len(masked),), generator=generator, device=graph.device)
            own = torch.arange(len(masked), device=graph.device)
            view.features = replace(view.features, store=store.take(torch.where(replaced, other, own)))
            hidden = masked & ~replaced
        view.features.row_mask = hidden
        return MaskedBatch(view, masked, picked, store.take(picked))

    def loss(self, encoder: nn.Module, batch: MaskedBatch) -> Tensor:
        """Scalar: |X_hat - X|_F / |X|_F over the masked rows, or the mean of (1 - cos)^gamma."""
        view, targets = batch.view, batch.targets
        view.features.token = self.token
        z = encoder(view)
        h = gather(view.adjacencies[-1] @ z.masked_fill(batch.masked[:, None], 0.0), batch.picked)
        if self.bridge is not None:
            h = self.bridge(h)
        if self.settings.form == "cosine":
            cosine = cosines(h, self.decoder, targets)[targets.squared_norms > 0]
            return (1 - cosine).pow(self.settings.gamma).sum() / max(1, len(cosine))
        total = targets.squared_norms.sum().to(z.dtype)
        inverse = torch.where(total > 0, total.clamp(min=1e-30).reciprocal(), 0.0)
        return (squared_residual(h, self.decoder, targets) * inverse).clamp(min=1e-12).sqrt()
