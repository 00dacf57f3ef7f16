"""Link prediction: a logistic regression on products of embeddings tells edges from other pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretognn.downstream.links import LinkSplit
from paretognn.downstream.logistic import PROBE_TOLERANCE, LogisticPath, fit_path
from paretognn.downstream.negatives import draw_negatives
from paretognn.downstream.notices import notify
from paretognn.downstream.parallel import map_seeds
from paretognn.downstream.scores import TaskScore
from paretognn.graph.graph import Graph

C_GRID = (1.0, 2.0**4, 2.0**8, 2.0**12, 2.0**16)
"""Higher than for nodes: the entries of a product of two unit rows are smaller by the root of d."""
SINGLE_PRECISION_ABOVE = 2**20
"""Entries of the training matrix above which it is kept in float32."""
FIT_BYTES = 2**29
"""Bytes of the training matrix in float32; of more pairs, each seed draws as many as fit."""
_BLOCK = 2**16
"""Pairs whose products are held at once when they are scored."""


def predict_links(embeddings: np.ndarray, graph: Graph, split: LinkSplit, seeds: Sequence[int]) -> TaskScore:
    """Test AUC for each seed; the seed draws the negatives, the split stays.

    embeddings : float32 [N, d], rows of length 1 or 0, from a model that saw `LinkSplit.train_graph` only.
    graph : the whole graph. A pair's features are the elementwise product of its two embeddings. C is one of
    5 values, by validation AUC; of equal ones the smallest, and 1 without validation pairs. Where the training
    pairs would take more than `FIT_BYTES`, the model is fitted on a part of them, with a warning; validation and
    test pairs are always all scored.

    Raises InputError where the graph has too few unlinked pairs.
    """
    fitted = min(len(split.train), max(1, FIT_BYTES // (2 * 4 * embeddings.shape[1])))
    if fitted < len(split.train):
        notify(f"link prediction: each seed fits its model on {fitted:,} of {len(split.train):,} training links")
    needed = 2 * fitted * embeddings.shape[1] * 4

    from sklearn.metrics import roc_auc_score  # takes seconds to load

    def one(seed: int) -> tuple[float, float]:
        negatives = draw_negatives(graph, split, seed)
        train = split.train
        if fitted < len(train):
            train = train[np.random.default_rng(seed).choice(len(train), fitted, replace=False)]
        path, best = fit_links(embeddings, (train, negatives.train[:fitted]), (split.val, negatives.val))
        scores, truth = _scores(path, embeddings, split.test, negatives.test, best)
        return float(roc_auc_score(truth, scores[:, 0])), float(path.C[best])

    scores, chosen = zip(*map_seeds(one, seeds, bytes_each=4 * needed), strict=True)
    return TaskScore.of("auc", scores, C=list(chosen))


Pairs = tuple[np.ndarray, np.ndarray]
"""Linked pairs and as many others, int64 [P, 2] each."""


def fit_links(embeddings: np.ndarray, train: Pairs, val: Pairs) -> tuple[LogisticPath, int]:
    """Logistic regressions on products of embeddings, fitted on ``train``, and which of them has the best AUC on
    ``val``; of equal ones the smallest C, and C = 1 alone without validation pairs."""
    features, targets = _features(embeddings, *train)
    if features.size <= SINGLE_PRECISION_ABOVE:
        features = features.astype(np.float64)
    if not len(val[0]):
        return fit_path(features, targets, (1.0,), PROBE_TOLERANCE), 0

    from sklearn.metrics import roc_auc_score  # takes seconds to load

    path = fit_path(features, targets, C_GRID, PROBE_TOLERANCE)
    scores, truth = _scores(path, embeddings, *val)
    return path, int(np.argmax([roc_auc_score(truth, column) for column in scores.T]))


def _features(embeddings: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Products [P, d] of the positive pairs, then the negative ones, and targets [P] of 1 and 0."""
    pairs = np.concatenate([positive, negative])
    targets = np.repeat([1, 0], [len(positive), len(negative)])
    return embeddings[pairs[:, 0]] * embeddings[pairs[:, 1]], targets


def _scores(
    path: LogisticPath,
    embeddings: np.ndarray,
    positive: np.ndarray,
    negative: np.ndarray,
    which: int | slice = slice(None),
) -> tuple[np.ndarray, np.ndarray]:
    """Scores [P, B] of all pairs, the positive ones first, and their targets [P]; products are made in blocks."""
    scores = [
        path.decision(embeddings[block[:, 0]] * embeddings[block[:, 1]], which)[:, :, 0]
        for pairs in (positive, negative)
        for block in (pairs[start : start + _BLOCK] for start in range(0, len(pairs), _BLOCK))
    ]
    return np.concatenate(scores), np.repeat([1, 0], [len(positive), len(negative)])


def hits_at_k(positive: np.ndarray, negative: np.ndarray, k: int) -> float | None:
    """Share of positive scores above the k-th largest negative score; a tie is no hit.

    None, with a warning, where there are fewer than k negatives or no positives.
    """
    if not len(positive) or len(negative) < k:
        notify(f"Hits@{k} needs {k} negatives and a positive, there are {len(negative)} and {len(positive)}")
        return None
    threshold = np.partition(negative, len(negative) - k)[len(negative) - k]
    return float((positive > threshold).mean())
