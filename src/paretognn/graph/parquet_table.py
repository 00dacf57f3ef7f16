"""A Parquet file as a table."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paretognn.errors import InputError, require_utf8
from paretognn.graph.numbers import is_text
from paretognn.graph.table import Table, one_line
from paretognn.graph.text_file import check_file


def is_parquet(path: Path) -> bool:
    """By its first four bytes, or by its name."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return True
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


class ParquetTable(Table):
    """Integer, string and dictionary columns serve as text; numeric and boolean ones as features.
    ``min_columns`` is 2 for a table of edges, which may have no rows."""

    def __init__(self, path: Path, min_columns: int = 1) -> None:
        check_file(path)
        require_utf8(path)
        self.path = path
        try:
            self._file = pq.ParquetFile(path)
            stored = self._file.schema_arrow.names
        except Exception as error:
            # Damaged bytes raise Arrow's own kinds, and Unicode errors from column names.
            raise self._damaged(error) from None
        self.names = tuple(map(one_line, stored))
        self._stored = dict(zip(self.names, stored, strict=True))
        if self._file.metadata.num_rows == 0 and min_columns == 1:
            raise InputError(f"{path} has a header and no rows")
        self.index_column = next((n for n in self.names if n.startswith("__index_level_")), None)
        self.row_names = self._named_index()
        self._check_names()

    def _named_index(self) -> str | None:
        """As pandas says it in the file: the columns of its index by name."""
        try:
            told = json.loads((self._file.schema_arrow.metadata or {})[b"pandas"])["index_columns"]
            found = [one_line(name) for name in told if isinstance(name, str)]
        except (KeyError, TypeError, ValueError):
            return None
        return found[0] if len(found) == 1 and found[0] in self.names and found[0] != self.index_column else None

    def read(
        self, ids: Collection[str], text: Collection[str] = (), numbers: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        names = [*ids, *text, *numbers]
        stored = [self._stored[name] for name in names]
        try:
            columns = dict(zip(names, self._file.read(columns=stored).select(stored).columns, strict=True))
        except Exception as error:
            raise self._damaged(error) from None
        for name in ids:
            self._check_ids(name, columns[name])
        return columns | {name: self._as_text(name, columns[name]) for name in (*ids, *text)}

    def number(self, row: int) -> int:
        return row + 1

    def _check_ids(self, name: str, column: pa.ChunkedArray) -> None:
        kind = _value_type(column)
        if column.null_count:
            # Said first: a gap is what turns a column of integers into one of floats.
            row = pc.index(column.is_null(), True).as_py()
            raise InputError(f"{self.path}: column '{name}' is blank in {self.place(row)}")
        if not (pa.types.is_integer(kind) or is_text(kind)):
            raise InputError(f"{self.path}: ids must be text or integers; column '{name}' holds {kind}")

    def _as_text(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        kind = _value_type(column)
        try:
            text = column.cast(kind).cast(pa.string()).fill_null("")
            text.validate(full=True)
            return text
        except pa.ArrowException:
            raise InputError(f"{self.path}: column '{name}' holds {kind}, which is not text") from None

    def _damaged(self, error: Exception) -> InputError:
        line = (str(error).splitlines() or ["unreadable"])[0][:160]
        return InputError(f"{self.path} is not a whole Parquet file: {line}")


def _value_type(column: pa.ChunkedArray) -> pa.DataType:
    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type
