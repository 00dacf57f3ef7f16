"""Rows of length 1, for cosines."""

from __future__ import annotations

import torch
from torch import Tensor

SHORTEST = 1e-6
"""A row shorter than this has no direction."""


def unit_rows(x: Tensor) -> Tensor:
    """Rows of [M, d] divided by their length. A row shorter than `SHORTEST` gives zeros, without a gradient: that of a
    quotient would be a million times the one that comes in, and say nothing."""
    length = x.norm(dim=1, keepdim=True)
    short = length < SHORTEST
    return torch.where(short, 0.0, x / torch.where(short, 1.0, length))
