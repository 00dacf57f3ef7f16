"""A user's few labels carried to every node by the linear probe, with probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from paretognn.downstream.logistic import PROBE_TOLERANCE, LogisticPath, fit_path
from paretognn.downstream.probe import C_GRID
from paretognn.errors import InputError

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Labelling:
    """probabilities : float32 [N, k], rows that add up to 1, of ``classes`` int64 [k]. accuracy : cross-validated over
    the labelled nodes, None where a class has a single one of them. C : the strength that was best there, else 1; as it
    is chosen on the same folds, the accuracy is a little high."""

    probabilities: np.ndarray
    classes: np.ndarray
    accuracy: float | None
    C: float

    @property
    def codes(self) -> np.ndarray:
        """int64 [N], the likeliest class of every node."""
        return self.classes[self.probabilities.argmax(axis=1)]


def label_nodes(units: np.ndarray, codes: np.ndarray, seed: int = 0) -> Labelling:
    """Fit on all labelled nodes, with the C of the best accuracy in stratified folds (`FOLDS`, or as many as the
    smallest class has nodes).

    units : float32 [N, d], rows of length 1 or 0. codes : int64 [N], -1 where unknown.
    Raises InputError for fewer than 2 classes.
    """
    labelled = np.flatnonzero(codes >= 0)
    x, y = units[labelled].astype(np.float64), codes[labelled]
    classes, sizes = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise InputError(f"a classifier needs at least 2 classes, the labels have {len(classes)}")
    folds, accuracy, C = min(FOLDS, int(sizes.min())), None, 1.0
    if folds > 1:
        from sklearn.model_selection import StratifiedKFold  # takes a second to load

        right = np.zeros(len(C_GRID))
        for train, held in StratifiedKFold(folds, shuffle=True, random_state=seed).split(x, y):
            path = fit_path(x[train], y[train], C_GRID, PROBE_TOLERANCE)
            right += (path.predict(x[held]) == y[held, None]).sum(axis=0)
        accuracy, C = float(right.max() / len(y)), C_GRID[int(right.argmax())]
    return Labelling(_probabilities(fit_path(x, y, (C,), PROBE_TOLERANCE), units), classes, accuracy, C)


def _probabilities(path: LogisticPath, units: np.ndarray) -> np.ndarray:
    scores = path.decision(units)[:, 0]
    if len(path.classes) == 2:
        second = expit(scores[:, 0])
        return np.stack([1 - second, second], axis=1).astype(np.float32)
    return np.asarray(softmax(scores, axis=1), dtype=np.float32)
