"""A judge without labels: which of several ways to put an embedding together suits a graph.

Two tasks can be set on any graph, since its own edges hold the answers: to tell edges that were left out from pairs
without one, and to tell the parts of a balanced partition. A candidate's score is the mean of its AUC and its accuracy.
Links that are judged are left out of the graph that is embedded for them; the encoder has seen them in training, for
all candidates alike. Node labels are never looked at. A large graph is judged by a region of it
(`paretognn.graph.region`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from paretognn.downstream import LinkSplit, TaskScore, metis_partition, random_split, split_links
from paretognn.downstream.link_prediction import predict_links
from paretognn.downstream.node_classification import classify
from paretognn.downstream.notices import collected
from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError
from paretognn.graph import Graph, Split
from paretognn.graph.region import walked_region
from paretognn.sampling import DeviceGraph
from paretognn.training.assembly import Assembly, AssemblySettings

TOLERANCE = 0.003
"""Differences of scores that mean nothing: about the deviation between splits."""
_SEED = 1
"""Of the partition and the splits: another than the evaluation's."""
_MOST = 10_000
"""Nodes and pairs that a probe is fitted on, tuned on or judged on, each."""

Encode = Callable[[Graph], tuple[Tensor, DeviceGraph]]
"""A graph's encoded nodes float [N, d], and the graph placed on the device."""


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


def judge(graph: Graph, encode: Encode, candidates: Sequence[AssemblySettings], seed: int) -> list[Judged]:
    """All candidates judged on the training graph; ``seed`` is the run's, for what blocks draw."""
    graph = walked_region(graph, _SEED)
    with collected():  # that a graph is small is told where it is evaluated
        links, parts = _links(graph, encode, seed), _parts(graph, encode, seed)
        return [Judged(each, links(each), parts(each)) for each in candidates]


def least(judged: Iterable[Judged]) -> Judged:
    """The first, from little to much, whose score is within `TOLERANCE` of the highest."""
    known = list(judged)
    enough = max(each.score for each in known) - TOLERANCE
    return next(each for each in known if each.score >= enough)


_Judge = Callable[[AssemblySettings], float | None]


def _links(graph: Graph, encode: Encode, seed: int) -> _Judge:
    try:
        split = split_links(graph, _SEED)
    except InputError:
        return lambda assembly: None
    embedded = _Embedded(split.train_graph(graph), encode, seed)
    few = LinkSplit(*(_some(pairs) for pairs in (split.train, split.val, split.test)))
    return lambda assembly: _mean(lambda: predict_links(embedded(assembly), graph, few, [_SEED]))


def _parts(graph: Graph, encode: Encode, seed: int) -> _Judge:
    parts = metis_partition(graph, seed=_SEED)
    try:
        split = random_split(parts, _SEED)
    except InputError:
        return lambda assembly: None
    embedded = _Embedded(graph, encode, seed)
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
    """Rows of length 1 of a graph's nodes, by candidate; nodes are encoded and each set of blocks fitted once."""

    def __init__(self, graph: Graph, encode: Encode, seed: int) -> None:
        self.graph, self.seed = graph, seed
        self.encoded, self.placed = encode(graph)
        self.fitted: dict[str, dict[str, Tensor]] = {}

    def __call__(self, settings: AssemblySettings) -> np.ndarray:
        lengths = {name: {"weight"} for name in settings.blocks}
        key = settings.model_dump_json(include={"blocks"}, exclude={"blocks": lengths})
        known = self.fitted.get(key)
        assembly = Assembly.fit(settings, self.encoded, self.graph, self.placed, self.seed, known)
        self.fitted[key] = assembly.maps
        rows = assembly(self.encoded, self.graph, self.placed)
        return unit_rows(rows.cpu().numpy(), self.graph.num_nodes, "embeddings")
