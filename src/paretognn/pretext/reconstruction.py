"""Residuals of a linear feature decoder, X_hat = H W, without the [M, D] matrix where X is sparse.

|HW - X|^2 = <H^T H, W W^T> - 2 <H, X W^T> + |X|^2 costs M d^2 + D d^2 + nnz(X) d instead of M d D. Near a
good fit the three terms cancel, so below a relative residual of `CANCELS_BELOW` the dense form is used,
in blocks of rows.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from paretognn.nn.features import FeatureStore

CANCELS_BELOW = 1e-2
_BLOCK_ENTRIES = 1 << 22


def squared_residual(h: Tensor, weight: Tensor, store: FeatureStore, nodes: Tensor) -> Tensor:
    """sum_i |h_i W - x_i|^2 for h [M, d], W [d, D] and the scaled features of ``nodes`` [M] (a scalar)."""
    if store.dense is None:
        total = store.squared_norms[nodes].sum()
        residual = _factored(h, weight, store, nodes, total)
        if bool(residual.detach() >= CANCELS_BELOW * total):
            return residual.to(h.dtype)
    dense: Tensor = _BlockResidual.apply(h, weight, store, nodes)
    return dense


def _factored(h: Tensor, weight: Tensor, store: FeatureStore, nodes: Tensor, total: Tensor) -> Tensor:
    gram_h = h.double().T @ h.double()
    gram_w = weight.double() @ weight.double().T
    cross = (h * store.times(weight.T, nodes)).sum(dtype=torch.float64)
    return (gram_h * gram_w).sum() - 2 * cross + total


class _BlockResidual(torch.autograd.Function):
    """The dense form in blocks of rows; gradients are made in the same pass, so no residual is kept."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor, store: FeatureStore, nodes: Tensor) -> Tensor:
        block = max(1, _BLOCK_ENTRIES // max(1, weight.shape[1]))
        grad_h, grad_w = torch.empty_like(h), torch.zeros_like(weight)
        value = torch.zeros((), dtype=torch.float64, device=h.device)
        for start in range(0, len(h), block):
            part = h[start : start + block]
            difference = part @ weight
            difference -= store.rows(nodes[start : start + block])
            value += difference.square().sum(dtype=torch.float64)
            torch.mm(difference, weight.T, out=grad_h[start : start + block])
            grad_w.addmm_(part.T, difference)
        ctx.save_for_backward(grad_h, grad_w)
        return value.to(h.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        grad_h, grad_w = ctx.saved_tensors
        return grad_h * (2 * grads[0]), grad_w * (2 * grads[0]), None, None


def cosines(h: Tensor, weight: Tensor, store: FeatureStore, nodes: Tensor) -> Tensor:
    """cos(h_i W, x_i) for every row, [M]; 0 where either is a zero vector.

    Row by row the norm of h_i W is h_i (W W^T) h_i^T. In float64, since it cancels for rows near the null
    space of W.
    """
    product = h.double() @ (weight.double() @ weight.double().T)
    norm = (product * h.double()).sum(1).clamp(min=0)
    dot = (h.double() * store.times(weight.T, nodes).double()).sum(1)
    target = store.squared_norms[nodes]
    scale = (norm * target).clamp(min=1e-24).sqrt()
    return (dot / scale).clamp(-1, 1).to(h.dtype)
