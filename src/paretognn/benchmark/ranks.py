"""Average ranks, as the paper computes them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

OUT = -math.inf
"""The value of a cell that ran and has no score (out of memory, failed): it ranks last."""

Row = TypeVar("Row", bound=Hashable)
Value = float | None


def places(column: Mapping[Row, Value]) -> dict[Row, int]:
    """The place of every row that has a value: 1 for the largest, ties share the smaller number. None have one where
    all are `OUT`."""
    values = {row: value for row, value in column.items() if value is not None}
    if set(values.values()) == {OUT}:
        return {}
    return {row: 1 + sum(other > value for other in values.values()) for row, value in values.items()}


def average_ranks(table: Mapping[Row, Mapping[str, Value]]) -> dict[Row, float | None]:
    """The mean over data sets of each row's place there, from row -> data set -> value.

    A row without a value (absent or None) is left out of that data set; None for a row without any.
    """
    datasets = dict.fromkeys(dataset for values in table.values() for dataset in values)
    by_dataset = [places({row: values.get(dataset) for row, values in table.items()}) for dataset in datasets]
    ranks = {row: [found[row] for found in by_dataset if row in found] for row in table}
    return {row: sum(own) / len(own) if own else None for row, own in ranks.items()}
