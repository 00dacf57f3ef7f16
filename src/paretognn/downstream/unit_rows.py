"""Embeddings as every probe takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretognn.errors import InputError

_BLOCK = 1 << 18
"""Entries that are copied at once."""


def unit_rows(embeddings: Any, num_nodes: int, what: str) -> np.ndarray:
    """Float32 [N, d] with rows of length 1; a zero row stays zero.

    Raises InputError for another shape, another number of rows, no columns, and values that are not finite.
    """
    given = np.asarray(embeddings)
    if given.ndim != 2 or given.shape[0] != num_nodes or given.shape[1] == 0 or given.dtype.kind not in "fiub":
        raise InputError(
            f"{what} must be numbers of shape [{num_nodes}, d], one row a node, not {given.dtype} {list(given.shape)}"
        )
    units = np.empty(given.shape, np.float32)
    bad, first = 0, 0
    step = max(1, _BLOCK // given.shape[1])
    for start in range(0, num_nodes, step):
        rows: np.ndarray = given[start : start + step].astype(np.float64 if given.dtype.itemsize > 4 else np.float32)
        wrong = ~np.isfinite(rows)
        if wrong.any():
            first = first if bad else start + int(wrong.any(axis=1).argmax())
            bad += int(wrong.sum())
            continue
        # The largest entry first: squares of huge or tiny values would leave the range of floats.
        largest = np.abs(rows).max(axis=1, keepdims=True)
        rows /= np.where(largest > 0, largest, 1)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        units[start : start + step] = rows / np.where(length > 0, length, 1)
    if bad:
        raise InputError(f"{what}: {bad} value(s) are NaN or infinite; the first is in row {first}")
    return units
