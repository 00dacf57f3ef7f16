"""What a reconciler is: a step's Gram matrix and losses in, one weight a task out. It knows no task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict
from torch import Tensor

from paretognn.sampling import Sampler

Criterion = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Embeddings [n, d] of a sub-graph and its entries (source, target; int64 [E]) -> a scalar."""
Alignment = Callable[[Criterion, Sampler], np.ndarray]


class ReconcilerSettings(BaseModel):
    """Settings of one reconciler; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True)
class StepContext:
    """What a reconciler may look at: only tasks whose shared gradient is not zero are in it.

    tasks : their names. gram : float64 [K, K], of the (normalised) gradients. losses : float64 [K].
    step : optimiser steps done before this one. seed : the run's seed.
    alignment : for the few that look at embeddings: the inner product of the gradient of a criterion, taken on a clean
        sub-graph, with each task's gradient, float64 [K]. It costs a pass of the encoder.
    """

    tasks: tuple[str, ...]
    gram: np.ndarray
    losses: np.ndarray
    step: int
    seed: int
    alignment: Alignment


class Reconciler:
    """Maps a `StepContext` to weights float64 [K].

    What it remembers from step to step goes through `state` and `restore` into the checkpoint. ``raw_only``: it needs
    the gradients as they are, not divided by anything.
    """

    name: ClassVar[str]
    raw_only: ClassVar[bool] = False
    Settings: ClassVar[type[ReconcilerSettings]] = ReconcilerSettings

    def __init__(self, settings: ReconcilerSettings | None = None) -> None:
        self.settings: Any = settings if settings is not None else self.Settings()

    @classmethod
    def require(cls) -> None:
        """InputError where a package that it needs is not installed; asked before a run is started."""

    def check_tasks(self, tasks: tuple[str, ...]) -> None:
        """InputError where the settings do not fit the run's tasks; asked once, before the first step."""

    def weights(self, context: StepContext) -> np.ndarray:
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """JSON-ready."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of `state`; AttributeError, KeyError, TypeError or ValueError where it is another's."""
