"""What happened in training, from ``metrics.jsonl``, thinned to what a chart can show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

POINTS = 400
"""Windows of steps at most; a chart's point is the mean over one window."""
PHASES = ("first third", "second third", "last third")


@dataclass(frozen=True, eq=False)
class History:
    """Means over windows of steps; W windows, K tasks, P pairs of tasks.

    steps : float [W], the middle of each window. losses, weights, gradient_norms : float [W, K].
    cosines : float [W, P] of the gradients of ``pairs``. combined : float [W], the norm of the step's gradient.
    by_phase : float [3, K, K], mean cosine in each third of the run, 1 on the diagonal.
    opposed : float [P], the share of steps in which the two gradients point against each other.
    stage_seconds : total by stage. seconds : of all steps.
    """

    tasks: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    steps: np.ndarray
    losses: np.ndarray
    weights: np.ndarray
    gradient_norms: np.ndarray
    cosines: np.ndarray
    combined: np.ndarray
    by_phase: np.ndarray
    opposed: np.ndarray
    stage_seconds: dict[str, float]
    seconds: float

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]]) -> History | None:
        """From rows as `read_metrics` gives them; None where there are none. KeyError for rows of another kind."""
        rows = list(rows)
        if not rows:
            return None
        tasks = tuple(rows[0]["losses"])
        pairs = tuple((name.split("|")[0], name.split("|")[1]) for name in rows[0]["cosines"])
        windows = np.array_split(np.arange(len(rows)), min(POINTS, len(rows)))

        def matrix(key: str) -> np.ndarray:
            return np.array([list(row[key].values()) for row in rows], dtype=np.float64).reshape(len(rows), -1)

        def thinned(values: np.ndarray) -> np.ndarray:
            return np.stack([values[window].mean(axis=0) for window in windows])

        cosines = matrix("cosines")
        stages: dict[str, float] = {}
        for row in rows:
            for stage, seconds in row["stage_seconds"].items():
                stages[stage] = stages.get(stage, 0.0) + seconds
        return cls(
            tasks,
            pairs,
            thinned(np.array([row["step"] for row in rows], dtype=np.float64)),
            thinned(matrix("losses")),
            thinned(matrix("weights")),
            thinned(matrix("gradient_norms")),
            thinned(cosines),
            thinned(np.sqrt([row["combined_norm2"] for row in rows])),
            np.stack([_square(part, tasks, pairs) for part in np.array_split(cosines, len(PHASES))]),
            (cosines < 0).mean(axis=0),
            stages,
            float(sum(row["seconds"] for row in rows)),
        )


def _square(cosines: np.ndarray, tasks: tuple[str, ...], pairs: tuple[tuple[str, str], ...]) -> np.ndarray:
    """Mean cosine of every two tasks, [K, K]; NaN where the phase has no step."""
    square = np.eye(len(tasks))
    for column, (a, b) in enumerate(pairs):
        i, j = tasks.index(a), tasks.index(b)
        square[i, j] = square[j, i] = cosines[:, column].mean() if len(cosines) else np.nan
    return square
