"""Reconcilers: from the tasks' gradients to one step."""

from paretognn.errors import InputError, suggest
from paretognn.reconcile.base import Reconciler, ReconcilerSettings, StepContext
from paretognn.reconcile.fixed import RandomWeights, Uniform, WeightedSum
from paretognn.reconcile.frank_wolfe import frank_wolfe_weights
from paretognn.reconcile.mgda import MGDA, MGDAFrankWolfe
from paretognn.reconcile.min_norm import min_norm_weights

RECONCILERS: dict[str, type[Reconciler]] = {
    r.name: r for r in (MGDA, MGDAFrankWolfe, WeightedSum, Uniform, RandomWeights)
}


def reconciler_class(name: str) -> type[Reconciler]:
    """The reconciler of that name; `InputError` with the nearest name where there is none."""
    if name not in RECONCILERS:
        raise InputError(f"unknown reconciler '{name}'{suggest(name, RECONCILERS)}; known: {', '.join(RECONCILERS)}")
    return RECONCILERS[name]


__all__ = [
    "MGDA",
    "RECONCILERS",
    "MGDAFrankWolfe",
    "RandomWeights",
    "Reconciler",
    "ReconcilerSettings",
    "StepContext",
    "Uniform",
    "WeightedSum",
    "frank_wolfe_weights",
    "min_norm_weights",
    "reconciler_class",
]
