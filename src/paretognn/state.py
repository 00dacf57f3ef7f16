"""Numbers out of a state that was kept as JSON."""

from __future__ import annotations

import math
from typing import Any


def finite(value: Any) -> float:
    """``value`` as a float; TypeError or ValueError where it is no number, or NaN or infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    if not math.isfinite(value):
        raise ValueError(f"{value!r} is not finite")
    return float(value)


def finite_by_name(values: Any) -> dict[str, float]:
    """A mapping of names to such numbers; TypeError or ValueError for anything else."""
    if not isinstance(values, dict):
        raise TypeError("no mapping")
    return {str(name): finite(value) for name, value in values.items()}
