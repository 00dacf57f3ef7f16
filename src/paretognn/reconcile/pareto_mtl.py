"""Pareto multi-task learning: towards the Pareto-optimal point that a preference asks for (Lin et al., 2019)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paretognn.errors import InputError
from paretognn.reconcile.base import Reconciler, ReconcilerSettings, StepContext
from paretognn.reconcile.min_norm import min_norm_weights
from paretognn.state import finite_by_name

MARGIN = 1e-3
"""How near its border a constraint counts as broken: with the first losses, those of a preferred task are all on it."""


class ParetoMTLSettings(ReconcilerSettings):
    """``prefer``: the task whose loss shall be the least, relative to its first; None: none far below the others."""

    prefer: str | None = None


class ParetoMTL(Reconciler):
    """Losses relative to their first, as a vector l, are kept in the region of one preference vector among several:
    (u_j - u_prefer) . l <= 0 for all j. The direction is the point of minimum norm among the gradients of l and those
    of the constraints that are broken.

    The paper's vectors point to the loss vectors that are wanted. With K tasks, u_k is proportional to 1 - e_k (the
    loss of k small, the others alike), and the vector of no preference to 1. Relative losses start on the border of a
    task's region and inside that of no preference, so the paper's first phase, which looks for a point of the region,
    is not needed.
    """

    name: ClassVar[str] = "pareto-mtl"
    raw_only: ClassVar[bool] = True
    Settings: ClassVar[type[ReconcilerSettings]] = ParetoMTLSettings

    def __init__(self, settings: ReconcilerSettings | None = None) -> None:
        super().__init__(settings)
        self.first: dict[str, float] = {}

    def check_tasks(self, tasks: tuple[str, ...]) -> None:
        """InputError where the preferred task is not one of the run's."""
        prefer = self.settings.prefer
        if prefer is not None and prefer not in tasks:
            raise InputError(f"reconciler.settings.prefer names '{prefer}', which is not one of {', '.join(tasks)}")

    def weights(self, context: StepContext) -> np.ndarray:
        """Of the gradients as they are. They may be negative; their absolute values sum to K."""
        k = len(context.tasks)
        for task, loss in zip(context.tasks, context.losses, strict=True):
            self.first.setdefault(task, max(abs(float(loss)), 1e-12))
        scale = 1 / np.array([self.first[task] for task in context.tasks])
        rows = np.concatenate([np.eye(k), self._broken_constraints(context.tasks, context.losses * scale)]) * scale
        weights = min_norm_weights(rows @ context.gram @ rows.T) @ rows
        size = np.abs(weights).sum()
        return weights * (k / size) if size > 0 else np.ones(k)

    def _broken_constraints(self, tasks: tuple[str, ...], relative: np.ndarray) -> np.ndarray:
        """Rows u_j - u_prefer [C, K] whose product with the losses, scaled to length 1, is above -`MARGIN`."""
        prefer = self.settings.prefer
        if len(tasks) == 1 or prefer not in (None, *tasks):
            return np.empty((0, len(tasks)))
        vectors = 1 - np.eye(len(tasks))
        wanted = np.ones(len(tasks)) if prefer is None else vectors[tasks.index(prefer)]
        rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) - wanted / np.linalg.norm(wanted)
        broken = rows @ (relative / max(float(np.linalg.norm(relative)), 1e-12)) > -MARGIN
        return rows[broken & rows.any(axis=1)]

    def state(self) -> dict[str, Any]:
        return {"first": self.first}

    def restore(self, state: dict[str, Any]) -> None:
        self.first = finite_by_name(state["first"])
        if min(self.first.values(), default=1.0) <= 0:
            raise ValueError("a first loss is not above 0")
