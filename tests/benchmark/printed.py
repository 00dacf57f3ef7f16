"""The tables that `paretognn tables` prints, read back."""

import re

ALL = "Average performance: all rows"


def parsed(text):
    found = {}
    for block in text.split("## ")[1:]:
        title, _, body = block.partition("\n")
        lines = [split(line) for line in body.splitlines() if line.startswith("|")]
        below = "\n".join(line for line in body.splitlines() if not line.startswith("|"))
        assert len({len(line) for line in lines}) == 1
        found[title] = (lines[0], lines[2:], below)
    return found


def split(line):
    return [part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]]


def shown(table):
    """Method -> column -> printed text."""
    header, rows, _ = table
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
