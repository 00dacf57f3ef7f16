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

from paretognn.nn.unit_rows import unit_rows

KEEP_BYTES = 3 << 28
"""Exponentials of one loss that are kept for the backward pass; blocks beyond it are computed again."""

_BLOCK = {"cpu": 1024, "cuda": 8192}
"""Rows of a block. On a CPU one block and the rows it multiplies stay in the cache."""
_FLOAT32_FROM = 0.025
"""Temperatures from which exp(1 / tau) and its inverse are sure numbers in float32; below, float64 is used."""


def info_nce(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    """Symmetric InfoNCE (eq. 21 without the node itself among its negatives, as in GRACE and NT-Xent).

    first, second : [n, d] embeddings of the same nodes in two views; rows need not be normalised.
    Returns the mean over both views' 2n anchors of
    log(sum over the other 2n - 1 rows of exp(cos / tau)) - cos(positive) / tau.
    """
    dtype = first.dtype
    if temperature < _FLOAT32_FROM:
        first, second = first.double(), second.double()
    first, second = unit_rows(first), unit_rows(second)
    partition: Tensor = _MeanLogPartition.apply(torch.cat([first, second]), temperature)
    return (partition - (first * second).sum(1).mean() / temperature).to(dtype)


class _MeanLogPartition(torch.autograd.Function):
    """mean_i log sum_{j != i} exp(w_i . w_j / tau) for rows of norm at most 1, by symmetric blocks."""

    @staticmethod
    def forward(ctx: Any, w: Tensor, temperature: float) -> Tensor:
        count = len(w)
        scaled = w * temperature**-0.5
        blocks = _upper_blocks(count, _BLOCK.get(w.device.type, 1024))
        room = KEEP_BYTES // w.element_size() if w.requires_grad else 0
        sums = w.new_zeros(count)
        kept: list[Tensor] = []
        buffer = _buffer(scaled, blocks)
        for rows, columns in blocks:
            size = (rows.stop - rows.start) * (columns.stop - columns.start)
            keep = size <= room
            block = _exponentials(scaled, rows, columns, None if keep else buffer)
            if keep:
                kept.append(block)
                room -= size
            else:
                room = 0
            sums[rows] += block.sum(1)
            if rows != columns:
                sums[columns] += block.sum(0)
        ctx.save_for_backward(scaled, sums)
        ctx.kept, ctx.blocks, ctx.temperature = kept, blocks, temperature
        return sums.log().mean()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        scaled, sums = ctx.saved_tensors
        inverse = sums.reciprocal()
        grad = torch.zeros_like(scaled)
        buffer = _buffer(scaled, ctx.blocks)
        share = torch.empty_like(buffer)
        for place, (rows, columns) in enumerate(ctx.blocks):
            kept = place < len(ctx.kept)
            block = ctx.kept[place] if kept else _exponentials(scaled, rows, columns, buffer)
            both = torch.add(inverse[rows, None], inverse[columns], out=share[: block.numel()].view_as(block))
            block.mul_(both)
            grad[rows].addmm_(block, scaled[columns])
            if rows != columns:
                grad[columns].addmm_(block.T, scaled[rows])
        ctx.kept = []
        return grad * (grads[0] * ctx.temperature**-0.5 / len(scaled)), None


def _upper_blocks(count: int, size: int) -> list[tuple[slice, slice]]:
    """Row and column ranges of the blocks on and above the diagonal."""
    ranges = [slice(a, min(a + size, count)) for a in range(0, count, size)]
    return [(rows, columns) for i, rows in enumerate(ranges) for columns in ranges[i:]]


def _buffer(scaled: Tensor, blocks: list[tuple[slice, slice]]) -> Tensor:
    """Room for the largest block, which is used again and again: fresh memory costs more than the exponentials."""
    first = blocks[0][0] if blocks else slice(0, 0)
    return scaled.new_empty((first.stop - first.start) ** 2)


def _exponentials(scaled: Tensor, rows: slice, columns: slice, buffer: Tensor | None) -> Tensor:
    """exp(w_i . w_j / tau) for one block, 0 on the diagonal."""
    a, b = scaled[rows], scaled[columns].T
    if buffer is None:
        block = a @ b
    else:
        block = torch.mm(a, b, out=buffer[: len(a) * b.shape[1]].view(len(a), b.shape[1]))
    block.exp_()
    if rows == columns:
        block.fill_diagonal_(0.0)
    return block
