"""Further gradient weightings, by TorchJD (an extra): all take the Gram matrix and nothing else."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch

from paretognn.errors import InputError
from paretognn.reconcile.base import Reconciler, StepContext

WEIGHTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "pcgrad": ("PCGradWeighting", {}),
    "cagrad": ("CAGradWeighting", {"c": 0.5}),
    "upgrad": ("UPGradWeighting", {}),
    "dualproj": ("DualProjWeighting", {}),
    "aligned-mtl": ("AlignedMTLWeighting", {}),
    "imtl-g": ("IMTLGWeighting", {}),
}
"""Name: TorchJD's class and its arguments (those that it has no default for, as its authors set them)."""


class TorchJD(Reconciler):
    """One of TorchJD's weightings."""

    weighting: ClassVar[str]
    arguments: ClassVar[dict[str, Any]]

    @classmethod
    def require(cls) -> None:
        try:
            _make(cls.weighting, cls.arguments)
        except ImportError:
            raise InputError(
                f"the reconciler '{cls.name}' needs further packages: pip install 'paretognn[torchjd]'"
            ) from None

    def weights(self, context: StepContext) -> np.ndarray:
        state = torch.get_rng_state()
        try:
            # PCGrad takes the tasks in a random order.
            torch.default_generator.manual_seed(context.seed * 1_000_003 + context.step)
            found = _make(self.weighting, self.arguments)(torch.from_numpy(context.gram))
        finally:
            torch.set_rng_state(state)
        return np.asarray(found.numpy(), dtype=np.float64)


def _make(weighting: str, arguments: dict[str, Any]) -> Any:
    from torchjd import aggregation  # an extra

    return getattr(aggregation, weighting)(**arguments)


TORCHJD: tuple[type[TorchJD], ...] = tuple(
    type(weighting, (TorchJD,), {"name": name, "weighting": weighting, "arguments": arguments})
    for name, (weighting, arguments) in WEIGHTINGS.items()
)
