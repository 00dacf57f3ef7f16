"""``paretognn datasets``: the public data sets, and where their files are looked for."""

import json
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.table import Table

from paretognn.cli.console import out
from paretognn.datasets import describe_datasets

NAME = "datasets"
HELP = """List the public data sets by name: sizes, and where their files are looked for.

Example:
  paretognn datasets --data-root /data/graphs
"""


def command(
    data_root: Annotated[Optional[Path], typer.Option(help="Folder of the data sets; default $PARETOGNN_DATA, then a cache folder.")] = None,  # noqa: E501, UP045
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    entries = describe_datasets(data_root)
    if as_json:
        print(json.dumps(entries, indent=1, default=str))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("name", "nodes", "edges", "features", "classes"):
        table.add_column(name, justify="left" if name == "name" else "right", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("looked for in", overflow="fold")
    for entry in entries:
        table.add_row(*(_cell(entry, key) for key in ("name", "nodes", "edges", "features", "classes", "present", "folder")))
    out.print(table)


def _cell(entry: dict[str, object], key: str) -> str:
    value = entry.get(key)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value or "")
