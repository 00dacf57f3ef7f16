"""The outcome of an evaluation: four scores, their average, and what is needed to repeat them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretognn.downstream.scores import TaskScore

METRICS = {
    "node_classification": "accuracy",
    "node_clustering": "nmi",
    "link_prediction": "auc",
    "partition_prediction": "accuracy",
}
ALL = tuple(METRICS)


@dataclass(frozen=True)
class Evaluation:
    """Scores of one set of embeddings.

    tasks : one `TaskScore` for each of the four tasks, in the order of `ALL`.
    seeds : the evaluation seeds. facts : digests, counts and settings, JSON-ready. seconds : per task.
    """

    tasks: dict[str, TaskScore]
    seeds: tuple[int, ...]
    split: str
    facts: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def average(self) -> float | None:
        """Mean of the four tasks' means; None unless all four exist."""
        known = [score.mean for score in self.tasks.values() if score.mean is not None]
        return float(np.mean(known)) if len(known) == len(ALL) else None

    def to_json(self) -> dict[str, Any]:
        """The content of ``evaluation.json``: only finite numbers, None where there is no score."""
        return {
            "tasks": {name: score.to_json() for name, score in self.tasks.items()},
            "average": self.average,
            "evaluation_seeds": list(self.seeds),
            "std_is": "population, over evaluation seeds",
            "split": self.split,
            **self.facts,
            "warnings": list(self.warnings),
            "seconds": self.seconds,
        }
