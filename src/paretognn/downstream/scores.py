"""What one downstream task scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class TaskScore:
    """Scores in [0, 1] of one task, one for each evaluation seed; or the reason why there are none.

    details : further JSON-ready facts, such as the values of C that were chosen.
    """

    metric: str
    per_seed: tuple[float, ...] = ()
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, metric: str, scores: Sequence[float], **details: Any) -> TaskScore:
        return cls(metric, tuple(float(score) for score in scores), details=details)

    @property
    def mean(self) -> float | None:
        return float(np.mean(self.per_seed)) if self.per_seed else None

    @property
    def std(self) -> float | None:
        """Population standard deviation over the evaluation seeds (``numpy.std``); 0 for one seed."""
        return float(np.std(self.per_seed)) if self.per_seed else None

    def to_json(self) -> dict[str, Any]:
        scores = {"metric": self.metric, "mean": self.mean, "std": self.std, "per_seed": list(self.per_seed)}
        return scores | ({} if self.reason is None else {"reason": self.reason}) | dict(self.details)
