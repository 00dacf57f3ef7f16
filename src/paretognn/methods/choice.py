"""A judge without labels: how an embedding is put together for a graph.

Two tasks can be set on any graph, since its own edges hold the answers: to tell edges that were left out from pairs
without one, and to tell the parts of a balanced partition. A candidate's score is the mean of its AUC and its accuracy,
with the encoder as it is before training, so that a choice takes seconds. Links that are judged are left out of the
graph that is embedded for them. Node labels are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from paretognn.downstream import LinkSplit, TaskScore, metis_partition, random_split, split_links
from paretognn.downstream.link_prediction import predict_links
from paretognn.downstream.node_classification import classify
from paretognn.downstream.notices import collected
from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError
from paretognn.graph import Graph, Split
from paretognn.training.assembly import AssemblySettings
from paretognn.training.config import TrainConfig
from paretognn.training.trainer import untrained

SMOOTHINGS = (0, 1, 2, 4, 8)
POSITIONS = (0.5, 1.0, 2.0)
"""Lengths of the rows of positions."""
TOLERANCE = 0.003
"""Differences of scores that mean nothing: about the deviation between splits."""
_SEED = 1
"""Of the partition and the splits: another than the evaluation's."""
_MOST = 10_000
"""Nodes and pairs that a probe is fitted on, tuned on or judged on, each."""


@dataclass(frozen=True)
class Judged:
    """A candidate, with its held-out link AUC and its partition accuracy in 0..1, None where the graph is too small."""

    assembly: AssemblySettings
    links: float | None
    parts: float | None

    @property
    def score(self) -> float:
        """The mean of those that are known, 0 without any."""
        known = [each for each in (self.links, self.parts) if each is not None]
        return float(np.mean(known)) if known else 0.0


def choose(graph: Graph, config: TrainConfig, device: str = "cpu") -> tuple[AssemblySettings, list[Judged]]:
    """The assembly that suits the graph, and all candidates that were judged: first those with positions of another
    length, where the assembly of ``config`` has any, then with the best of these those of another smoothing."""
    with collected():  # that a graph is small is told where it is evaluated
        judges = [make(graph, config, device) for make in (_links, _parts)]
    judged: dict[str, Judged] = {}

    def best(candidates: list[AssemblySettings]) -> AssemblySettings:
        for each in candidates:
            if each.model_dump_json() not in judged:
                with collected():
                    judged[each.model_dump_json()] = Judged(each, *(judge(each) for judge in judges))
        return least(judged[each.model_dump_json()] for each in candidates).assembly

    chosen = best([_placed(config.assembly, weight) for weight in POSITIONS])
    chosen = best([chosen.model_copy(update={"smoothing": smoothing}) for smoothing in SMOOTHINGS])
    return chosen, list(judged.values())


def least(candidates: Iterable[Judged]) -> Judged:
    """The first of the candidates, from little to much, whose score is within `TOLERANCE` of the highest."""
    known = list(candidates)
    enough = max(each.score for each in known) - TOLERANCE
    return next(each for each in known if each.score >= enough)


def _placed(assembly: AssemblySettings, weight: float) -> AssemblySettings:
    """With rows of positions of that length."""
    blocks = {
        name: block.model_copy(update={"weight": weight}) if block.source == "positions" else block
        for name, block in assembly.blocks.items()
    }
    return assembly.model_copy(update={"blocks": blocks})


_Judge = Callable[[AssemblySettings], float | None]


def _links(graph: Graph, config: TrainConfig, device: str) -> _Judge:
    try:
        split = split_links(graph, _SEED)
    except InputError:
        return lambda assembly: None
    embedded = _Embedded(split.train_graph(graph), config, device)
    few = LinkSplit(*(_some(pairs) for pairs in (split.train, split.val, split.test)))
    return lambda assembly: _mean(lambda: predict_links(embedded(assembly), graph, few, [_SEED]))


def _parts(graph: Graph, config: TrainConfig, device: str) -> _Judge:
    parts = metis_partition(graph, seed=_SEED)
    try:
        split = random_split(parts, _SEED)
    except InputError:
        return lambda assembly: None
    embedded = _Embedded(graph, config, device)
    few = Split(*(_some(nodes) for nodes in (split.train, split.val, split.test)))
    return lambda assembly: _mean(lambda: classify(embedded(assembly), parts, [few]))


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

    def __call__(self, assembly: AssemblySettings) -> np.ndarray:
        made = replace(self.made, assembly=replace(self.made.assembly, settings=assembly))
        return unit_rows(made.embed(self.graph), self.graph.num_nodes, "embeddings")
