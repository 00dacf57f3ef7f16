"""``--json``: the same numbers for programs, on standard output."""

import json
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json/--no-json", help="Print JSON.")]


def print_json(content: Any) -> None:
    """Indented; NaN and infinity have no place in it."""
    print(json.dumps(content, indent=1, allow_nan=False, default=str))
