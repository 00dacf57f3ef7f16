"""The hidden-dimension figure: average performance against the encoder's width."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paretognn.atomic import atomic_write
from paretognn.benchmark.provenance import Provenance
from paretognn.benchmark.reference import AVERAGE
from paretognn.benchmark.render import Entry, Table
from paretognn.benchmark.selection import Budget, Result, Row
from paretognn.benchmark.tables import dataset_order, grid, lay_out, score_entry

NAME = "hidden-dimension"

Curves = dict[str, dict[Row, dict[int, Result]]]
"""Results by data set, row and width: of rows with at least two widths at one budget."""


def curves(results: Sequence[Result]) -> Curves:
    """Where two cells have one width, the one without settings of its own stands for it."""
    found: dict[str, dict[tuple[Row, Budget], dict[int, Result]]] = defaultdict(lambda: defaultdict(dict))
    for result in sorted(results, key=lambda r: r.varies_width):
        width = _width(result)
        if width is not None:
            found[result.dataset][result.row, result.budget].setdefault(width, result)
    kept: Curves = {}
    for dataset in dataset_order(found):
        lines = {line: widths for line, widths in found[dataset].items() if len(widths) > 1}
        named = {_line_of(row, budget, lines): widths for (row, budget), widths in lines.items()}
        ordered = grid(replace(result, row=row) for row, widths in named.items() for result in widths.values())
        rows = {row: dict(sorted(named[row].items())) for row in ordered}
        if rows:
            kept[dataset] = rows
    return kept


def _line_of(row: Row, budget: Budget, lines: Iterable[tuple[Row, Budget]]) -> Row:
    """The row, and its budget where it has lines of several."""
    several = sum(other == row for other, _ in lines) > 1
    return row._replace(label=f"{row.label} ({budget})") if several else row


def figure_table(found: Curves) -> Iterator[Table]:
    """The figure in numbers, a line a data set and method; nothing without curves."""
    results = [result for rows in found.values() for widths in rows.values() for result in widths.values()]
    if not results:
        return
    source = Provenance(results)
    widths = sorted({width for rows in found.values() for curve in rows.values() for width in curve})
    lines = tuple(
        (Entry(dataset), *line)
        for dataset, rows in found.items()
        for line in lay_out(rows, widths, lambda r: score_entry(r, AVERAGE), source.marks)
    )
    caption = f"Average performance in percent by width of the encoder. {source.deviations()} {source.budgets()}"
    columns = ("data set", "method", *map(str, widths))
    yield Table(NAME, "Width of the encoder", columns, lines, caption, source.notes, 2)


def draw(found: Curves, folder: Path) -> list[Path]:
    """The figure as PNG and SVG, a panel a data set."""
    from matplotlib import rc_context  # takes a second to load
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": NAME}):
        figure = Figure(figsize=(4.2 * len(found), 3.4), layout="constrained")
        axes = figure.subplots(1, len(found), squeeze=False)[0]
        for panel, (dataset, rows) in zip(axes, found.items(), strict=True):
            _panel(panel, dataset, rows)
        paths = [folder / f"{NAME}.png", folder / f"{NAME}.svg"]
        for path in paths:
            with atomic_write(path) as aside:
                # Without a date equal figures are equal files.
                date: dict[str, Any] = {"Date": None} if path.suffix == ".svg" else {}
                figure.savefig(aside, format=path.suffix[1:], dpi=200, metadata=date)
    return paths


def _panel(panel: Any, dataset: str, rows: dict[Row, dict[int, Result]]) -> None:
    widths = sorted({width for curve in rows.values() for width in curve})
    for row, curve in rows.items():
        points = [(width, score) for width, result in curve.items() if (score := result.score(AVERAGE))]
        panel.errorbar(
            [width for width, _ in points],
            [100 * score.mean for _, score in points],
            yerr=[100 * (score.deviation or 0) for _, score in points],
            marker="o",
            capsize=3,
            label=_plain(row.label),
        )
    panel.set(xscale="log", xlabel="width of the encoder", ylabel="average performance (%)", title=_plain(dataset))
    panel.set_xticks(widths, labels=[str(width) for width in widths])
    panel.minorticks_off()
    panel.legend()


def _plain(name: str) -> str:
    """Dollar signs are not formulas."""
    return name.replace("$", r"\$")


def _width(result: Result) -> int | None:
    for cell in result.cells:
        if cell.config and cell.config.get("encoder", {}).get("hidden_dims"):
            return int(cell.config["encoder"]["hidden_dims"][-1])
        if cell.width is not None:
            return cell.width
    asked = result.key.settings.get("encoder", {}).get("hidden_dims")
    return int(asked[-1]) if asked else None
