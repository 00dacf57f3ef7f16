"""Node clustering: k-means against the labels, by normalised mutual information (arithmetic averaging)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from paretognn.downstream.notices import notify
from paretognn.downstream.parallel import map_seeds
from paretognn.downstream.scores import TaskScore
from paretognn.errors import InputError

MINI_BATCH_ABOVE = 50_000
"""Labelled nodes above which mini-batches of 4,096 take the place of Lloyd's full passes."""
RESTARTS = 10


def cluster_nmi(embeddings: np.ndarray, codes: np.ndarray, seeds: Sequence[int]) -> TaskScore:
    """NMI of k-means with k = number of classes, over all labelled nodes, for each seed.

    embeddings : float32 [N, d]. codes : int64 [N], -1 where unknown: those nodes take no part.
    Each seed keeps the best of 10 starts by k-means' own objective. Fewer distinct embeddings than clusters
    leave clusters empty, with a warning; all embeddings equal give NMI 0.

    Raises InputError without labelled nodes.
    """
    labelled = codes >= 0
    truth, points = codes[labelled], np.ascontiguousarray(embeddings[labelled], dtype=np.float32)
    if not len(truth):
        raise InputError("no node has a label")
    return TaskScore.of("nmi", k_means_nmi(points, truth, len(np.unique(truth)), seeds), average_method="arithmetic")


def k_means_nmi(points: np.ndarray, truth: np.ndarray, clusters: int, seeds: Sequence[int]) -> list[float]:
    """NMI of ``clusters`` clusters of points [n, d] with truth [n], for each seed.

    Raises InputError where there are more clusters than points.
    """
    if clusters > len(points):
        raise InputError(f"{clusters} clusters need at least as many labelled nodes, there are {len(points)}")
    if (points == points[0]).all():
        notify("all embeddings are identical: the clustering has one cluster and NMI 0")
        return [0.0] * len(seeds)

    found = map_seeds(lambda seed: k_means(points, clusters, seed), seeds)
    if min(len(np.unique(labels)) for labels in found) < clusters:
        notify(f"k-means found fewer distinct embeddings than the {clusters} clusters asked for")
    return [nmi(truth, labels) for labels in found]


def k_means(points: np.ndarray, clusters: int, seed: int) -> np.ndarray:
    """Cluster int64 [n] of points [n, d], the best of 10 starts; at most n clusters."""
    from sklearn.cluster import KMeans, MiniBatchKMeans  # takes seconds to load
    from sklearn.exceptions import ConvergenceWarning

    if len(points) > MINI_BATCH_ABOVE:
        model = MiniBatchKMeans(clusters, n_init=RESTARTS, batch_size=4096, random_state=seed)
    else:
        model = KMeans(clusters, n_init=RESTARTS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit_predict(points), dtype=np.int64)


def nmi(truth: np.ndarray, found: np.ndarray) -> float:
    """Mutual information over the mean of the two entropies; 0 where either side is one cluster."""
    if len(np.unique(truth)) < 2 or len(np.unique(found)) < 2:
        return 0.0
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(truth, found, average_method="arithmetic"))
