"""A table by its path, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from paretognn.graph.csv_table import CsvTable
from paretognn.graph.parquet_table import ParquetTable, is_parquet
from paretognn.graph.table import Table


def open_table(
    path: Path,
    reserved: Collection[frozenset[str]],
    *,
    min_columns: int = 1,
    header: str = "auto",
    is_node: Callable[[str], bool] = lambda _: False,
    most: int | None = None,
) -> Table:
    """Parquet by its content or name, else delimited text (for the arguments see `CsvTable`)."""
    if is_parquet(path):
        return ParquetTable(path, min_columns)
    return CsvTable(path, reserved, min_columns=min_columns, header=header, is_node=is_node, most=most)
