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
        if not self.training:
            return (x - self.mean) * (self.weight * (self.var + EPS).rsqrt()) + self.bias
        out: Tensor = _Standardise.apply(x)
        return out * self.weight + self.bias

    @torch.no_grad()
    def calibrate(self, x: Tensor) -> None:
        """Store mean and population variance of ``x`` [N, d] (accumulated in float64)."""
        mean, var = x.new_zeros(x.shape[1], dtype=torch.float64), x.new_zeros(x.shape[1], dtype=torch.float64)
        for block in x.split(65536):
            mean += block.double().sum(0)
        mean /= len(x)
        for block in x.split(65536):
            var += (block.double() - mean).square_().sum(0)
        self.mean.copy_(mean)
        self.var.copy_(var / len(x))


class _Standardise(torch.autograd.Function):
    """(x - mean) / sqrt(var + eps) by column. One row, or a constant column, gives 0 and a zero gradient.

    Written out because torch's kernel for [M, d] on a CPU takes several times longer.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        out = x - x.mean(0)
        inverse = (out.square().mean(0) + EPS).rsqrt_()
        out *= inverse
        ctx.save_for_backward(out, inverse)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        out, inverse = ctx.saved_tensors
        grad = grads[0]
        result = grad - grad.mean(0)
        result -= out * (grad * out).mean(0)
        result *= inverse
        return result


def make_norm(kind: str, width: int) -> nn.Module:
    """``batch``, ``layer`` or ``none``."""
    if kind == "batch":
        return BatchNorm(width)
    if kind == "layer":
        return nn.LayerNorm(width)
    return nn.Identity()
