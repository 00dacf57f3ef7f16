"""Link prediction: a logistic regression on products of embeddings tells edges from other pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretognn.downstream.links import LinkSplit
from paretognn.downstream.logistic import fit_path
from paretognn.downstream.negatives import draw_negatives
from paretognn.downstream.notices import notify
from paretognn.downstream.parallel import map_seeds
from paretognn.downstream.scores import TaskScore
from paretognn.errors import InputError
from paretognn.graph.graph import Graph

C_GRID = (1.0, 2.0**4, 2.0**8, 2.0**12, 2.0**16)
"""Higher than for nodes: the entries of a product of two unit rows are smaller by the root of d."""
SINGLE_PRECISION_ABOVE = 2**24
"""Entries of the training matrix above which it is kept in float32."""
MEMORY_LIMIT = 2 * 2**30
"""Bytes that the training matrix may take."""


def predict_links(embeddings: np.ndarray, graph: Graph, split: LinkSplit, seeds: Sequence[int]) -> TaskScore:
    """Test AUC for each seed; the seed draws the negatives, the split stays.

    embeddings : float32 [N, d], rows of length 1 or 0, from a model that saw `LinkSplit.train_graph` only.
    graph : the whole graph. A pair's features are the elementwise product of its two embeddings. C is one of
    5 values, by validation AUC; of equal ones the smallest, and 1 without validation pairs.

    Raises InputError where the graph has too few unlinked pairs, and where the features would not fit.
    """
    needed = 2 * len(split.train) * embeddings.shape[1] * 4
    if needed > MEMORY_LIMIT:
        raise InputError(
            f"link prediction on {embeddings.shape[1]} dimensions and {2 * len(split.train)} training pairs "
            f"needs a matrix of {needed / 2**30:.1f} GiB: reduce the embeddings to fewer dimensions first"
        )

    from sklearn.metrics import roc_auc_score  # takes seconds to load

    def one(seed: int) -> tuple[float, float]:
        negatives = draw_negatives(graph, split, seed)
        features, targets = _features(embeddings, split.train, negatives.train)
        if features.size <= SINGLE_PRECISION_ABOVE:
            features = features.astype(np.float64)
        grid = C_GRID if len(split.val) else (1.0,)
        path = fit_path(features, targets, grid)
        best = 0
        if len(split.val):
            val, truth = _features(embeddings, split.val, negatives.val)
            best = int(np.argmax([roc_auc_score(truth, column) for column in path.decision(val)[:, :, 0].T]))
        test, truth = _features(embeddings, split.test, negatives.test)
        return float(roc_auc_score(truth, path.decision(test, best)[:, 0, 0])), grid[best]

    scores, chosen = zip(*map_seeds(one, seeds, bytes_each=4 * needed), strict=True)
    return TaskScore.of("auc", scores, C=list(chosen))


def _features(embeddings: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Products [P, d] of the positive pairs, then the negative ones, and targets [P] of 1 and 0."""
    pairs = np.concatenate([positive, negative])
    targets = np.repeat([1, 0], [len(positive), len(negative)])
    return embeddings[pairs[:, 0]] * embeddings[pairs[:, 1]], targets


def hits_at_k(positive: np.ndarray, negative: np.ndarray, k: int) -> float | None:
    """Share of positive scores above the k-th largest negative score; a tie is no hit.

    None, with a warning, where there are fewer than k negatives or no positives.
    """
    if not len(positive) or len(negative) < k:
        notify(f"Hits@{k} needs {k} negatives and a positive, there are {len(negative)} and {len(positive)}")
        return None
    threshold = np.partition(negative, len(negative) - k)[len(negative) - k]
    return float((positive > threshold).mean())
