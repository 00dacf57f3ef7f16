"""YAML as plain values, whatever the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from paretognn.errors import InputError

MOST = 100_000
"""Values that a tree may have, with those that an alias repeats: nine lines of aliases of aliases make a billion."""


def read_yaml(text: str, where: str | Path) -> Any:
    """None, truth values, numbers, text, dates, lists and mappings. InputError naming ``where``, with the line where
    it is known."""
    try:
        tree = yaml.safe_load(text)
    except Exception as error:
        # Beside its own errors PyYAML raises whatever Python has for a tag that its value does not fit.
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = "" if line is None else f", line {line + 1}"
        raise InputError(f"{where}{place}: is not valid YAML") from None
    if not _within(tree, MOST):
        raise InputError(f"{where}: its aliases make more than {MOST:,} values, or lead back to themselves")
    return tree


def _within(tree: Any, most: int) -> bool:
    left = [tree]
    while left and most > 0:
        value = left.pop()
        most -= 1
        if isinstance(value, dict | list | tuple | set):
            left.extend(value)
            left.extend(value.values() if isinstance(value, dict) else ())
    return not left
