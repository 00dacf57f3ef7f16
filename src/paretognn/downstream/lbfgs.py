"""Limited-memory BFGS directions for many independent problems of equal shape at once."""

from __future__ import annotations

import torch
from torch import Tensor


class BatchedMemory:
    """The last ``size`` steps of B problems with p parameters each.

    inverse : [B, p] diagonal first guess of the inverse Hessians; the newest step rescales it, per problem.
    """

    def __init__(self, inverse: Tensor, size: int = 10) -> None:
        self._inverse = inverse
        self._size = size
        self._pairs: list[tuple[Tensor, Tensor, Tensor]] = []

    def add(self, step: Tensor, change: Tensor) -> None:
        """Remember steps and the changes of the gradient along them, both [B, p]."""
        product = (step * change).sum(1, keepdim=True)
        # A problem that did not move, or moved within rounding, learns nothing from this pair.
        reciprocal = torch.where(product > 0, 1 / product, torch.zeros_like(product))
        self._pairs = [*self._pairs[-self._size + 1 :], (step, change, reciprocal)]

    def keep(self, problems: Tensor) -> None:
        """Forget the problems outside the boolean mask [B]."""
        self._inverse = self._inverse[problems]
        self._pairs = [(s[problems], y[problems], r[problems]) for s, y, r in self._pairs]

    def direction(self, gradient: Tensor) -> Tensor:
        """Descent directions [B, p] by the two-loop recursion (Nocedal and Wright, algorithm 7.4)."""
        q = gradient
        weights: list[Tensor] = []
        for s, y, r in reversed(self._pairs):
            weights.append(r * (s * q).sum(1, keepdim=True))
            q = q - weights[-1] * y
        h = self._inverse * q
        if self._pairs:
            _, y, r = self._pairs[-1]
            curvature = r * (self._inverse * y * y).sum(1, keepdim=True)
            h = torch.where(curvature > 0, h / curvature, h)
        for (s, y, r), w in zip(self._pairs, reversed(weights), strict=True):
            h = h + (w - r * (y * h).sum(1, keepdim=True)) * s
        return -h
