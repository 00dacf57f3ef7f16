"""The dense product of a layer, in full or in reduced precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

Precision = Literal["float32", "bfloat16"]
Product = Callable[[Tensor, Tensor], Tensor]
"""Of matrices [n, a] and [a, b] -> [n, b]; gradients reach both."""
ROWS = 128
"""Rows are padded to a multiple of so many: on a CPU a kernel is made, and kept, for every number that occurs."""


def bfloat16_matmul(a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` as float32. Operands and result, and so the gradients, are rounded to bfloat16; the sums in between
    are of float32."""
    padded = F.pad(a.bfloat16(), (0, 0, 0, -len(a) % ROWS))
    return (padded @ b.bfloat16())[: len(a)].float()


def product(precision: Precision) -> Product:
    return bfloat16_matmul if precision == "bfloat16" else torch.matmul
