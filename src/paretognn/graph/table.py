"""A table, whatever its format: named columns, read as text or numbers, and rows that can be pointed at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa

from paretognn.errors import InputError, suggest


def one_line(title: str) -> str:
    """A column's title without line breaks and outer spaces, as flags and messages need it."""
    return " ".join(title.split())


class Table(ABC):
    """A table on disk. ``names`` are its columns in file order; ``notes`` say how the file was understood."""

    path: Path
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    unit: str = "row"
    index_column: str | None = None
    """The column that a data frame's row index was written to, if there is one: it has no real name."""
    row_names: str | None = None
    """The same, where the index has a name."""

    @abstractmethod
    def read(
        self, ids: Collection[str], text: Collection[str] = (), numbers: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        """The named columns. Those of ``ids`` and ``text`` are strings, as written, ``""`` where blank.

        Columns of ``numbers`` come as they are stored; a CSV column that is not numeric comes as text.
        Raises InputError for a damaged file, naming the line where there is one, and for a column of ids
        that holds neither text nor integers.
        """

    @abstractmethod
    def number(self, row: int) -> int:
        """Where a row (from 0) stands in the file, as people count: its line, or its row from 1."""

    def place(self, row: int) -> str:
        """The same in words: ``line 4`` or ``row 3``."""
        return f"{self.unit} {self.number(row)}"

    def find(self, asked: str | None, *usual: str, flag: str = "") -> str | None:
        """The column that was asked for, else the first of the usual names, letter case aside.

        Raises InputError where a column that was asked for is missing.
        """
        if asked is not None:
            self.require([asked], flag)
            return asked
        folded = {name.strip().lower(): name for name in reversed(self.names)}
        return next((folded[name] for name in usual if name in folded), None)

    def require(self, columns: Collection[str], what: str) -> None:
        """Raise InputError for the first of ``columns`` that the table lacks."""
        for column in columns:
            if column not in self.names:
                near = suggest(column, self.names)
                raise InputError(f"{self.path} has no column '{column}' ({what}){near}")

    def _check_names(self) -> None:
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise InputError(f"{self.path}: column '{name}' appears twice; rename one of the two")
            seen.add(name)
