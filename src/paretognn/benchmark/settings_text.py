"""A tree of settings as text: by dotted path, and each value in a few characters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def flatten(tree: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Leaves by dotted path; a mapping with a ``name`` (a sampler, a schedule) is a leaf where a path leads to it."""
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and "name" not in value:
            yield from flatten(value, f"{path}.")
        else:
            yield path, value


_ALONE = ("full", "never", "none")
"""Names under which the settings beside them mean nothing."""


def readable(value: Any) -> str:
    """A setting in a few characters: ``saint-walk(seeds=320, hops=4)``."""
    if isinstance(value, dict):
        name = str(value.get("name", ""))
        parts = {k: readable(v) for k, v in value.items() if k != "name" and v is not None and name not in _ALONE}
        rest = ", ".join(f"{k}={text}" for k, text in parts.items() if text)
        return f"{name}({rest})" if rest else name
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(readable, value))}]"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)
