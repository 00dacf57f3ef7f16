"""Labels of any kind as small integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretognn.errors import InputError
from paretognn.graph.labels import encode_values

UNKNOWN = -1


def encode_labels(labels: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes int64 [N] in 0..k-1 by sorted value, -1 where unknown, and the k original names.

    Text, booleans, integers and floats are taken, as [N] or [N, 1]. Unknown are: negative numbers, NaN and None;
    text is read as in a table (`paretognn.graph.labels`). A float without a fraction is named like the integer.

    Raises InputError for other shapes.
    """
    values = np.asarray(labels)
    if values.dtype.kind in "US" and not isinstance(labels, np.ndarray):
        values = np.asarray(labels, dtype=object)  # numpy would spell a NaN among texts as a text
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"labels must be one value a node, not an array of shape {list(values.shape)}")
    if values.dtype.kind in "iuf":
        known = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)
        known &= values >= 0
    elif values.dtype.kind == "b":
        known = np.ones(len(values), dtype=bool)
    else:
        return encode_values(values)
    codes = np.full(len(values), UNKNOWN, dtype=np.int64)
    distinct, codes[known] = np.unique(values[known], return_inverse=True)
    return codes, tuple(_name(value) for value in distinct.tolist())


def _name(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
