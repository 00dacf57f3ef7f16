"""The tables of scores: average performance and the four tasks, by method and data set, with average ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from paretognn.benchmark.provenance import INCOMPLETE, Provenance
from paretognn.benchmark.ranks import OUT, average_ranks, places
from paretognn.benchmark.reference import (
    AVERAGE,
    BASELINES,
    CONTROLS,
    DATASETS,
    LARGE,
    METRICS,
    PARETOMTL,
    TASKS,
    VARIANTS,
)
from paretognn.benchmark.render import MISSING, Entry, Table
from paretognn.benchmark.selection import Result, Row

K = TypeVar("K", str, int)

TITLES = {
    AVERAGE: ("Average performance", "mean of the four tasks"),
    "node_classification": ("Node classification", "accuracy"),
    "node_clustering": ("Node clustering", "NMI"),
    "link_prediction": ("Link prediction", "AUC"),
    "partition_prediction": ("Partition prediction", "accuracy"),
}

_OTHERS = "others"
_CONTROLS = ("random-weights", *CONTROLS)
_METHODS = (*BASELINES, "paretognn")
_PARETOMTL = ("paretomtl", *PARETOMTL)
_ORDER = (*VARIANTS[:-1], "random-weights", *_PARETOMTL, *BASELINES, _OTHERS, "paretognn", *CONTROLS)

Grid = dict[Row, dict[str, Result]]
"""Results by row and data set, both in the order of the tables."""


def grid(results: Iterable[Result], labels: Collection[str] | None = None) -> Grid:
    """Results in the tables' order; with ``labels`` only rows that were trained here, of these names."""
    kept = [r for r in results if labels is None or (r.trained and r.row.label in labels)]
    rows: Grid = defaultdict(dict)
    for result in sorted(kept, key=lambda r: (_place(_ORDER, r.key.method, _OTHERS), r.row.label, r.row.kind)):
        rows[result.row][result.dataset] = result
    return dict(rows)


def dataset_order(names: Iterable[str]) -> list[str]:
    """The paper's data sets in its order, then others by name."""
    order = (*DATASETS, *LARGE)
    return sorted(set(names), key=lambda name: (_place(order, name), name))


def score_tables(results: Sequence[Result]) -> Iterator[Table]:
    """The main tables by group, the large graphs and ParetoMTL; those without cells are left out."""
    main = [result for result in results if result.dataset not in LARGE]
    groups = (
        ("variants", "pretext tasks and their combinations", VARIANTS),
        ("methods", "published methods", _METHODS),
        ("all", "all rows", None),
    )
    controls = grid(result for result in main if result.row.label in _CONTROLS)
    for suffix, title, labels in groups:
        rows = grid(main, labels)
        if labels is None or len(rows) > 1:
            below = {} if labels is None else controls
            for metric in METRICS:
                name = f"{metric.replace('_', '-')}-{suffix}"
                yield from score_table(name, f"{TITLES[metric][0]}: {title}", rows, metric, below)
    on_large = [result for result in results if result.dataset in LARGE]
    large = grid(on_large)
    title = "Large graphs: average performance"
    yield from score_table("large-graphs", title, grid(on_large, _METHODS), AVERAGE, large, everywhere=True)
    yield from _task_table("large-graphs-tasks", "Large graphs: individual tasks", large)
    preferred = {d for found in grid(results, _PARETOMTL).values() for d in found}
    rows = grid((r for r in results if r.dataset in preferred), ("weighted-sum", "paretognn", *_PARETOMTL))
    yield from score_table("paretomtl", "ParetoMTL, by the preferred task", rows, AVERAGE, controls)


def score_table(
    name: str, title: str, rows: Grid, metric: str, below: Grid | None = None, *, everywhere: bool = False
) -> Iterator[Table]:
    """Rows by data sets, the average rank last; nothing where there is no cell. Other rows stand ``below``, unranked:
    the paper's ranks are within its groups. They are shown on the data sets of ``rows``, or ``everywhere``."""
    rows, below = _scored(rows, metric), _scored(below or {}, metric)
    datasets = dataset_order(d for found in (*rows.values(), *(below.values() if everywhere else ())) for d in found)
    if not datasets:
        return
    below = {row: found for row, found in _scored(below, metric, datasets).items() if row not in rows}
    values = {row: {d: value(result, metric) for d, result in found.items()} for row, found in rows.items()}
    shown = rows | below
    best = {
        d: places({row: value(found[d], metric) if d in found else None for row, found in shown.items()})
        for d in datasets
    }
    source = Provenance([result for found in shown.values() for result in found.values()])
    lines = lay_out(shown, datasets, lambda r: score_entry(r, metric, best[r.dataset]), source.marks)
    # A data set that few methods were run on would take nearly all rows out of the comparison.
    ranked = [d for d in datasets if 2 * sum(d in found for found in values.values()) > len(values)] or datasets
    ranks = _rank_entries(values, ranked, source)
    over = "" if ranked == datasets else f" that most rows have ({', '.join(ranked)})"
    others = "Controls" if all(row.label in _CONTROLS for row in below) else "Others"
    caption = (
        f"Percent, {TITLES[metric][1]}; best bold, second underlined. {source.deviations()} {source.budgets()} Rank: "
        "per data set among the rows that have it, ties (as printed) share the smaller rank, OOM and failed last; "
        f"averaged over the data sets{over}.{f' {others} are below, without a rank.' if below else ''}"
    )
    rows_with_rank = tuple((*line, ranks.get(row, Entry())) for line, row in zip(lines, shown, strict=True))
    yield Table(name, title, ("method", *datasets, "rank"), rows_with_rank, caption, source.notes)


