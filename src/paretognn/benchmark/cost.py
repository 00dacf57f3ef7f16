"""The cost tables: seconds for 1,000 steps and peak memory, by method and data set, the paper's beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from paretognn.benchmark.provenance import HARDWARE, Provenance
from paretognn.benchmark.ranks import OUT
from paretognn.benchmark.reference import paper_cost
from paretognn.benchmark.render import Entry, Table
from paretognn.benchmark.selection import Result
from paretognn.benchmark.tables import dataset_order, grid, lay_out

Measure = Callable[[Result], float | None]


def cost_tables(results: Sequence[Result]) -> Iterator[Table]:
    """Those that have cells."""
    for part, (name, (title, meaning, measure)) in enumerate(_MEASURES.items()):
        yield from _table(f"cost-{name}", f"Cost: {title}", meaning, results, measure, part)


def _table(
    name: str, title: str, meaning: str, results: Sequence[Result], measure: Measure, part: int
) -> Iterator[Table]:
    """part : of the paper's figures, the one that is comparable."""
    kept = [r for r in results if measure(r) is not None or (r.trained and not r.done)]
    if not any(r.done for r in kept):
        return
    rows, datasets = grid(kept), dataset_order(r.dataset for r in kept)
    source = Provenance(kept)
    lines = lay_out(rows, datasets, lambda r: _entry(measure(r), r.outcome), source.cost_marks)
    paper = paper_cost()
    for method in dict.fromkeys(row.label for row in rows):
        known = {d: paper[d, method] for d in datasets if (d, method) in paper}
        if known:
            machines = sorted({machine for *_, machine in known.values()})
            marks = tuple(source.mark(HARDWARE, f"the paper's figure, on {machine}") for machine in machines)
            entries = (_entry(float(known[d][part]), "OOM") if d in known else Entry() for d in datasets)
            lines.append((Entry(f"{method} (paper)", marks=marks), *entries))
    caption = f"{meaning} {source.budgets()} Cells made at once: {source.at_once}."
    yield Table(name, title, ("method", *datasets), tuple(lines), caption, source.notes)


def _entry(number: float | None, outcome: str) -> Entry:
    if number is None or number == OUT:
        return Entry(outcome)
    return Entry(f"{number:.1f}" if number >= 100 else f"{number:.2f}")


def _seconds(result: Result) -> float | None:
    known = [cell.step_seconds for cell in result.done if cell.step_seconds is not None]
    return 1000 * fmean(known) if known else None


def _gibibytes(result: Result) -> float | None:
    peaks = [cell.hardware.get("peak_device_memory", cell.peak_memory) for cell in result.done]
    known = [peak for peak in peaks if peak is not None]
    return max(known) / 2**30 if known else None


_MEASURES: dict[str, tuple[str, str, Measure]] = {
    "seconds": ("seconds for 1,000 steps", "From the median step; the mean over training seeds.", _seconds),
    "memory": (
        "peak memory in GiB",
        "Of the whole process, evaluation included; of the card where one was used. The most over training seeds.",
        _gibibytes,
    ),
}
