"""MGDA: the weights whose combined gradient has the least norm (Desideri, 2012; eq. 3)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from paretognn.reconcile.base import Reconciler, ReconcilerSettings, StepContext
from paretognn.reconcile.frank_wolfe import frank_wolfe_weights
from paretognn.reconcile.min_norm import min_norm_weights


class MGDA(Reconciler):
    """By the exact solver."""

    name: ClassVar[str] = "mgda"

    def weights(self, context: StepContext) -> np.ndarray:
        return min_norm_weights(context.gram)


class FrankWolfeSettings(ReconcilerSettings):
    """xi and gamma of the paper."""

    tolerance: float = Field(1e-5, ge=0)
    max_iterations: int = Field(100, ge=1)


class MGDAFrankWolfe(Reconciler):
    """By the paper's Frank-Wolfe iteration (eq. 5)."""

    name: ClassVar[str] = "mgda-frank-wolfe"
    Settings: ClassVar[type[ReconcilerSettings]] = FrankWolfeSettings

    def weights(self, context: StepContext) -> np.ndarray:
        return frank_wolfe_weights(context.gram, self.settings.tolerance, self.settings.max_iterations)
