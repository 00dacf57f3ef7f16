"""Frozen embeddings judged on the four downstream tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretognn.downstream.clustering import cluster_nmi
from paretognn.downstream.labels import encode_labels
from paretognn.downstream.link_prediction import predict_links
from paretognn.downstream.links import LinkSplit, checked_link_split
from paretognn.downstream.node_classification import classify
from paretognn.downstream.notices import collected
from paretognn.downstream.partition import edge_cut, metis_partition, partition_digest
from paretognn.downstream.scores import TaskScore
from paretognn.downstream.splits import choose_splits, split_digest
from paretognn.downstream.twins import warn_of_twins
from paretognn.errors import InputError, suggest
from paretognn.graph.graph import Graph, Split

METRICS = {
    "node_classification": "accuracy",
    "node_clustering": "nmi",
    "link_prediction": "auc",
    "partition_prediction": "accuracy",
}
ALL = tuple(METRICS)
NO_LINK_SPLIT = "no embeddings from a model that was kept from the test links: such embeddings have seen them"


@dataclass(frozen=True)
class Evaluation:
    """Scores of one set of embeddings, with what is needed to repeat them.

    tasks : one `TaskScore` for each of the four tasks, in the order of `ALL`.
    facts : digests, counts and settings, JSON-ready. seconds : per task.
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
        means = [score.mean for score in self.tasks.values()]
        known = [mean for mean in means if mean is not None]
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


def evaluate_embeddings(
    embeddings: np.ndarray,
    graph: Graph,
    *,
    tasks: Sequence[str] = ALL,
    seeds: int | Sequence[int] = 10,
    split: str = "random",
    link: tuple[np.ndarray, LinkSplit] | None = None,
    link_reason: str | None = None,
    partition: np.ndarray | None = None,
) -> Evaluation:
    """Judge embeddings [N, d], row by row those of the graph's nodes, after scaling each row to length 1.

    tasks : those to run; the others get no score. seeds : evaluation seeds, or how many (0, 1, ..): they draw
        the random splits, the negatives and the starts of k-means. They are not training seeds.
    split : ``random``, ``public`` or ``public:i``, for node classification and partition prediction.
    link : embeddings [N, d'] of a model that saw `LinkSplit.train_graph` only, and that split; without it link
        prediction gets no score, for ``link_reason``.
    partition : int [N], the labels of partition prediction; `metis_partition` of the graph where None.

    A task that cannot be run on this graph has the reason in place of scores.

    Raises InputError for embeddings of another shape or not finite, unknown tasks or split, seeds below 0.
    """
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(int(seed) for seed in seeds)
    if not numbers or min(numbers) < 0:
        raise InputError("evaluation needs at least one seed, and none below 0")
    for name in tasks:
        if name not in METRICS:
            raise InputError(f"unknown task '{name}'{suggest(name, ALL)}")
    points = unit_rows(embeddings, graph.num_nodes, "embeddings")
    facts: dict[str, Any] = {"graph": graph.name, "nodes": graph.num_nodes, "dimensions": int(points.shape[1])}
    codes = None
    splits: list[Split] = []
    names: tuple[str, ...] = ()
    if graph.labels is not None:
        codes, values = encode_labels(graph.labels)
        if len(codes) != graph.num_nodes:
            raise InputError(f"{len(codes)} labels for {graph.num_nodes} nodes")
        names = _class_names(graph, values)
        facts["labels"] = {"classes": list(names), "unlabelled_nodes": int((codes < 0).sum())}
    if split != "random":
        choose_splits(graph, split, numbers, np.zeros(graph.num_nodes, dtype=np.int64))  # a bad setting stops here

    def labelled() -> np.ndarray:
        if codes is None or not (codes >= 0).any():
            raise InputError("the graph has no labels")
        return codes

    def node_classification() -> TaskScore:
        splits.extend(choose_splits(graph, split, numbers, labelled()))
        facts["split_digests"] = [split_digest(one) for one in splits]
        warn_of_twins(graph, splits)
        return classify(points, labelled(), splits, names)

    def node_clustering() -> TaskScore:
        return cluster_nmi(points, labelled(), numbers)

    def link_prediction() -> TaskScore:
        if link is None:
            raise InputError(link_reason or NO_LINK_SPLIT)
        link_split = checked_link_split(link[1], graph)
        facts["link_split_digest"] = link_split.digest()
        return predict_links(unit_rows(link[0], graph.num_nodes, "link embeddings"), graph, link_split, numbers)

    def partition_prediction() -> TaskScore:
        parts = metis_partition(graph) if partition is None else np.asarray(partition)
        if parts.shape != (graph.num_nodes,):
            raise InputError(f"the partition has shape {list(parts.shape)}, the graph {graph.num_nodes} nodes")
        facts["partition"] = {
            "sizes": np.unique(parts, return_counts=True)[1].tolist(),
            "edge_cut": edge_cut(graph, parts),
            "digest": partition_digest(parts),
        }
        part_codes, part_names = encode_labels(parts)
        return classify(points, part_codes, choose_splits(graph, split, numbers, parts), part_names)

    run: dict[str, Callable[[], TaskScore]] = {
        "node_classification": node_classification,
        "node_clustering": node_clustering,
        "link_prediction": link_prediction,
        "partition_prediction": partition_prediction,
    }
    scores: dict[str, TaskScore] = {}
    seconds: dict[str, float] = {}
    with collected() as messages:
        for name, metric in METRICS.items():
            if name not in tasks:
                scores[name] = TaskScore(metric, reason="not asked for")
                continue
            start = time.perf_counter()
            try:
                scores[name] = run[name]()
            except InputError as error:
                scores[name] = TaskScore(metric, reason=str(error))
            seconds[name] = round(time.perf_counter() - start, 3)
    return Evaluation(scores, numbers, split, facts, tuple(messages), seconds)


def unit_rows(embeddings: Any, num_nodes: int, what: str) -> np.ndarray:
    """Float32 [N, d] with rows of length 1; a zero row stays zero.

    Raises InputError for another shape, another number of rows, no columns, and values that are not finite.
    """
    rows = np.asarray(embeddings)
    if rows.ndim != 2 or rows.shape[0] != num_nodes or rows.shape[1] == 0 or rows.dtype.kind not in "fiub":
        raise InputError(
            f"{what} must be numbers of shape [{num_nodes}, d], one row a node, not {rows.dtype} {list(rows.shape)}"
        )
    rows = rows.astype(np.float64 if rows.dtype.itemsize > 4 else np.float32)
    bad = ~np.isfinite(rows)
    if bad.any():
        raise InputError(f"{what}: {int(bad.sum())} value(s) are NaN or infinite, the first in row {int(bad.any(1).argmax())}")
    # The largest entry first: squares of huge or tiny values would leave the range of floats.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows /= np.where(largest > 0, largest, 1)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(length > 0, length, 1)).astype(np.float32)


def _class_names(graph: Graph, values: tuple[str, ...]) -> tuple[str, ...]:
    """The user's class names where labels are indices into them, else the values themselves."""
    known = graph.label_names
    if known and all(value.isdecimal() and int(value) < len(known) for value in values):
        return tuple(known[int(value)] for value in values)
    return values
