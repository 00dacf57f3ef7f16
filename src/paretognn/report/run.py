"""All that a report says of one run, read from its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.methods.judge import kept_partition
from paretognn.report.history import History
from paretognn.sources import run_embeddings
from paretognn.training import RunFolder, TrainConfig
from paretognn.training.cost import StageCost, read_cost
from paretognn.training.metrics import read_metrics


class Score(BaseModel):
    """Of one downstream task: mean and deviation over evaluation seeds, or the reason why there is none."""

    mean: float | None
    std: float | None
    reason: str | None = None


class Scores(BaseModel):
    """By downstream task, and their average."""

    tasks: dict[str, Score]
    average: float | None


class Judgement(Scores):
    """What of ``evaluation.json`` a report shows."""

    controls: dict[str, Scores] = {}
    verdict: str | None = None
    warnings: list[str] = []
    evaluation_seeds: list[int]
    split: str


@dataclass(frozen=True, eq=False)
class ReportRun:
    """name : the folder's. summary : of the graph, as `summarise` made it. judgement : None before the run is
    judged. embeddings : float32 [N, d], rows of length 1 or 0, as they are judged. partition : int [N], by METIS."""

    name: str
    config: TrainConfig
    summary: dict[str, Any]
    graph: Graph
    embeddings: np.ndarray
    partition: np.ndarray
    history: History | None
    judgement: Judgement | None
    cost: dict[str, StageCost]


def read_run(folder: RunFolder) -> ReportRun:
    """Read a finished run. InputError for a folder that is none, or is damaged."""
    config = folder.require_finished().config()
    graph, embeddings = run_embeddings(folder)
    summary = folder.read_json(folder.graph_json).get("summary")
    if not isinstance(summary, dict):
        raise InputError(f"{folder.graph_json}: corrupt (it has no summary of the graph)")
    return ReportRun(
        folder.path.resolve().name,
        config,
        summary,
        graph,
        embeddings,
        kept_partition(folder.path / "partition.npy", graph),
        _history(folder.metrics_file),
        _judgement(folder),
        read_cost(folder),
    )


def _history(path: Path) -> History | None:
    try:
        return History.of(read_metrics(path)) if path.exists() else None
    except (KeyError, AttributeError, TypeError, ValueError, IndexError):
        raise InputError(f"{path}: corrupt (its rows are no metrics)") from None


def _judgement(folder: RunFolder) -> Judgement | None:
    path = folder.evaluation_file
    if not path.exists():
        return None
    try:
        return Judgement.model_validate(folder.read_json(path))
    except ValidationError:
        raise InputError(f"{path}: corrupt (it holds no scores); make it again with: paretognn evaluate") from None
