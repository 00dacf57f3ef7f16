"""Logistic regression for many values of C at once.

The objective is that of scikit-learn's ``LogisticRegression``: C times the sum of the losses plus half the
squared norm of the weights, the intercept free; the softmax loss for three and more classes, the binomial one
for two.

All values of C share one L-BFGS run, so that an iteration is one product [n, d] x [d, B k]. The problem is
solved in the principal axes of the centred features: a rotation leaves the penalty as it is, the free
intercept absorbs the centring, and in these axes a diagonal bounds the Hessian well (Boehning's bound: a
quarter, or half for softmax, of the Gram matrix). More features than rows cost no more than a square matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from paretognn.downstream.lbfgs import BatchedMemory
from paretognn.downstream.notices import notify

TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-5}
"""Norm of the gradient of the mean loss at which a problem counts as solved; times n C where that is below 1,
since scores then are as small as that."""
PROBE_TOLERANCE = 1e-4
"""That of the probes, which is scikit-learn's: to go on to 1e-6 takes two to three times as long, and moves the mean of
ten seeds by a fraction of their deviation (docs/speed.md)."""
SCORES = 2**24
"""Scores (rows x values of C x classes) that are held at once: more are fitted and predicted in parts."""
MAX_ITERATIONS = 2000
MAX_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class LogisticPath:
    """One fitted logistic regression for each value of C.

    C : [B] as given. classes : int64 [k], sorted, those of the training rows.
    coef : [B, k', d] and intercept : [B, k'], where k' is k, or 1 for two classes (as in scikit-learn).
    With a single class, coef and intercept are zeros of k' = 1 and that class is always predicted.
    """

    C: np.ndarray
    classes: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    def decision(self, features: np.ndarray, which: int | slice = slice(None)) -> np.ndarray:
        """Scores [n, B, k'] of features [n, d], for every C or for those that ``which`` selects."""
        which = slice(which, which + 1) if isinstance(which, int) else which
        coef, intercept = self.coef[which], self.intercept[which]
        flat = torch.from_numpy(coef.reshape(-1, coef.shape[2])).to(torch.float32)
        scores = torch.from_numpy(np.ascontiguousarray(features, dtype=np.float32)) @ flat.T
        return scores.numpy().reshape(len(features), *intercept.shape) + intercept

    def predict(self, features: np.ndarray, which: int | slice = slice(None)) -> np.ndarray:
        """Classes [n, B] of features [n, d], for every C or for those that ``which`` selects."""
        block = max(1, SCORES // self.intercept.size)
        starts = range(0, max(1, len(features)), block)
        return np.concatenate([self._predict(features[start : start + block], which) for start in starts])

    def _predict(self, features: np.ndarray, which: int | slice) -> np.ndarray:
        scores = self.decision(features, which)
        if len(self.classes) == 1:
            return np.full(scores.shape[:2], self.classes[0])
        if len(self.classes) == 2:
            return self.classes[(scores[:, :, 0] > 0).astype(np.int64)]
        return self.classes[scores.argmax(axis=2)]


def fit_path(
    features: np.ndarray, targets: np.ndarray, C: Sequence[float], tolerance: float | None = None
) -> LogisticPath:
    """Solve for every value of C.

    features : [n, d], float64 or float32: the precision of the solution follows it.
    targets : integer [n]. tolerance : None for `TOLERANCE`.
    """
    values = np.asarray(C, dtype=np.float64)
    classes, codes = np.unique(targets, return_inverse=True)
    outputs = len(classes) if len(classes) > 2 else 1
    if len(classes) == 1:
        return LogisticPath(values, classes, np.zeros((len(values), 1, features.shape[1])), np.zeros((len(values), 1)))
    x = torch.from_numpy(np.ascontiguousarray(features))
    mean = x.mean(0)
    axes, design, spread = _principal_axes(x - mean)
    groups = torch.from_numpy(values).to(x.dtype).split(max(1, SCORES // (len(x) * outputs)))
    limit = TOLERANCE[x.dtype] if tolerance is None else tolerance
    solvers = (_Solver(design, torch.from_numpy(codes), outputs, spread, group, limit) for group in groups)
    theta = torch.cat([solver.solve() for solver in solvers])
    coef = theta[:, :, :-1].double() @ axes.double().T
    intercept = theta[:, :, -1].double() - coef @ mean.double()
    return LogisticPath(values, classes, coef.numpy(), intercept.numpy())


def _principal_axes(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Orthonormal axes [d, r]; coordinates [n, r + 1], the last column ones; their squared lengths [r]."""
    span = None
    if x.shape[1] > x.shape[0]:
        span = torch.linalg.qr(x.T).Q
        x = x @ span
    spread, axes = torch.linalg.eigh((x.T @ x).double())
    axes = axes.to(x.dtype)
    design = torch.cat([x @ axes, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    return axes if span is None else span @ axes, design, spread.clamp_min(0).to(x.dtype)


class _Solver:
    """Batched L-BFGS on the mean loss plus ``|w|^2 / (2 n C)``."""

    def __init__(
        self, design: Tensor, targets: Tensor, outputs: int, spread: Tensor, C: Tensor, tolerance: float
    ) -> None:
        self.design, self.targets, self.outputs = design, targets, outputs
        onehot = targets[:, None] if outputs == 1 else torch.nn.functional.one_hot(targets, outputs)
        self.onehot = onehot.to(design.dtype)
        rows, self.width = design.shape
        penalty = (1 / (C * rows))[:, None].repeat(1, self.width)
        penalty[:, -1] = 0
        bound = 0.25 if outputs == 1 else 0.5
        curvature = bound * torch.cat([spread / rows, spread.new_ones(1)]) + penalty
        self.penalty = penalty.repeat(1, outputs)
        self.inverse = 1 / curvature.repeat(1, outputs)
        self.tolerance = tolerance * (C * rows).clamp_max(1)
        self.rounding = torch.finfo(design.dtype).eps

    def scores(self, theta: Tensor) -> Tensor:
        """[n, B, k'] for parameters [B, p]."""
        return (self.design @ theta.view(-1, self.width).T).view(len(self.design), len(theta), self.outputs)

    def value(self, scores: Tensor, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Objective [B] in float64, and the log normaliser of every row [n, B, 1], which `gradient` takes."""
        if self.outputs == 1:
            normaliser = torch.nn.functional.softplus(scores)
            own = scores * self.targets[:, None, None]
        else:
            normaliser = torch.logsumexp(scores, 2, keepdim=True)
            own = scores.gather(2, self.targets[:, None, None].expand(-1, scores.shape[1], 1))
        losses = (normaliser - own).squeeze(2)
        return losses.double().mean(0) + 0.5 * (self.penalty * theta**2).double().sum(1), normaliser

    def gradient(self, scores: Tensor, normaliser: Tensor, theta: Tensor) -> Tensor:
        """[B, p]."""
        residual = (scores - normaliser).exp_().sub_(self.onehot[:, None, :]).view(len(scores), -1)
        # This order of the product, not its transpose: ten times faster with few columns on many rows.
        return (residual.T @ self.design).div_(len(scores)).view(theta.shape) + self.penalty * theta

    def solve(self) -> Tensor:
        """Parameters [B, k', r + 1], the intercept last."""
        problems = len(self.penalty)
        theta = torch.zeros_like(self.penalty)
        solution = theta.clone()
        active = torch.arange(problems)
        memory = BatchedMemory(self.inverse)
        scores = self.scores(theta)
        value, normaliser = self.value(scores, theta)
        gradient = self.gradient(scores, normaliser, theta)
        stalled = torch.zeros(problems, dtype=torch.bool)
        for _ in range(MAX_ITERATIONS):
            done = stalled | (gradient.norm(dim=1) <= self.tolerance)
            solution[active[done]] = theta[done]
            if done.any():
                left = ~done
                if not left.any():
                    break
                active, theta, gradient, value = active[left], theta[left], gradient[left], value[left]
                scores, self.penalty, self.tolerance = scores[:, left], self.penalty[left], self.tolerance[left]
                memory.keep(left)
            direction = memory.direction(gradient)
            slope = (direction * gradient).double().sum(1)
            # Scores are linear in the parameters, so the line search needs no further product.
            along = self.scores(direction)
            step = torch.ones_like(value)
            for _ in range(MAX_HALVINGS):
                size = step.to(theta.dtype)
                moved, moved_scores = theta + size[:, None] * direction, scores + size[None, :, None] * along
                moved_value, normaliser = self.value(moved_scores, moved)
                # Near the solution the decrease is below the rounding of the value.
                short = moved_value <= value + 1e-4 * step * slope + self.rounding * value
                if short.all():
                    break
                step = torch.where(short, step, step / 2)
            moved_gradient = self.gradient(moved_scores, normaliser, moved)
            stalled = ~short
            memory.add(moved - theta, moved_gradient - gradient)
            theta, scores, value, gradient = moved, moved_scores, moved_value, moved_gradient
        else:
            solution[active] = theta
            notify(f"logistic regression: {len(active)} value(s) of C did not converge in {MAX_ITERATIONS} steps")
        return solution.view(problems, self.outputs, self.width)
