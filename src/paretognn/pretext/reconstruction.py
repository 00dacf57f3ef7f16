"""Residuals of a linear feature decoder, X_hat = H V^T, without the [M, D] matrix where X is sparse.

|H V^T - X|^2 = <H^T H, V^T V> - 2 <H, X V> + |X|^2 costs M d^2 + D d^2 + nnz(X) d instead of M d D. Near a
good fit the three terms cancel, so below a relative residual of `CANCELS_BELOW` the dense form is used,
in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from paretognn.nn.features import FeatureStore
from paretognn.nn.unit_rows import SHORTEST

CANCELS_BELOW = 1e-2
LENGTH_CANCELS_BELOW = 1e-3
_BLOCK_ENTRIES = 1 << 22


def squared_residual(h: Tensor, decoder: Tensor, features: FeatureStore) -> Tensor:
    """sum_i |V h_i - x_i|^2 for h [M, d], decoder V [D, d] and scaled features of M nodes (a scalar)."""
    if features.dense is None:
        residual: Tensor = _FactoredResidual.apply(h, decoder, features)
        if bool(residual.detach() >= CANCELS_BELOW * features.squared_norms.sum()):
            return residual.to(h.dtype)
    dense: Tensor = _BlockResidual.apply(h, decoder, features)
    return dense


class _FactoredResidual(torch.autograd.Function):
    """The three terms, added up in float64; the gradients use the same small factors again."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, decoder: Tensor, features: FeatureStore) -> Tensor:
        gram_h, gram_v, image = h.T @ h, decoder.T @ decoder, features.times(decoder)
        ctx.save_for_backward(h, decoder, gram_h, gram_v, image)
        ctx.features = features
        fitted = torch.dot(gram_h.double().flatten(), gram_v.double().flatten())
        return fitted - 2 * (h * image).sum(dtype=torch.float64) + features.squared_norms.sum()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        h, decoder, gram_h, gram_v, image = ctx.saved_tensors
        scale = (2 * grads[0]).to(h.dtype)
        grad_h = torch.addmm(image, h, gram_v, beta=-1)
        grad_v = ctx.features.transpose_times(h).neg_().addmm_(decoder, gram_h)
        return grad_h.mul_(scale), grad_v.mul_(scale), None


class _BlockResidual(torch.autograd.Function):
    """The dense form in blocks of rows; gradients are made in the same pass, so no residual is kept."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, decoder: Tensor, features: FeatureStore) -> Tensor:
        block = max(1, _BLOCK_ENTRIES // max(1, len(decoder)))
        grad_h, grad_v = torch.empty_like(h), torch.zeros_like(decoder)
        value = torch.zeros((), dtype=torch.float64, device=h.device)
        for start in range(0, len(h), block):
            rows = slice(start, start + block)
            difference = h[rows] @ decoder.T
            difference -= features.rows(rows)
            value += difference.square().sum(dtype=torch.float64)
            torch.mm(difference, decoder, out=grad_h[rows])
            grad_v.addmm_(difference.T, h[rows])
        ctx.save_for_backward(grad_h, grad_v)
        return value.to(h.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        grad_h, grad_v = ctx.saved_tensors
        return grad_h * (2 * grads[0]), grad_v * (2 * grads[0]), None


class _SquaredLengths(torch.autograd.Function):
    """|V h_i|^2 = h_i^T (V^T V) h_i of every row, float64 [M].

    The terms cancel for rows near the null space of V: those that come out shorter than `LENGTH_CANCELS_BELOW` of
    |V^T V| |h_i|^2 are decoded instead, in float64.
    """

    @staticmethod
    def forward(ctx: Any, h: Tensor, decoder: Tensor) -> Tensor:
        gram = decoder.T @ decoder
        image = h @ gram
        lengths = (image * h).sum(1, dtype=torch.float64)
        least = LENGTH_CANCELS_BELOW * gram.norm() * h.square().sum(1)
        ctx.short = (lengths < least).nonzero().squeeze(1)
        for rows, decoded in _decoded(h, decoder, ctx.short):
            lengths[rows] = decoded.square().sum(1)
        ctx.save_for_backward(h, decoder, image)
        return lengths

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        h, decoder, image = ctx.saved_tensors
        scale = 2 * grads[0][:, None]
        grad_h, scaled = image * scale.to(h.dtype), h * scale.to(h.dtype)
        scaled[ctx.short] = 0
        grad_v = decoder @ (h.T @ scaled)
        for rows, decoded in _decoded(h, decoder, ctx.short):
            decoded *= scale[rows]
            grad_h[rows] = (decoded @ decoder.double()).to(h.dtype)
            grad_v += (decoded.T @ h[rows].double()).to(h.dtype)
        return grad_h, grad_v


def _decoded(h: Tensor, decoder: Tensor, rows: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Some of ``rows``, and V h_i of these in float64 [., D], until all were there."""
    for some in rows.split(max(1, _BLOCK_ENTRIES // max(1, len(decoder)))) if len(rows) else ():
        yield some, h[some].double() @ decoder.double().T


def cosines(h: Tensor, decoder: Tensor, features: FeatureStore) -> Tensor:
    """cos(V h_i, x_i) for every row, [M]; 0 where either is a zero vector, without a gradient there (`unit_rows`)."""
    norm: Tensor = _SquaredLengths.apply(h, decoder)
    dot = (h.double() * features.times(decoder).double()).sum(1)
    square = features.squared_norms
    known = (norm >= SHORTEST**2) & (square > 0)
    scale = torch.where(known, norm * square, 1.0).sqrt()
    return torch.where(known, dot / scale, 0.0).clamp(-1, 1).to(h.dtype)
