"""``paretognn import``: tables larger than memory become a graph on disk."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.console import say
from paretognn.cli.options import listed
from paretognn.errors import InputError
from paretognn.graph.importing import import_tables
from paretognn.graph.mapped import verify
from paretognn.graph.summary import format_summary
from paretognn.graph.table_options import TableOptions
from paretognn.private_peak import PrivatePeak

_MOST_MEMORY = 1 << 20
NAME = "import"
HELP = """Make a graph on disk of tables that may be larger than memory; any command then takes it as --graph STORE.

A table is a Parquet or CSV file, or a folder of such. Columns are numeric, without gaps; edges are between nodes of the
node table. A call that was stopped goes on where it was when it is made again.

\b
Examples:
  paretognn import --nodes nodes.parquet --edges edges/ --out store
  paretognn train --graph store --out runs/big
  paretognn import --verify --out store
"""


def command(
    out: Annotated[Path, typer.Option(help="The store to write.")],
    nodes: Annotated[Path | None, typer.Option(help="Node table: a file, or a folder of files.")] = None,
    edges: Annotated[Path | None, typer.Option(help="Edge table: a file, or a folder of files.")] = None,
    id_column: Annotated[str | None, typer.Option(help="Node id; default 'id' or 'node_id', else the first.")] = None,
    source_column: Annotated[str | None, typer.Option(help="Edge source; default 'source' or 'src'.")] = None,
    target_column: Annotated[str | None, typer.Option(help="Edge target; default 'target' or 'dst'.")] = None,
    weight_column: Annotated[str | None, typer.Option(help="Edge weight; default 'weight' if there.")] = None,
    label_column: Annotated[str | None, typer.Option(help="Label; default 'label' if there.")] = None,
    feature_columns: Annotated[
        str | None, typer.Option(help="Feature columns, comma-separated; default all others.")
    ] = None,
    drop_columns: Annotated[str | None, typer.Option(help="Columns to leave out, comma-separated.")] = None,
    header: Annotated[str, typer.Option(help="Whether CSV files have a header line: auto, yes or no.")] = "auto",
    parts: Annotated[
        int | None,
        typer.Option(help="Divide the nodes by METIS, for train --split-features; needs memory for the edges."),
    ] = None,
    memory: Annotated[float, typer.Option(help="GiB that reading, joining and sorting may take.")] = 2.0,
    check: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Instead, read the store and compare it with its digests.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    if check:
        if nodes is not None or edges is not None:
            raise InputError("--verify reads a store; it takes no --nodes and --edges")
        verify(out)
        say(f"{out}: every file matches its digest")
        if as_json:
            print_json({"store": str(out), "intact": True})
        return
    if nodes is None or edges is None:
        raise InputError("an import needs --nodes and --edges, each a file or a folder of files")
    if not 0 < memory < _MOST_MEMORY:
        raise InputError(f"--memory must be above 0 and below {_MOST_MEMORY:,} GiB, not {memory}")
    if parts is not None and parts < 2:
        raise InputError(f"--parts must be at least 2, not {parts}")
    options = TableOptions(
        id_column=id_column,
        source_column=source_column,
        target_column=target_column,
        weight_column=weight_column,
        label_column=label_column,
        feature_columns=tuple(listed(feature_columns)),
        drop_columns=tuple(listed(drop_columns)),
        header=header,
    )
    with PrivatePeak() as peak:
        facts = import_tables(nodes, edges, out, options, int(memory * 2**30), say, parts)
    for line in format_summary(facts["summary"]):
        say(line)
    say(f"{peak}")
    say(f"wrote {out}; next: paretognn train --graph {shlex.quote(str(out))} --out RUN")
    if as_json:
        print_json({"store": str(out), "digest": facts["digest"], **peak.to_json(), "summary": facts["summary"]})
