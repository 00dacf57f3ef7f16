"""Answers about nodes, by id: as a table in the terminal, as JSON, or as a file."""

from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.table import Table

from paretognn.cli.as_json import print_json
from paretognn.cli.console import out as output
from paretognn.cli.console import say
from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.graph.write_table import write_table

Run = Annotated[Path, typer.Argument(help="A run folder, of a finished run.")]
Id = Annotated[str, typer.Option("--id", help="The node's id, as in your table.")]
Out = Annotated[Path | None, typer.Option(help="File to write instead: .parquet or .csv.")]


def row_of(graph: Graph, name: str) -> int:
    """Where the id stands among the graph's. InputError where it does not."""
    try:
        row = graph.id_array().index(name).as_py()
    except UnicodeEncodeError:  # bytes that are no UTF-8 text, as no id is
        row, name = -1, ascii(name)
    if row < 0:
        raise InputError(f"--id {name}: the run has no such node")
    return int(row)


def label_column(graph: Graph, nodes: Any) -> dict[str, pa.Array]:
    """The labels of ``nodes``, blank where there is none; no column for a graph without labels."""
    if graph.labels is None:
        return {}
    names = [*graph.label_names, ""]
    return {"label": pa.array([names[code] for code in graph.labels[nodes].tolist()])}


def answer(columns: dict[str, Any], path: Path | None, as_json: bool) -> None:
    """Columns of one length, in the order given; the first is the id."""
    table = pa.table(columns)
    if path is not None:
        write_table(path, table)
        say(f"wrote {path}: {table.num_rows:,} rows")
        if as_json:
            print_json({"out": str(path), "rows": table.num_rows})
    elif as_json:
        print_json(table.to_pylist())
    else:
        shown = Table(box=None, pad_edge=False, header_style="bold")
        for name, kind in zip(table.column_names, table.schema.types, strict=True):
            shown.add_column(name, justify="left" if pa.types.is_string(kind) else "right")
        for row in table.to_pylist():
            shown.add_row(*(_shown(value) for value in row.values()))
        output.print(shown)


def _shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
