"""A table as a file: Parquet, or CSV that simple tools read."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from paretognn.atomic import atomic_write
from paretognn.errors import InputError

TABLES = (".parquet", ".csv")
_SPECIAL = '[",\r\n]'


def check_suffix(path: Path, suffixes: Sequence[str] = TABLES) -> None:
    """InputError unless the file's name says how to write it."""
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{path}: the name must end in one of {', '.join(suffixes)}")


def write_parquet(table: pa.Table, path: Path) -> None:
    """Into an open file: pyarrow takes a path that begins with a tilde for one at home, and a URL for a server."""
    with path.open("wb") as file:
        pq.write_table(table, file)


def write_table(path: Path, table: pa.Table) -> None:
    """By the end of the file's name. CSV has quotes where a title or text needs them, and none elsewhere: pyarrow by
    itself quotes every one, which tools that split lines at commas take for part of it."""
    check_suffix(path)
    with atomic_write(path) as aside:
        if path.suffix.lower() == ".parquet":
            write_parquet(table, aside)
            return
        texts = [column for column in table.columns if pa.types.is_string(column.type)]
        special = any(pc.any(pc.match_substring_regex(text, _SPECIAL)).as_py() for text in texts)
        options = pa_csv.WriteOptions(include_header=False, quoting_style="needed" if special else "none")
        titles = io.StringIO()
        csv.writer(titles, lineterminator="\n").writerow(table.column_names)
        with aside.open("wb") as file:
            file.write(titles.getvalue().encode())
            pa_csv.write_csv(table, file, options)
