"""``paretognn datasets``: the public data sets, and where their files are looked for."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.console import out
from paretognn.datasets import describe_datasets
from paretognn.datasets.load import data_folder

NAME = "datasets"
HELP = """List the public data sets by name: sizes, and where their files are looked for.

\b
Example:
  paretognn datasets --data-root /data/graphs
"""


def command(
    data_root: Annotated[
        Path | None,
        typer.Option(help="Folder of the data sets; default $PARETOGNN_DATA, then a cache folder."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    entries = describe_datasets(data_root)
    if as_json:
        print_json(entries)
        return
    root = data_folder(data_root)[0]
    out.print(f"files are looked for in {root}")
    names = ("name", "nodes", "edges", "features", "classes", "there", "folder")
    rows = []
    for entry in entries:
        folder = "bundled" if entry["folder"] is None else os.path.relpath(entry["folder"], root)
        sizes = [f"{entry[key]:,}" for key in ("nodes", "edges", "features", "classes")]
        rows.append([str(entry["name"]), *sizes, "yes" if entry["present"] else "no", folder])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        # In a narrow terminal the folder gives way, never a number.
        least = None if name == "folder" else max(map(len, (name, *cells)))
        number = name in ("nodes", "edges", "features", "classes")
        table.add_column(name, justify="right" if number else "left", no_wrap=True, min_width=least)
    for row in rows:
        table.add_row(*row)
    out.print(table)
