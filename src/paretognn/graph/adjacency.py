"""The entries of an adjacency matrix: the same whatever sparse format holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def matrix_entries(adjacency: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and values [R] of a scipy sparse matrix [N, N], which is not changed.

    Values that are stored twice for one place add up, as scipy has it; an explicit zero is no entry.
    """
    matrix = sp.csr_array(adjacency, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    entries = matrix.tocoo()
    return entries.row, entries.col, entries.data
