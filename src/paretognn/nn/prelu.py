"""PReLU with one learned slope (He et al., 2015), its gradient in as few passes as it needs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class PReLU(nn.Module):
    """max(x, 0) + a min(x, 0)."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor([0.25]))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = _PReLU.apply(x, self.slope)
        return out


class _PReLU(torch.autograd.Function):
    """torch's backward writes a slope gradient for every entry before it sums them; a dot product does not."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(x, slope)
        return torch.nn.functional.prelu(x, slope)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        x, slope = ctx.saved_tensors
        grad = grads[0].contiguous()
        below = x.clamp(max=0)
        grad_slope = torch.dot(grad.reshape(-1), below.reshape(-1)).reshape(1)
        factor = torch.where(x > 0, 1.0, slope)
        return factor.mul_(grad), grad_slope
