"""The linear probe: how well a logistic regression on frozen embeddings predicts a label of the nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretognn.downstream.logistic import PROBE_TOLERANCE, fit_path
from paretognn.graph.graph import Split

C_GRID: tuple[float, ...] = tuple(2.0**exponent for exponent in range(-10, 11))


@dataclass(frozen=True)
class ProbeScore:
    """Test accuracy and the chosen C; classes without a training node, and the number of their test nodes."""

    accuracy: float
    C: float
    absent: tuple[int, ...] = ()
    absent_nodes: int = 0


def probe_accuracy(embeddings: np.ndarray, codes: np.ndarray, split: Split) -> ProbeScore:
    """Fit on train, choose C by validation accuracy, score on test.

    embeddings : float32 [N, d]. codes : int64 [N], >= 0 for every node of the split.

    C runs over 2^-10..2^10; of equal validation accuracies the smallest C wins, and without validation nodes
    C is 1. The model is not fitted again on validation nodes. Nodes of a class without training nodes count
    as errors, in validation and in test.
    """
    grid = C_GRID if len(split.val) else (1.0,)
    path = fit_path(embeddings[split.train].astype(np.float64), codes[split.train], grid, PROBE_TOLERANCE)
    best = 0
    if len(split.val):
        correct = path.predict(embeddings[split.val]) == codes[split.val, None]
        best = int(correct.sum(axis=0).argmax())
    truth = codes[split.test]
    accuracy = float((path.predict(embeddings[split.test], best)[:, 0] == truth).mean())
    unseen = ~np.isin(truth, path.classes)
    absent = tuple(int(code) for code in np.setdiff1d(np.unique(codes[codes >= 0]), path.classes))
    return ProbeScore(accuracy, grid[best], absent, int(unseen.sum()))
