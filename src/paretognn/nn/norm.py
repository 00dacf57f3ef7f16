"""Batch normalisation whose inference statistics come from the clean training graph.

Every pretext task encodes other views, so running statistics would be those of whatever was encoded last.
Here training uses the statistics of the view; `calibrate` then stores those of the clean graph.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

EPS = 1e-5


class BatchNorm(nn.Module):
    """Normalise columns of [M, d] by mean and variance of the view (training) or of the training graph."""

    mean: Tensor
    var: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("var", torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not len(x):
            return (x - self.mean) * (self.weight * (self.var + EPS).rsqrt()) + self.bias
        out: Tensor = _BatchNorm.apply(x, self.weight, self.bias)
        return out

    @torch.no_grad()
    def calibrate(self, x: Tensor) -> None:
        """Store mean and population variance of ``x`` [N, d] (accumulated in float64)."""
        mean, var = x.new_zeros(x.shape[1], dtype=torch.float64), x.new_zeros(x.shape[1], dtype=torch.float64)
        for block in x.split(8192):
            mean += block.double().sum(0)
        mean /= len(x)
        for block in x.split(8192):
            var += (block.double() - mean).square_().sum(0)
        self.mean.copy_(mean)
        self.var.copy_(var / len(x))


class _BatchNorm(torch.autograd.Function):
    """(x - mean) / sqrt(var + eps) * weight + bias by column. One row, or a constant column, gives the bias
    and a zero gradient.

    torch's kernel multiplies x before it subtracts, which cancels where a mean is large beside its deviation; it is
    given centred columns, which have the same gradient.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        centred = x - x.mean(0)
        out, mean, inverse = torch.native_batch_norm(centred, weight, bias, None, None, True, 0.0, EPS)
        ctx.save_for_backward(centred, weight, mean, inverse)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        centred, weight, mean, inverse = ctx.saved_tensors
        wanted = [True, True, True]
        gradients: tuple[Tensor, Tensor, Tensor] = torch.ops.aten.native_batch_norm_backward(
            grads[0].contiguous(), centred, weight, None, None, mean, inverse, True, EPS, wanted
        )
        return gradients


def make_norm(kind: str, width: int) -> nn.Module:
    """``batch``, ``layer`` or ``none``."""
    if kind == "batch":
        return BatchNorm(width)
    if kind == "layer":
        return nn.LayerNorm(width)
    return nn.Identity()
