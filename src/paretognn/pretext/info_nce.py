"""InfoNCE over two views in memory that grows with the nodes, not with their square.

Stack the normalised views as W = [Z1; Z2], [2n, d]. The two intra-view sums without the node itself and the
two inter-view sums are then the off-diagonal row sums of one symmetric matrix exp(W W^T / tau), so each
block above the diagonal is computed once and serves its rows and its columns. The backward pass needs the
same blocks: they are kept where they fit the budget and computed again where not.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

KEEP_BYTES = 1 << 30
"""Exponentials of one loss that are kept for the backward pass; above it blocks are computed again."""

_BLOCK = 1024
_FLOAT32_FROM = 0.025
"""Temperatures below it underflow float32 (exp(-2 / tau)); they are computed in float64."""


def info_nce(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    """Symmetric InfoNCE (eq. 21 without the node itself among its negatives, as in GRACE and NT-Xent).

    first, second : [n, d] embeddings of the same nodes in two views; rows need not be normalised.
    Returns the mean over both views' 2n anchors of
    log(sum over the other 2n - 1 rows of exp(cos / tau)) - cos(positive) / tau.
    """
    dtype = first.dtype
    if temperature < _FLOAT32_FROM:
        first, second = first.double(), second.double()
    first, second = F.normalize(first, dim=1, eps=1e-6), F.normalize(second, dim=1, eps=1e-6)
    partition: Tensor = _MeanLogPartition.apply(torch.cat([first, second]), temperature)
    return (partition - (first * second).sum(1).mean() / temperature).to(dtype)


class _MeanLogPartition(torch.autograd.Function):
    """mean_i log sum_{j != i} exp(w_i . w_j / tau) for rows of norm at most 1, by symmetric blocks."""

    @staticmethod
    def forward(ctx: Any, w: Tensor, temperature: float) -> Tensor:
        count = len(w)
        bounds = [(a, min(a + _BLOCK, count)) for a in range(0, count, _BLOCK)]
        keep = w.requires_grad and count * count * w.element_size() // 2 <= KEEP_BYTES
        sums = w.new_zeros(count)
        kept: list[Tensor] = []
        for i, a in enumerate(bounds):
            for b in bounds[i:]:
                block = _exponentials(w, a, b, temperature)
                sums[a[0] : a[1]] += block.sum(1)
                if a != b:
                    sums[b[0] : b[1]] += block.sum(0)
                if keep:
                    kept.append(block)
        ctx.save_for_backward(w, sums)
        ctx.kept, ctx.bounds, ctx.temperature = kept, bounds, temperature
        return sums.log().mean() + 1.0 / temperature

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        w, sums = ctx.saved_tensors
        inverse = sums.reciprocal()
        grad = torch.zeros_like(w)
        kept = iter(ctx.kept)
        for i, a in enumerate(ctx.bounds):
            for b in ctx.bounds[i:]:
                block = next(kept, None)
                block = _exponentials(w, a, b, ctx.temperature) if block is None else block
                rows, columns = slice(*a), slice(*b)
                block *= inverse[rows, None] + inverse[None, columns]
                grad[rows].addmm_(block, w[columns])
                if a != b:
                    grad[columns].addmm_(block.T, w[rows])
        ctx.kept = []
        return grad * (grads[0] / (len(w) * ctx.temperature)), None


def _exponentials(w: Tensor, a: tuple[int, int], b: tuple[int, int], temperature: float) -> Tensor:
    """exp((w_i . w_j - 1) / tau) for one block, 0 on the diagonal."""
    block = w[a[0] : a[1]] @ w[b[0] : b[1]].T
    block.sub_(1.0).mul_(1.0 / temperature).exp_()
    if a == b:
        block.fill_diagonal_(0.0)
    return block
