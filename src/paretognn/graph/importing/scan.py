"""A table of one or many files as DuckDB sees it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError, require_utf8
from paretognn.graph.csv_table import CsvTable
from paretognn.graph.table import Table
from paretognn.graph.text_file import LINE_BREAK, read_text

ROWS = 1 << 16
"""Rows of a batch."""
HEAD = 1 << 20
"""Bytes of a file of text that are looked at to tell its columns."""
_GLOB = re.compile(r"[*?\[]")
_TABLES = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
_WHOLE = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT",
)  # fmt: skip
NUMBERS = (*_WHOLE, "FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL")
IDS = (*_WHOLE, "VARCHAR")


class Scan:
    """head : what the beginning of a file tells: the columns, and how text is delimited. sql : the table in a query.
    kinds : DuckDB's type by column. InputError where DuckDB cannot open it."""

    def __init__(self, database: Any, files: list[Path], where: Path, head: Table) -> None:
        self.database, self.where, self.head = database, where, head
        self.text = isinstance(head, CsvTable)
        if isinstance(head, CsvTable):
            _require_alike(files, head)
        self.sql = _sql(files, head)
        described = database.execute(f"DESCRIBE SELECT * FROM {self.sql}").fetchall()
        # DuckDB renames columns that differ in letter case alone; their order stays.
        self._stored = dict(zip(head.names, (name for name, *_ in described), strict=True))
        self.kinds: dict[str, str] = dict(zip(head.names, (kind for _, kind, *_ in described), strict=True))

    def column(self, name: str) -> str:
        """The column in a query, as text."""
        return f"CAST({quoted(self._stored[name])} AS VARCHAR)"

    def number(self, name: str) -> str:
        """The column in a query, as a float32; NULL where it is none."""
        stored = quoted(self._stored[name])
        if not self.text:
            return f"TRY_CAST({stored} AS FLOAT)"
        # DuckDB would push a plain cast into its reader of text, which fails where this must not; and it alone
        # takes 1_000 for a number.
        value = f"TRY_CAST(CASE WHEN contains({stored}, '_') THEN NULL ELSE trim({stored}) END AS FLOAT)"
        return f"coalesce({value}, CASE lower(trim({stored})) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END)"

    def require(self, name: str, kinds: tuple[str, ...], fault: str) -> None:
        """InputError with ``fault`` unless the column is of one of the kinds."""
        if not self.kinds[name].startswith(kinds) or self.kinds[name].endswith("]"):  # a list of such
            raise InputError(f"{self.where}: column '{name}' ({self.kinds[name].lower()}) {fault}")

    def batches(self, columns: str) -> Iterator[pa.RecordBatch]:
        """The columns, as a query writes them, of all rows in their order."""
        return batches(self.database, f"SELECT {columns} FROM {self.sql}")


def batches(database: Any, query: str) -> Iterator[pa.RecordBatch]:
    yield from database.sql(query).to_arrow_reader(ROWS)


def require_filled(column: pa.Array, what: str, before: int) -> None:
    """InputError for a blank, naming its row, with ``before`` rows before the column's."""
    if column.null_count:
        row = before + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0]) + 1
        raise InputError(f"{what} is blank in row {row}")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def opened(staging: Path, memory: int) -> Iterator[Any]:
    try:
        import duckdb
    except ImportError:
        raise InputError("an import needs DuckDB: pip install 'paretognn[import]'") from None
    spill = staging / "spill"
    shutil.rmtree(spill, ignore_errors=True)
    settings: dict[str, Any] = {
        "memory_limit": f"{memory >> 20}MiB",
        "temp_directory": str(spill),
        "preserve_insertion_order": "true",
    }
    database = duckdb.connect(config=settings)
    try:
        yield database
    except duckdb.Error as error:
        if isinstance(error, duckdb.OutOfMemoryException):
            raise InputError(f"the import needs more than {memory >> 20} MiB for DuckDB: raise --memory") from None
        raise InputError(_fault(str(error))) from None
    finally:
        database.close()
        shutil.rmtree(spill, ignore_errors=True)


def files_of(path: Path) -> list[Path]:
    """The table itself, or those of a folder in the order of their names."""
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.name.lower().endswith(_TABLES) and file.is_file())
        if not found:
            raise InputError(f"{path}: holds no Parquet or CSV file")
        if len({_is_text([file]) for file in found}) > 1:
            raise InputError(f"{path}: holds both Parquet and CSV files; a table is one kind")
        for file in found:
            require_utf8(file)
        return found
    require_utf8(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file or folder")
    if not path.name.lower().endswith(_TABLES):
        raise InputError(f"{path}: the name must end in one of {', '.join(_TABLES)}")
    return [path]


def largest(files: list[Path]) -> Path:
    """The file whose head tells the columns: some writers leave empty ones beside it."""
    return max(files, key=lambda file: file.stat().st_size)


def _is_text(files: list[Path]) -> bool:
    return not files[0].name.lower().endswith(".parquet")


def _require_alike(files: list[Path], head: CsvTable) -> None:
    """InputError for a file of text that begins otherwise than the one that tells the columns: DuckDB skips as many
    lines of each, and takes columns by their place."""

    def beginning(file: Path) -> tuple[int, bytes]:
        text = read_text(file, HEAD)
        return text.lines_before, LINE_BREAK.split(bytes(text.body), maxsplit=1)[0] if head.titled else b""

    expected = beginning(head.path)
    for file in files:
        if file.stat().st_size and beginning(file) != expected:
            raise InputError(
                f"{file}: its first lines are not those of {head.path.name}; the files of a table have the same "
                "columns in the same order"
            )


def _sql(files: list[Path], head: Table) -> str:
    listed_files = "[" + ", ".join(_text(_GLOB.sub(r"[\g<0>]", str(file))) for file in files) + "]"
    if not isinstance(head, CsvTable):
        return f"read_parquet({listed_files}, hive_partitioning = false)"
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(head.names)))
    return (
        f"read_csv({listed_files}, auto_detect = false, delim = {_text(head.delimiter)}, quote = '\"', escape = '\"', "
        f"header = {'true' if head.titled else 'false'}, skip = {head.lines_before}, nullstr = '', "
        f"hive_partitioning = false, columns = {{{columns}}})"
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _fault(text: str) -> str:
    """What DuckDB says against a table, in one line; of delimited text with file and line."""
    line, file = re.search(r"CSV Error on Line: (\d+)", text), re.search(r"^ *file = (.*)$", text, re.MULTILINE)
    if line is None:
        return f"the tables cannot be read: {' '.join(text.split())[:300]}"
    where = f"{file[1] if file else 'a table'}: line {line[1]}"
    if counts := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return f"{where} has {counts[2]} column(s), where {counts[1]} are expected"
    if "unterminated quote" in text:
        return f"{where}: is a quote left open?"
    if "not utf-8" in text:
        return f"{where} is not UTF-8 text"
    return f"{where}: {' '.join(text.split())[:200]}"
