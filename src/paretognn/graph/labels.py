"""Class labels: names as written, in natural order; blank, NaN and -1 mean unlabelled."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def natural_order(text: str) -> tuple[int, float, list[tuple[int, int, str]]]:
    """A sort key: numbers by value and first, then text with its digits compared by value."""
    try:
        value = float(text)
    except ValueError:
        parts = re.split(r"([0-9]+)", text)
        return 1, 0.0, [(0, int(p), "") if k % 2 else (1, 0, p) for k, p in enumerate(parts)]
    return 0, value, [(1, 0, text)]


def encode_labels(text: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, tuple[str, ...]]:
    """int64 [N] index into the sorted names, -1 where unlabelled; and the names.

    ``-1`` is a class only where ``1`` is the single other one.
    """
    whole = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    encoded = whole.dictionary_encode()
    found: list[str] = encoded.dictionary.to_pylist()
    unlabelled = {name for name in found if name.strip().lower() in ("", "nan")}
    minus = {name for name in found if name.strip() in ("-1", "-1.0")}
    if {name.strip() for name in set(found) - unlabelled - minus} - {"1", "1.0", "+1"}:
        unlabelled |= minus
    names = sorted(set(found) - unlabelled, key=natural_order)
    index = {name: k for k, name in enumerate(names)}
    lookup = np.array([index.get(name, -1) for name in found] + [-1], dtype=np.int64)
    codes = pc.fill_null(encoded.indices, len(found)).to_numpy(zero_copy_only=False)
    return lookup[codes], tuple(names)


def encode_values(values: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """The same for an array [N] of numbers, text, booleans or objects (None, and pandas' NA and NaT, are
    unlabelled)."""
    values = np.asarray(values)
    if values.dtype.kind == "O":
        return encode_labels(pa.array(map(_text, values), pa.string()))
    distinct, inverse = np.unique(values, return_inverse=True)
    names = pa.array(map(_text, distinct.tolist()), pa.string())
    return encode_labels(names.take(pa.array(inverse.ravel())))


def _text(value: Any) -> str | None:
    """None for what is missing: what is no number is not itself, and pandas' NA does not say."""
    try:
        return None if value is None or bool(value != value) else str(value)
    except TypeError:
        return None
