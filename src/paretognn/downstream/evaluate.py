"""Frozen embeddings judged on the four downstream tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paretognn.downstream.clustering import cluster_nmi
from paretognn.downstream.evaluation import ALL, METRICS, Evaluation
from paretognn.downstream.labels import encode_labels
from paretognn.downstream.link_prediction import predict_links
from paretognn.downstream.links import LinkSplit, checked_link_split
from paretognn.downstream.node_classification import classify
from paretognn.downstream.notices import collected
from paretognn.downstream.partition import edge_cut, metis_partition, partition_digest
from paretognn.downstream.scores import TaskScore
from paretognn.downstream.splits import choose_splits, split_digest
from paretognn.downstream.twins import warn_of_twins
from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError, suggest
from paretognn.graph.graph import Graph

NO_LINK_SPLIT = "needs a link split and embeddings from a model that did not see its test links; these did"


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

    tasks : those to run; the others get no score.
    seeds : evaluation seeds, or how many (0, 1, ..): they draw the random splits, the negatives and the
        starts of k-means. They are not training seeds.
    split : ``random``, ``public`` or ``public:i``, for node classification and partition prediction.
    link : embeddings [N, d'] of a model that saw `LinkSplit.train_graph` only, and that split; without it
        link prediction gets no score, for ``link_reason``.
    partition : int [N], the labels of partition prediction; `metis_partition` of the graph where None.

    A task that cannot be run on this graph has the reason in place of scores.

    Raises InputError for embeddings (of either kind) of another shape or not finite, a partition of another
    length, a link split of another graph, an unknown task or split, and seeds below 0.
    """
    numbers = check_request(graph, tasks, seeds, split)
    job = _Job(embeddings, graph, numbers, split, link, link_reason, partition)
    runs: dict[str, Callable[[], TaskScore]] = {
        "node_classification": job.node_classification,
        "node_clustering": job.node_clustering,
        "link_prediction": job.link_prediction,
        "partition_prediction": job.partition_prediction,
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
                scores[name] = runs[name]()
            except InputError as error:
                scores[name] = TaskScore(metric, reason=str(error))
            seconds[name] = round(time.perf_counter() - start, 3)
    return Evaluation(scores, numbers, split, job.facts, tuple(messages), seconds)


MOST_SEEDS = 10_000


def check_request(graph: Graph, tasks: Sequence[str], seeds: int | Sequence[int], split: str) -> tuple[int, ...]:
    """The evaluation seeds one by one. InputError for an unknown task or split, and seeds below 0."""
    if isinstance(seeds, int) and seeds > MOST_SEEDS:
        raise InputError(f"evaluation takes at most {MOST_SEEDS:,} seeds, not {seeds}")
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(int(seed) for seed in seeds)
    if not numbers or min(numbers) < 0 or max(numbers) >= 2**32:
        raise InputError("evaluation needs at least one seed, and none below 0 or from 2**32 on")
    for name in tasks:
        if name not in METRICS:
            raise InputError(f"unknown task '{name}'{suggest(name, ALL)}")
    if split != "random":
        with collected():  # a bad setting is an error now; what it leaves out is told by the tasks
            choose_splits(graph, split, numbers, np.zeros(graph.num_nodes, dtype=np.int64))
    return numbers


class _Job:
    """Checked input of one evaluation. A task that cannot be run raises InputError."""

    def __init__(
        self,
        embeddings: np.ndarray,
        graph: Graph,
        seeds: tuple[int, ...],
        split: str,
        link: tuple[np.ndarray, LinkSplit] | None,
        link_reason: str | None,
        partition: np.ndarray | None,
    ) -> None:
        self.graph, self.seeds, self.split = graph, seeds, split
        self.points = unit_rows(embeddings, graph.num_nodes, "embeddings")
        self.facts: dict[str, Any] = {
            "graph": graph.name,
            "nodes": graph.num_nodes,
            "dimensions": self.points.shape[1],
        }
        self.link, self.link_reason = None, link_reason
        if link is not None:
            points = unit_rows(link[0], graph.num_nodes, "link embeddings")
            self.link = points, checked_link_split(link[1], graph)
        self.partition = None if partition is None else np.asarray(partition)
        if self.partition is not None and self.partition.shape != (graph.num_nodes,):
            shape = list(self.partition.shape)
            raise InputError(f"the partition has shape {shape}, the graph {graph.num_nodes} nodes")
        self.codes = None
        if graph.labels is not None:
            self.codes, values = encode_labels(graph.labels)
            if len(self.codes) != graph.num_nodes:
                raise InputError(f"{len(self.codes)} labels for {graph.num_nodes} nodes")
            self.names = _class_names(graph, values)
            unlabelled = int((self.codes < 0).sum())
            self.facts["labels"] = {"classes": list(self.names), "unlabelled_nodes": unlabelled}

    def labels(self) -> np.ndarray:
        if self.codes is None or not (self.codes >= 0).any():
            raise InputError("the graph has no labels")
        return self.codes

    def node_classification(self) -> TaskScore:
        splits = choose_splits(self.graph, self.split, self.seeds, self.labels())
        self.facts["split_digests"] = [split_digest(one) for one in splits]
        warn_of_twins(self.graph, splits)
        return classify(self.points, self.labels(), splits, self.names)

    def node_clustering(self) -> TaskScore:
        return cluster_nmi(self.points, self.labels(), self.seeds)

    def link_prediction(self) -> TaskScore:
        if self.link is None:
            raise InputError(self.link_reason or NO_LINK_SPLIT)
        points, split = self.link
        self.facts["link_split_digest"] = split.digest()
        return predict_links(points, self.graph, split, self.seeds)

    def partition_prediction(self) -> TaskScore:
        parts = metis_partition(self.graph) if self.partition is None else self.partition
        self.facts["partition"] = {
            "sizes": np.unique(parts, return_counts=True)[1].tolist(),
            "edge_cut": edge_cut(self.graph, parts),
            "digest": partition_digest(parts),
        }
        codes, names = encode_labels(parts)
        splits = choose_splits(self.graph, self.split, self.seeds, codes)
        self.facts["partition"]["split_digests"] = [split_digest(one) for one in splits]
        return classify(self.points, codes, splits, names)


def _class_names(graph: Graph, values: tuple[str, ...]) -> tuple[str, ...]:
    """The user's class names where labels are indices into them, else the values themselves."""
    known = graph.label_names
    if known and all(value.isdecimal() and int(value) < len(known) for value in values):
        return tuple(known[int(value)] for value in values)
    return values
