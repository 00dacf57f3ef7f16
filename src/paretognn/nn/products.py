"""The dense product of a layer, with operands of full or of half the bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor

Precision = Literal["float32", "bfloat16"]
Product = Callable[[Tensor, Tensor], Tensor]
"""Of matrices [n, a] and [a, b] -> [n, b]; gradients reach both."""


class _Half(torch.autograd.Function):
    """Operands, forward and backward, are rounded to bfloat16; sums are of float32, and rounded once."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        a, b = a.bfloat16(), b.bfloat16()
        ctx.save_for_backward(a, b)
        return torch.mm(a, b).float()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None]:
        a, b = ctx.saved_tensors
        grad = grads[0].bfloat16()
        first, second = ctx.needs_input_grad
        return (torch.mm(grad, b.T).float() if first else None), (torch.mm(a.T, grad).float() if second else None)


def half(a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` from bfloat16 operands, as float32."""
    product: Tensor = _Half.apply(a, b)
    return product


def product(precision: Precision) -> Product:
    return half if precision == "bfloat16" else torch.matmul
