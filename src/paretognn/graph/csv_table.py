"""Delimited text by pyarrow: every type is set here, so that no reader guesses ``007`` to be 7."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv

from paretognn.errors import InputError
from paretognn.graph.dialect import detect_delimiter, has_header, records, sample_text
from paretognn.graph.ids import shown
from paretognn.graph.table import Table, one_line
from paretognn.graph.text_file import LINE_BREAK, read_text


def _never(_: str) -> bool:
    return False


class CsvTable(Table):
    """A CSV, TSV, semicolon, pipe or space separated file, plain or gzip.

    reserved : sets of column names; a first line that holds one whole set is a header.
    min_columns : 2 for a table of edges, which may have no rows, else 1.
    header : ``auto``, ``yes`` or ``no``.
    is_node : whether a text is an id of the node table; it helps to tell a header from an edge.
    most : bytes to look at, for what is read elsewhere; None for the whole file.

    Raises InputError for a file that is missing, empty, without rows, or whose header cannot be told.
    """

    unit = "line"
    lines_before: int
    """Comments and blank lines at its head."""
    delimiter: str
    titled: bool
    """Whether its first line names the columns."""

    def __init__(
        self,
        path: Path,
        reserved: Collection[frozenset[str]],
        *,
        min_columns: int = 1,
        header: str = "auto",
        is_node: Callable[[str], bool] = _never,
        most: int | None = None,
    ) -> None:
        self.path = path
        file = read_text(path, most)
        self.lines_before = file.lines_before
        self._body, self._line, self._quoted = file.body, file.lines_before, file.quoted
        sample = sample_text(self._body)
        try:
            self.delimiter = detect_delimiter(sample, min_columns)
            first, *rest = records(sample, self.delimiter)
        except csv.Error as error:
            raise InputError(f"{path} is not a table of delimited text: {error}") from None
        if len(first) < min_columns:
            raise InputError(f"{path}: line {self._line + 1} has {len(first)} column, where 2 are needed")
        folded = {title.strip().lower() for title in first} | set(first)
        known = any(names <= folded for names in reserved)
        if header == "auto":
            told = has_header(first, rest, reserved=known, endpoints=min_columns > 1, is_node=is_node)
        else:
            told = header == "yes"
        self.titled = bool(told)
        if told is None and not rest:
            raise InputError(
                f"{path} has no rows below its first line '{shown(','.join(first)[:60])}'; if that is a row "
                "itself, say --header no"
            )
        if told is None:
            raise InputError(
                f"{path}: cannot tell whether the first line '{shown(','.join(first)[:60])}' names the "
                f"columns: name them {_usual(min_columns)}, or say --header yes or --header no"
            )
        if told:
            titles = enumerate(map(one_line, first), 1)
            self.names = tuple(title if title or k == 1 else f"column_{k}" for k, title in titles)
            self._skip_header(sample)
            if self._blank() and min_columns == 1:
                raise InputError(f"{path} has a header and no rows")
        else:
            self.names = tuple(f"column_{k}" for k in range(1, len(first) + 1))
            self.notes = (f"{path.name} has no header line; its first line is data",)
        if file.comments:
            self.notes += (f"{path.name}: {file.comments} leading '#' line(s) skipped",)
        self.index_column = next((n for n in self.names[:1] if n in ("", "Unnamed: 0")), None)
        self._check_names()

    def _blank(self) -> bool:
        return not bytes(self._body[:4096]).strip() and not bytes(self._body).strip()

    def _skip_header(self, sample: str) -> None:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=self.delimiter)
        next(row for row in reader if row)
        ends = (match.end() for match in LINE_BREAK.finditer(self._body))
        end = next((end for line, end in enumerate(ends, 1) if line == reader.line_num), len(self._body))
        self._body = self._body[end:]
        self._line += reader.line_num

    def read(
        self, ids: Collection[str], text: Collection[str] = (), numbers: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        text = [*ids, *text]
        try:
            return self._parse(text, numbers)
        except pa.ArrowInvalid:
            # Either a column holds something that is no number, which the caller will name, or the file
            # is damaged, in which case it fails again.
            try:
                return self._parse([*text, *numbers], [])
            except pa.ArrowInvalid as error:
                raise InputError(f"{self.path}{self._diagnose(error)}") from None

    def _parse(self, text: Collection[str], numbers: Collection[str]) -> dict[str, pa.ChunkedArray]:
        if self._blank():
            none = {pa.string(): text, pa.float32(): numbers}
            return {name: pa.chunked_array([], kind) for kind, names in none.items() for name in names}
        position = {name: str(k) for k, name in enumerate(self.names)}
        types = {position[name]: pa.string() for name in text}
        types |= {position[name]: pa.float32() for name in numbers}
        table = pacsv.read_csv(
            pa.BufferReader(pa.py_buffer(self._body)),
            pacsv.ReadOptions(column_names=list(position.values()), block_size=1 << 24),
            pacsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=self._quoted),
            pacsv.ConvertOptions(
                column_types=types, include_columns=list(types), strings_can_be_null=False, check_utf8=True
            ),
        )
        return {name: table.column(position[name]) for name in (*text, *numbers)}

    def number(self, row: int) -> int:
        text = bytes(self._body).decode("utf-8", "replace")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter)
        before = 0
        with suppress(csv.Error):
            for record in reader:
                if record and row == 0:
                    break
                row -= bool(record)
                before = reader.line_num
        return self._line + before + 1

    def _diagnose(self, error: Exception) -> str:
        """`` line 3: ...``: the first line at fault, by a second, slower look."""
        try:
            text = bytes(self._body).decode("utf-8")
        except UnicodeDecodeError as broken:
            line = self._line + len(LINE_BREAK.findall(self._body[: broken.start])) + 1
            return f": line {line} is not UTF-8 text"
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter)
        before = 0
        try:
            for record in reader:
                if record and len(record) != len(self.names):
                    wrong = f"has {len(record)} column(s), where {len(self.names)} are expected"
                    return f": line {self._line + before + 1} {wrong}"
                before = reader.line_num
        except csv.Error:
            return f": line {self._line + before + 1} has a field that is too long: is a quote left open?"
        return f": {str(error).splitlines()[0][:200]}"


def _usual(min_columns: int) -> str:
    return "source,target" if min_columns > 1 else "id,..."
