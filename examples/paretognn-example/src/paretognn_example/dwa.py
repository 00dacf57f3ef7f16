"""Dynamic weight average (Liu, Johns and Davison, 2019): tasks whose loss falls slowly weigh more."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from paretognn.reconcile import Reconciler, ReconcilerSettings, StepContext


class DWASettings(ReconcilerSettings):
    """``temperature``: the larger, the more equal the weights."""

    temperature: float = Field(2.0, gt=0)


class DynamicWeightAverage(Reconciler):
    """Softmax over tasks of L(t-1) / L(t-2) / temperature; they add up to 1."""

    name: ClassVar[str] = "dwa"
    Settings: ClassVar[type[ReconcilerSettings]] = DWASettings

    def __init__(self, settings: ReconcilerSettings | None = None) -> None:
        super().__init__(settings)
        self.losses: list[dict[str, float]] = []  # of the last two steps

    def weights(self, context: StepContext) -> np.ndarray:
        rates = np.ones(len(context.tasks))
        if len(self.losses) == 2:
            before, last = self.losses
            rates = np.array([last.get(task, 1.0) / (before.get(task) or 1.0) for task in context.tasks])
        self.losses = [*self.losses, dict(zip(context.tasks, context.losses.tolist(), strict=True))][-2:]
        scores = rates / self.settings.temperature
        exponentials = np.exp(scores - scores.max())
        return exponentials / exponentials.sum()

    # What is remembered from step to step goes into the checkpoint.
    def state(self) -> dict[str, Any]:
        return {"losses": self.losses}

    def restore(self, state: dict[str, Any]) -> None:
        self.losses = [{str(task): float(loss) for task, loss in losses.items()} for losses in state["losses"]]