def _scored(rows: Grid, metric: str, datasets: Collection[str] | None = None) -> Grid:
    """What has a score, or none for want of a finished cell; of ``datasets`` alone where they are given."""
    scored = {
        row: {d: r for d, r in found.items() if value(r, metric) is not None and (datasets is None or d in datasets)}
        for row, found in rows.items()
    }
    return {row: found for row, found in scored.items() if found}


def lay_out(
    rows: Mapping[Row, Mapping[K, Result]],
    columns: Sequence[K],
    entry: Callable[[Result], Entry],
    marks: Callable[[Result], tuple[str, ...]],
) -> list[tuple[Entry, ...]]:
    """A line a row: its label and entries. A mark that all of a row's results have stands with the label."""
    lines = []
    for row, found in rows.items():
        marked = {column: marks(result) for column, result in found.items()}
        shared = tuple(m for m in next(iter(marked.values())) if all(m in other for other in marked.values()))
        line = [Entry(row.label, marks=shared)]
        for column in columns:
            own = tuple(mark for mark in marked.get(column, ()) if mark not in shared)
            line.append(replace(entry(found[column]), marks=own) if column in found else Entry())
        lines.append(tuple(line))
    return lines


def _task_table(name: str, title: str, rows: Grid) -> Iterator[Table]:
    """One line a data set and method, the tasks as columns."""
    source = Provenance([result for found in rows.values() for result in found.values()])
    lines = []
    for dataset in dataset_order(dataset for found in rows.values() for dataset in found):
        own = {row: found[dataset] for row, found in rows.items() if dataset in found}
        best = {m: places({row: value(result, m) for row, result in own.items()}) for m in METRICS}
        for row, result in own.items():
            scores = (score_entry(result, metric, best[metric]) for metric in (*TASKS, AVERAGE))
            lines.append((Entry(dataset), Entry(row.label, marks=source.marks(result)), *scores))
    if lines:
        titles = (f"{TITLES[task][0].lower()}, {TITLES[task][1]}" for task in TASKS)
        caption = f"Percent; best of a data set bold, second underlined. {source.deviations()} {source.budgets()}"
        yield Table(name, title, ("data set", "method", *titles, "average"), tuple(lines), caption, source.notes, 2)


def value(result: Result, metric: str) -> float | None:
    """Percent as printed; `OUT` where no cell finished, None where the cells have no such score."""
    score = result.score(metric)
    if score is None:
        return None if result.done else OUT
    return round(100 * score.mean, 2)


def score_entry(result: Result, metric: str, best: Mapping[Row, int] | None = None) -> Entry:
    """Mean, deviation and, with the column's places ``best``, the place of a result."""
    score = result.score(metric)
    if score is None:
        return Entry(MISSING if result.done else result.outcome)
    deviation = None if score.deviation is None else f"{100 * score.deviation:.2f}"
    place = best.get(result.row, 0) if best is not None and len(best) > 1 else 0
    return Entry(f"{100 * score.mean:.2f}", deviation, place)


def _rank_entries(
    values: Mapping[Row, Mapping[str, float | None]], datasets: Sequence[str], source: Provenance
) -> dict[Row, Entry]:
    """Best and second among the rows that have all ``datasets``: the others' ranks are over other competitions. A row
    alone has none."""
    if len(values) < 2:
        return {}
    counted = {row: {d: found[d] for d in datasets if d in found} for row, found in values.items()}
    ranks = average_ranks(counted)
    complete = {row: -round(rank, 2) for row, rank in ranks.items() if rank and len(counted[row]) == len(datasets)}
    best = places(complete)
    entries: dict[Row, Entry] = {}
    for row, rank in ranks.items():
        if rank is None:
            entries[row] = Entry()
        elif row in best:
            entries[row] = Entry(f"{rank:.2f}", place=best[row] if len(best) > 1 else 0)
        else:
            mark = source.mark(INCOMPLETE, "rank over fewer data sets; not to be compared with the others")
            entries[row] = Entry(f"{rank:.2f}", marks=(mark,))
    return entries


def _place(order: Sequence[str], name: str, default: str | None = None) -> int:
    if name in order:
        return order.index(name)
    return len(order) if default is None else order.index(default)
