"""What was measured here, set beside the paper's figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paretognn.benchmark.provenance import Provenance
from paretognn.benchmark.ranks import OUT
from paretognn.benchmark.reference import METRICS, paper_scores
from paretognn.benchmark.render import MISSING, Entry, Table
from paretognn.benchmark.selection import Result
from paretognn.benchmark.tables import TITLES, dataset_order, grid, score_entry, value


def scores_beside(results: Sequence[Result]) -> Iterator[Table]:
    """A line a data set, method and metric that the paper prints."""
    paper, rows, lines, shown = paper_scores(), grid(r for r in results if r.trained), [], []
    for dataset in dataset_order(r.dataset for r in results):
        for row, found in rows.items():
            for metric in METRICS:
                theirs = paper.get((dataset, row.label, metric))
                if dataset in found and theirs is not None and value(found[dataset], metric) is not None:
                    shown.append(found[dataset])
                    lines.append(_line(found[dataset], metric, theirs))
    if lines:
        source = Provenance(shown)
        columns = ("data set", "method", "metric", "here", "paper", "difference", "steps", "preset", "seeds")
        caption = (
            f"Percent; the difference is here minus paper. Seeds: training x evaluation. {source.deviations()} "
            f"{source.budgets()} The paper's evaluation is not published in full: small differences mean little."
        )
        yield Table("beside-the-paper", "Here beside the paper", columns, tuple(lines), caption, {}, 3)


def _line(result: Result, metric: str, theirs: float) -> tuple[Entry, ...]:
    ours = value(result, metric)
    known = ours is not None and OUT not in (ours, theirs)
    evaluation = {len(cell.evaluation["evaluation_seeds"]) for cell in result.done if cell.evaluation}
    seeds = f"{len(result.seeds)} x {max(evaluation)}" if evaluation else MISSING
    return (
        Entry(result.dataset),
        Entry(result.row.label),
        Entry(TITLES[metric][0].lower()),
        score_entry(result, metric),
        Entry("OOM" if theirs == OUT else f"{theirs:.2f}"),
        Entry(f"{ours - theirs:+.2f}" if known and ours is not None else MISSING),
        Entry(str(result.budget.steps)),
        Entry(result.budget.preset),
        Entry(seeds),
    )
