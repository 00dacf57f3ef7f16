"""A column of any type as float32."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_GAPS = pa.array(["", "na", "n/a", "#n/a", "nan", "-nan", "null", "none"])
_TRUTH = pa.array(["false", "true"])
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|infinity)$"


_PLAIN = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)


NOT_FINITE = "NaN, infinite or above 3.4e38"
"""What is no finite number in single precision."""


class NotNumericError(Exception):
    """A column holds something that is no number: how much of it, where first, and what stands there."""

    def __init__(self, what: str, row: int, value: object) -> None:
        super().__init__(what)
        self.what, self.row, self.value = what, row, value


def is_text(kind: pa.DataType) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def to_numbers(column: pa.ChunkedArray) -> np.ndarray:
    """float32 [N], NaN where blank. Numbers, booleans, and text of either. Raises NotNumericError."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif is_text(kind):
        column = _parse(column.cast(pa.string()))
    elif not any(test(kind) for test in _PLAIN):
        raise NotNumericError(f"it holds {kind}", 0, column[0].as_py())
    with np.errstate(over="ignore"):
        return pc.cast(column, pa.float32(), safe=False).to_numpy().astype(np.float32, copy=False)


def _parse(text: pa.ChunkedArray) -> pa.ChunkedArray:
    text = pc.utf8_trim_whitespace(text)
    folded = pc.utf8_lower(text)
    gap = pc.is_in(folded, value_set=_GAPS)
    text = pc.if_else(gap, pa.scalar(None, pa.string()), text)
    try:
        return pc.cast(text, pa.float32())
    except pa.ArrowInvalid:
        pass
    if pc.all(pc.or_(gap, pc.is_in(folded, value_set=_TRUTH))).as_py():
        return pc.index_in(pc.if_else(gap, pa.scalar(None, pa.string()), folded), value_set=_TRUTH)
    wrong = pc.invert(pc.or_(gap, pc.match_substring_regex(text.fill_null(""), _NUMBER)))
    row = pc.index(wrong, True).as_py()
    count = pc.sum(wrong).as_py()
    raise NotNumericError(f"{count} of {len(text)} values are text", max(row, 0), text[max(row, 0)].as_py())
