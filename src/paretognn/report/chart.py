"""A chart as plain data: what plotly.js draws, and the same numbers as a table for those who cannot see it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

COLOURS = (
    "#3b7dd8", "#e07b39", "#2a9d6f", "#c44e7a", "#8a63c9", "#b5912b", "#3f9fb0", "#a0674b", "#9bbf3b", "#d0556b",
)  # fmt: skip
"""Told apart by most eyes, on white and on black."""


GREY = "#8a8f98"
"""Of what is no class, task or run of its own."""


def colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def shown(text: str) -> str:
    """A user's text as plotly.js must be given it, which takes tags in texts for markup."""
    return html.escape(text, quote=False)


@dataclass(frozen=True)
class Chart:
    """name : unique on the page. traces and layout : plotly.js's; colours of text, grid and ground are the page's.
    columns, rows : the table under it. colourings : names of the groups of traces that can be chosen from; each
    trace then says its own in ``meta``. height : in pixels."""

    name: str
    title: str
    traces: list[dict[str, Any]]
    layout: dict[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    colourings: Sequence[str] = ()
    height: int = 300

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "traces": self.traces, "layout": self.layout}
