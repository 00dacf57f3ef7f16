"""The linear probe: how well a logistic regression on frozen embeddings predicts a label of the nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretognn.downstream.logistic import PROBE_TOLERANCE, SCORES, LogisticPath, fit_path
from paretognn.graph.graph import Split

C_GRID: tuple[float, ...] = tuple(2.0**exponent for exponent in range(-10, 11))
_BLOCK = 2**14
"""Nodes whose embeddings are copied at once to be predicted."""


@dataclass(frozen=True)
class ProbeScore:
    """Test accuracy and the chosen C; classes without a training node, and the number of their test nodes."""

    accuracy: float
    C: float
    absent: tuple[int, ...] = ()
    absent_nodes: int = 0


@dataclass(frozen=True, eq=False)
class Probe:
    """Logistic regressions by C, and which of them was chosen."""

    path: LogisticPath
    chosen: int

    @property
    def classes(self) -> np.ndarray:
        """int64 [k], sorted: those of the training nodes, the only ones that are predicted."""
        return self.path.classes

    def predict(self, embeddings: np.ndarray) -> np.ndarray:
        """Codes int64 [n] of embeddings [n, d]."""
        return self.path.predict(embeddings, self.chosen)[:, 0]


def fit_probe(embeddings: np.ndarray, codes: np.ndarray, split: Split) -> Probe:
    """Fit on train and choose C by validation accuracy.

    embeddings : float32 [N, d]. codes : int64 [N], >= 0 for every node of the split.

    C runs over 2^-10..2^10; of equal validation accuracies the smallest C wins, and without validation nodes
    C is 1. The model is not fitted again on validation nodes.
    """
    grid = C_GRID if len(split.val) else (1.0,)
    path = fit_path(embeddings[split.train].astype(np.float64), codes[split.train], grid, PROBE_TOLERANCE)
    best = 0
    if len(split.val):
        best = int(_right(path, embeddings, codes, split.val).argmax())
    return Probe(path, best)


def probe_accuracy(embeddings: np.ndarray, codes: np.ndarray, split: Split) -> ProbeScore:
    """Score `fit_probe` on test. Nodes of a class without training nodes count as errors, in validation and in test."""
    probe = fit_probe(embeddings, codes, split)
    accuracy = float(_right(probe.path, embeddings, codes, split.test, probe.chosen)[0] / len(split.test))
    unseen = ~np.isin(codes[split.test], probe.classes)
    absent = tuple(int(code) for code in np.setdiff1d(np.unique(codes[codes >= 0]), probe.classes))
    return ProbeScore(accuracy, float(probe.path.C[probe.chosen]), absent, int(unseen.sum()))


def probe_bytes(split: Split, width: int, classes: int) -> int:
    """About what `probe_accuracy` takes beside the embeddings [N, width]: to fit, four matrices of the training rows in
    float64 and six of their scores; to predict, a block of rows in float32 and its scores in both, and what is made
    of them."""
    rows, block = len(split.train), min(_BLOCK, max(len(split.val), len(split.test)))
    scores = min(rows * classes * len(C_GRID), max(SCORES, rows * classes))
    return max(8 * (4 * rows * width + 6 * scores), block * (4 * width + 16 * classes * len(C_GRID)))


def _right(
    path: LogisticPath, embeddings: np.ndarray, codes: np.ndarray, nodes: np.ndarray, which: int | slice = slice(None)
) -> np.ndarray:
    """How many of ``nodes`` each of the B models predicts rightly, int64 [B]."""
    blocks = (nodes[start : start + _BLOCK] for start in range(0, max(1, len(nodes)), _BLOCK))
    return np.asarray(
        sum((path.predict(embeddings[block], which) == codes[block, None]).sum(axis=0) for block in blocks)
    )
