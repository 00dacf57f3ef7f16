"""A table of one or many files as DuckDB sees it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError, suggest

ROWS = 1 << 16
"""Rows of a batch."""
_TABLES = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
_WHOLE = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT",
)  # fmt: skip
NUMBERS = (*_WHOLE, "FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL")
IDS = (*_WHOLE, "VARCHAR")


class Scan:
    """sql : the table in a query. kinds : DuckDB's type by column. InputError where DuckDB cannot open it."""

    def __init__(self, database: Any, files: list[Path], where: Path, header: str) -> None:
        self.database, self.where = database, where
        self.text = _is_text(files)
        self.sql = _sql(files, header)
        described = database.execute(f"DESCRIBE SELECT * FROM {self.sql}").fetchall()
        self.kinds: dict[str, str] = {name: kind for name, kind, *_ in described}

    def find(self, asked: str | None, *usual: str, flag: str) -> str | None:
        """The column that was asked for, else the first of the usual ones that is there. InputError for one that is
        asked for and not there."""
        if asked is None:
            return next((name for name in usual if name in self.kinds), None)
        if asked not in self.kinds:
            raise InputError(f"{self.where}: has no column '{asked}' ({flag}){suggest(asked, self.kinds)}")
        return asked

    def require(self, name: str, kinds: tuple[str, ...], fault: str) -> None:
        """InputError with ``fault`` unless the column is of one of the kinds."""
        if not self.kinds[name].startswith(kinds):
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
        text = " ".join(str(error).split())
        if isinstance(error, duckdb.OutOfMemoryException):
            raise InputError(f"the import needs more than {memory >> 20} MiB for DuckDB: raise --memory") from None
        raise InputError(f"the tables cannot be read: {text[:300]}") from None
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
        return found
    if not path.is_file():
        raise InputError(f"{path}: no such file or folder")
    if not path.name.lower().endswith(_TABLES):
        raise InputError(f"{path}: the name must end in one of {', '.join(_TABLES)}")
    return [path]


def _is_text(files: list[Path]) -> bool:
    return not files[0].name.lower().endswith(".parquet")


def _sql(files: list[Path], header: str) -> str:
    listed_files = "[" + ", ".join("'" + str(file).replace("'", "''") + "'" for file in files) + "]"
    if not _is_text(files):
        return f"read_parquet({listed_files})"
    titles = "" if header == "auto" else f", header = {'true' if header == 'yes' else 'false'}"
    return f"read_csv({listed_files}, all_varchar = true, nullstr = ''{titles})"
