"""The table of edges: two ends as text, perhaps a weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError
from paretognn.graph.ids import check_filled, listed
from paretognn.graph.numbers import NOT_FINITE, NotNumericError, to_numbers
from paretognn.graph.open_table import open_table
from paretognn.graph.table import Table
from paretognn.graph.table_options import TableOptions

_ENDS = (frozenset({"source", "target"}), frozenset({"src", "dst"}))


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """source, target : [R] ids; weights : float32 [R] finite and not negative, or None; where : the file."""

    source: pa.ChunkedArray
    target: pa.ChunkedArray
    weights: np.ndarray | None
    where: str
    notes: tuple[str, ...] = ()


def read_edge_rows(path: Path, options: TableOptions, is_node: Callable[[str], bool]) -> EdgeRows:
    """Raises InputError for a blank end, and for a weight that is no finite number of at least 0."""
    table = open_edge_table(path, options, is_node)
    source, target, weight = edge_columns(table, options)
    data = table.read(ids=[source, target], numbers=[weight] if weight else [])
    for end in (source, target):
        check_filled(table, end, data[end])
    others = [name for name in table.names if name not in (source, target, weight)]
    notes = table.notes
    if others:
        notes += (f"{path.name}: column(s) not used: {listed(pa.array(others))}",)
    weights = _weights(table, weight, data[weight]) if weight else None
    return EdgeRows(data[source], data[target], weights, str(path), notes)


def open_edge_table(
    path: Path, options: TableOptions, is_node: Callable[[str], bool], most: int | None = None
) -> Table:
    """The table, or what its first ``most`` bytes tell."""
    asked = (options.source_column, options.target_column, options.weight_column)
    reserved = [*_ENDS, *(frozenset({name}) for name in asked if name)]
    return open_table(path, reserved, min_columns=2, header=options.header, is_node=is_node, most=most)


def edge_columns(table: Table, options: TableOptions) -> tuple[str, str, str | None]:
    """The columns of both ends, and that of the weight where there is one."""
    weight = table.find(options.weight_column, "weight", flag="--weight-column")
    source = table.find(options.source_column, "source", "src", flag="--source-column")
    target = table.find(options.target_column, "target", "dst", flag="--target-column")
    left = [n for n in table.names if n not in (weight, table.index_column)]
    free = [name for name in left if name not in (source, target)]
    if len(free) < (source is None) + (target is None):
        raise InputError(f"{table.path}: needs two columns, the ends of an edge; not {len(left)}")
    source = source or free.pop(0)
    target = target or free.pop(0)
    if source == target:
        raise InputError(f"{table.path}: column '{source}' cannot be both ends of an edge")
    return source, target, weight


def _weights(table: Table, name: str, column: pa.ChunkedArray) -> np.ndarray:
    try:
        weights = to_numbers(column)
    except NotNumericError as fault:
        raise InputError(
            f"{table.path}: weight column '{name}' is not numeric: {fault.what}, "
            f"the first {fault.value!r} in {table.place(fault.row)}"
        ) from None
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise InputError(
            f"{table.path}: {len(bad)} weight(s) in column '{name}' are negative, blank, {NOT_FINITE}; "
            f"the first is {weights[bad[0]]} in {table.place(int(bad[0]))}"
        )
    return weights
