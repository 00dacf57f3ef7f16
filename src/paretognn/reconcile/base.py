"""What a reconciler is: a step's Gram matrix and losses in, one weight a task out. It knows no task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict


class ReconcilerSettings(BaseModel):
    """Settings of one reconciler; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class StepContext:
    """What a reconciler may look at: only tasks whose shared gradient is not zero are in it.

    tasks : their names. gram : float64 [K, K], of the (normalised) gradients. losses : float64 [K].
    step : optimiser steps done before this one. seed : the run's seed.
    """

    tasks: tuple[str, ...]
    gram: np.ndarray
    losses: np.ndarray
    step: int
    seed: int


class Reconciler:
    """Maps a `StepContext` to weights float64 [K]."""

    name: ClassVar[str]
    Settings: ClassVar[type[ReconcilerSettings]] = ReconcilerSettings

    def __init__(self, settings: ReconcilerSettings | None = None) -> None:
        self.settings: Any = settings if settings is not None else self.Settings()

    def check_tasks(self, tasks: tuple[str, ...]) -> None:
        """InputError where the settings do not fit the run's tasks; asked once, before the first step."""

    def weights(self, context: StepContext) -> np.ndarray:
        raise NotImplementedError
