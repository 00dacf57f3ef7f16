"""An extension of griffe: the house's docstrings as Markdown. ``name : text`` becomes an item of a list, a doctest a
block of code."""

import re
from typing import Any

import griffe

_FIELD = re.compile(r"^(\w+(?:, \w+)*) : (.*)$")
_HEADING = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
_NEXT = re.compile(r"(?<=[.;:]) (?=\w+(?:, \w+)* : )")


class HouseDocstrings(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Paragraphs apart, so that each is either of one kind or left as it is."""
    text = _HEADING.sub(r"**\1**\n\n", text).replace("::\n\n", ":\n\n")
    return "\n\n".join(_paragraph(part) for part in text.split("\n\n"))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if lines and lines[0].startswith(">>> "):
        return "\n".join(["```pycon", *lines, "```"])
    if not lines or not _FIELD.match(lines[0]):
        return text
    joined: list[str] = []
    for line in lines:
        if _FIELD.match(line) or not joined:
            joined.append(line)
        else:
            joined[-1] += f" {line.strip()}"
    fields = [field for line in joined for field in _NEXT.split(line)]
    return "\n".join(_FIELD.sub(r"- `\1`: \2", field) for field in fields)
