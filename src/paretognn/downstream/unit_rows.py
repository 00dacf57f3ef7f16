"""Embeddings as every probe takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretognn.errors import InputError


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
        raise InputError(
            f"{what}: {int(bad.sum())} value(s) are NaN or infinite; "
            f"the first is in row {int(bad.any(axis=1).argmax())}"
        )
    # The largest entry first: squares of huge or tiny values would leave the range of floats.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows /= np.where(largest > 0, largest, 1)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(length > 0, length, 1)).astype(np.float32)
