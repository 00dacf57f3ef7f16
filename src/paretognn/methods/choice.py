"""A judge without labels: which smoothing suits a graph.

Two tasks can be set on any graph, since its own edges hold the answers: to tell edges that were left out from pairs
without one, and to tell the parts of a balanced partition. A candidate's score is the mean of its AUC and its accuracy,
with the encoder as it is before training, so that a choice takes seconds. Links that are judged are left out of the
graph that is embedded for them. Node labels are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from paretognn.downstream import LinkSplit, TaskScore, metis_partition, random_split, split_links
from paretognn.downstream.link_prediction import predict_links
from paretognn.downstream.node_classification import classify
from paretognn.downstream.notices import collected
from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError
from paretognn.graph import Graph, Split
from paretognn.training.config import TrainConfig
from paretognn.training.trainer import untrained

SMOOTHINGS = (0, 1, 2, 4, 8)
TOLERANCE = 0.003
"""Differences of scores that mean nothing: about the deviation between splits."""
_SEED = 1
"""Of the partition and the splits: another than the evaluation's."""
_MOST = 10_000
"""Nodes and pairs that a probe is fitted on, tuned on or judged on, each."""


@dataclass(frozen=True)
class Judged:
    """Held-out link AUC and partition accuracy in 0..1, None where the graph is too small for one."""

    smoothing: int
    links: float | None
    parts: float | None

    @property
    def score(self) -> float:
        """The mean of those that are known, 0 without any."""
        known = [each for each in (self.links, self.parts) if each is not None]
        return float(np.mean(known)) if known else 0.0


def judged(graph: Graph, config: TrainConfig, device: str = "cpu") -> list[Judged]:
    """Every one of `SMOOTHINGS` judged on the graph, for the assembly of ``config``."""
    with collected():  # that a graph is small is told where it is evaluated
        judges = [make(graph, config, device) for make in (_links, _parts)]
        return [Judged(smoothing, *(judge(smoothing) for judge in judges)) for smoothing in SMOOTHINGS]


def best_smoothing(candidates: list[Judged]) -> Judged:
    """The least smoothing whose score is within `TOLERANCE` of the highest."""
    enough = max(each.score for each in candidates) - TOLERANCE
    return min((each for each in candidates if each.score >= enough), key=lambda each: each.smoothing)


_Judge = Callable[[int], float | None]


def _links(graph: Graph, config: TrainConfig, device: str) -> _Judge:
    try:
        split = split_links(graph, _SEED)
    except InputError:
        return lambda smoothing: None
    embedded = _Embedded(split.train_graph(graph), config, device)
    few = LinkSplit(*(_some(pairs) for pairs in (split.train, split.val, split.test)))
    return lambda smoothing: _mean(lambda: predict_links(embedded(smoothing), graph, few, [_SEED]))


def _parts(graph: Graph, config: TrainConfig, device: str) -> _Judge:
    parts = metis_partition(graph, seed=_SEED)
    try:
        split = random_split(parts, _SEED)
    except InputError:
        return lambda smoothing: None
    embedded = _Embedded(graph, config, device)
    few = Split(*(_some(nodes) for nodes in (split.train, split.val, split.test)))
    return lambda smoothing: _mean(lambda: classify(embedded(smoothing), parts, [few]))


def _some(rows: np.ndarray) -> np.ndarray:
    """At most `_MOST` rows, drawn at random."""
    if len(rows) <= _MOST:
        return rows
    return rows[np.random.default_rng(_SEED).choice(len(rows), _MOST, replace=False)]


def _mean(run: Callable[[], TaskScore]) -> float | None:
    try:
        return run().mean
    except InputError:
        return None


class _Embedded:
    """Rows of length 1 for a graph, by smoothing; the untrained encoder and the blocks are made once."""

    def __init__(self, graph: Graph, config: TrainConfig, device: str) -> None:
        self.graph, self.made = graph, untrained(graph, config, device)

    def __call__(self, smoothing: int) -> np.ndarray:
        assembly = replace(
            self.made.assembly, settings=self.made.assembly.settings.model_copy(update={"smoothing": smoothing})
        )
        return unit_rows(replace(self.made, assembly=assembly).embed(self.graph), self.graph.num_nodes, "embeddings")
