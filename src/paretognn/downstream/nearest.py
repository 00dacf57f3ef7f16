"""The nodes nearest to some nodes, by cosine of their embeddings."""

from __future__ import annotations

import numpy as np

_BLOCK = 1 << 24
"""Similarities held at once."""


def nearest(units: np.ndarray, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` nodes nearest to each of ``queries`` [Q], itself left out: nodes int64 [Q, k'] and cosines
    float32 [Q, k'], nearest first, of equal ones the lower index; k' is N - 1 where there are no more.

    units : float32 [N, d], rows of length 1 or 0. Every pair is compared; a row of zeros has cosine 0 with all.
    """
    n, k = len(units), min(k, len(units) - 1)
    found, cosines = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
    step = max(1, _BLOCK // max(1, n))
    for start in range(0, len(queries), step):
        rows = queries[start : start + step]
        similar = units[rows] @ units.T
        similar[np.arange(len(rows)), rows] = -np.inf
        for place, row in enumerate(similar, start):
            found[place] = largest(row, k)
            cosines[place] = row[found[place]]
    return found, cosines


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Places int64 [k] of the ``k`` largest of scores [n], k <= n, largest first, of equal ones the lower place."""
    least = np.partition(scores, -k)[-k]
    places = np.flatnonzero(scores >= least)
    return places[np.argsort(-scores[places], kind="stable")[:k]]
