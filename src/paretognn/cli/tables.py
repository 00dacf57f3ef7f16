"""``paretognn tables``: the stored cells of a benchmark as tables and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from paretognn.atomic import atomic_write
from paretognn.benchmark.beside import scores_beside
from paretognn.benchmark.cells import Store
from paretognn.benchmark.cost import cost_tables
from paretognn.benchmark.figure import curves, draw, figure_table
from paretognn.benchmark.hyperparameters import hyperparameter_table
from paretognn.benchmark.protocol import refuse_mixed
from paretognn.benchmark.render import FORMATS, Table, markdown
from paretognn.benchmark.selection import results_of, select, tabled
from paretognn.benchmark.sizes import sizes_table
from paretognn.benchmark.tables import score_tables
from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.console import say
from paretognn.errors import InputError

NAME = "tables"
HELP = """Make the tables of a benchmark: scores with average ranks, cost, settings, and the paper's figures beside.

Markdown goes to standard output; with --out each table is also written as Markdown, LaTeX
(for booktabs, graphicx and longtable) and CSV.

\b
Examples:
  paretognn tables BENCH
  paretognn tables BENCH --out tables --steps 500
"""


def command(
    store: Annotated[Path, typer.Argument(help="A folder that `paretognn benchmark --out` wrote.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write the tables and the figure to.")] = None,
    preset: Annotated[str | None, typer.Option(help="Show cells of this preset only.")] = None,
    steps: Annotated[
        int | None, typer.Option(help="Show cells of so many steps only; default those that most cells have.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    cells = list(Store(store))
    if not cells:
        raise InputError(f"no cells in {store}: `paretognn benchmark --out {store}` makes them")
    every = results_of(cells, preset, steps)
    results = select(every)
    refuse_mixed(cell for result in every for cell in result.cells)
    main = tabled(results)
    by_width = curves(results)
    tables = [
        *score_tables(main),
        *figure_table(by_width),
        *cost_tables(main),
        *sizes_table(results),
        *hyperparameter_table(main),
        *scores_beside(tabled(every)),
    ]
    if out is not None:  # before what a reader that goes away ends
        _write(tables, out)
        if by_width:
            draw(by_width, out)
        say(f"wrote {len(tables)} tables to {out}")
    if as_json:
        print_json([_content(table) for table in tables])
    else:
        print("\n".join(map(markdown, tables)), end="")


def _content(table: Table) -> dict[str, Any]:
    rows = [dict(zip(table.columns, map(asdict, row), strict=True)) for row in table.rows]
    return {"name": table.name, "title": table.title, "caption": table.caption, "notes": table.notes, "rows": rows}


def _write(tables: Sequence[Table], folder: Path) -> None:
    for table in tables:
        for suffix, written in FORMATS.items():
            with atomic_write(folder / f"{table.name}.{suffix}") as aside:
                aside.write_text(written(table), encoding="utf-8")
