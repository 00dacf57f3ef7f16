"""Reconcilers: from the tasks' gradients to one step."""

from paretognn.reconcile.base import Reconciler, ReconcilerSettings, StepContext
from paretognn.reconcile.fixed import RandomWeights, Uniform, WeightedSum
from paretognn.reconcile.frank_wolfe import frank_wolfe_weights
from paretognn.reconcile.mgda import MGDA, MGDAFrankWolfe
from paretognn.reconcile.min_norm import min_norm_weights
from paretognn.reconcile.pareto_mtl import ParetoMTL
from paretognn.reconcile.pseudo_homophily import PseudoHomophily, pseudo_homophily
from paretognn.reconcile.torchjd import TORCHJD
from paretognn.registry import Registry

_OWN: tuple[type[Reconciler], ...] = (
    MGDA,
    MGDAFrankWolfe,
    WeightedSum,
    Uniform,
    RandomWeights,
    ParetoMTL,
    PseudoHomophily,
)
RECONCILERS: Registry[type[Reconciler]] = Registry(
    "reconciler", "reconcilers", Reconciler, ((reconciler.name, reconciler) for reconciler in (*_OWN, *TORCHJD))
)


def reconciler_class(name: str) -> type[Reconciler]:
    """The reconciler of that name; `InputError` with the nearest name where there is none."""
    return RECONCILERS.find(name)


__all__ = [
    "MGDA",
    "RECONCILERS",
    "TORCHJD",
    "MGDAFrankWolfe",
    "ParetoMTL",
    "PseudoHomophily",
    "RandomWeights",
    "Reconciler",
    "ReconcilerSettings",
    "StepContext",
    "Uniform",
    "WeightedSum",
    "frank_wolfe_weights",
    "min_norm_weights",
    "pseudo_homophily",
    "reconciler_class",
]
