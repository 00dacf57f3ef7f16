"""Reconcilers that do not look at the gradients: given, equal and random weights."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field, field_validator

from paretognn.errors import InputError
from paretognn.reconcile.base import Reconciler, ReconcilerSettings, StepContext


class WeightedSumSettings(ReconcilerSettings):
    """``weights``: one a task, by its name; they are used as they are, not normalised."""

    weights: dict[str, float] = Field(default_factory=dict)

    @field_validator("weights")
    @classmethod
    def _finite(cls, value: dict[str, float]) -> dict[str, float]:
        for task, weight in value.items():
            if not np.isfinite(weight) or weight < 0:
                raise ValueError(f"the weight of '{task}' must be a finite number, at least 0")
        return value


class WeightedSum(Reconciler):
    """The weighted sum of eq. 1 with given weights; a task that is not named weighs 1."""

    name: ClassVar[str] = "weighted-sum"
    Settings: ClassVar[type[ReconcilerSettings]] = WeightedSumSettings

    def check_tasks(self, tasks: tuple[str, ...]) -> None:
        """InputError where a weight names a task that the run does not have."""
        unknown = [t for t in self.settings.weights if t not in tasks]
        if unknown:
            raise InputError(
                f"reconciler.settings.weights names '{unknown[0]}', which is not one of {', '.join(tasks)}"
            )

    def weights(self, context: StepContext) -> np.ndarray:
        return np.array([self.settings.weights.get(task, 1.0) for task in context.tasks])


class Uniform(Reconciler):
    """Every task weighs 1 / K."""

    name: ClassVar[str] = "uniform"

    def weights(self, context: StepContext) -> np.ndarray:
        k = len(context.tasks)
        return np.full(k, 1.0 / k)


class RandomWeights(Reconciler):
    """A point of the simplex drawn anew at each step: the softmax of normal numbers (Lin et al., 2022)."""

    name: ClassVar[str] = "random"

    def weights(self, context: StepContext) -> np.ndarray:
        normal = np.random.default_rng([context.seed, context.step]).standard_normal(len(context.tasks))
        exponentials = np.exp(normal - normal.max())
        return exponentials / exponentials.sum()
