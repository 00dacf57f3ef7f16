"""What kind of delimited text a file is: its delimiter, and whether its first line names the columns.

A first line is never lost in silence: it is a header where it holds the names that are relied on, or text
above columns of numbers, or usual titles for the ends of an edge; it is data where it holds numbers above
numbers, or ids that are seen elsewhere; where neither is so, the user is asked.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from paretognn.graph.text_file import LINE_BREAK

_DELIMITERS = ("\t", ";", ",", "|")
_SAMPLE_BYTES = 1 << 16
_SAMPLE_LINES = 50
_ENDPOINT_WORDS = frozenset(
    {"source", "target", "src", "dst", "from", "to", "u", "v", "head", "tail", "start", "end"}
    | {"source_id", "target_id", "from_id", "to_id", "from_node", "to_node", "fromnodeid", "tonodeid"}
    | {"node1", "node2", "node_1", "node_2", "id1", "id2", "id_1", "id_2", "sender", "receiver"}
)


def sample_text(body: memoryview) -> str:
    """The first lines, whole ones only: some tens of kilobytes, or more where the lines are long."""
    end, lines = 0, 0
    for match in LINE_BREAK.finditer(body):
        end, lines = match.end(), lines + 1
        if lines >= _SAMPLE_LINES and end >= _SAMPLE_BYTES:
            return bytes(body[:end]).decode("utf-8", "replace")
    return bytes(body).decode("utf-8", "replace")


def records(text: str, delimiter: str) -> Iterator[list[str]]:
    """The records of ``text`` that are not empty lines. Raises csv.Error for a field beyond 128 KiB."""
    return (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)


def detect_delimiter(sample: str, min_columns: int) -> str:
    """The delimiter that cuts every line alike and finest; a space only where nothing else cuts at all."""

    def score(delimiter: str) -> tuple[bool, int]:
        rows = list(records(sample, delimiter))
        width = len(rows[0]) if rows else 0
        return width > 1 and all(len(row) == width for row in rows), width

    best = max(_DELIMITERS, key=score)
    if score(best)[1] > 1:
        return best
    return " " if min_columns > 1 and score(" ")[0] else ","


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def has_header(
    first: list[str],
    rest: list[list[str]],
    *,
    reserved: bool,
    endpoints: bool,
    is_node: Callable[[str], bool],
) -> bool | None:
    """Whether ``first`` names columns; None where the text does not tell.

    reserved : ``first`` holds a column name that is relied on (``id``, or ``source`` and ``target``, ...).
    endpoints : the first two columns are the ends of an edge.
    is_node : whether a text is an id of the node table.
    """
    if reserved:
        return True
    if endpoints and any(is_number(text) for text in first[:2]):
        return False
    text_over_numbers = numbers_over_numbers = False
    for k, title in enumerate(first):
        below = [row[k] for row in rest if k < len(row) and row[k].strip()]
        if below and title.strip() and all(map(is_number, below)):
            text_over_numbers |= not is_number(title)
            numbers_over_numbers |= is_number(title)
    # A data frame written with numbered columns: "node,0,1,2" looks like a row of numbers.
    numbered = len(first) > 2 and first[1:] in (_count(0, first), _count(1, first))
    if numbered or (text_over_numbers and numbers_over_numbers):
        return None
    if text_over_numbers or numbers_over_numbers:
        return text_over_numbers
    if not endpoints:
        return False if is_number(first[0]) else None
    seen_below = {text for row in rest for text in row[:2]}
    if any(text in seen_below or is_node(text) for text in first[:2]):
        return False
    return True if all(text.strip().lower() in _ENDPOINT_WORDS for text in first[:2]) else None


def _count(start: int, first: list[str]) -> list[str]:
    return [str(i) for i in range(start, start + len(first) - 1)]
