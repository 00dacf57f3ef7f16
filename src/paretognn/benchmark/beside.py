"""What was measured here, set beside the paper's figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from paretognn.benchmark.provenance import Provenance
from paretognn.benchmark.ranks import OUT
from paretognn.benchmark.reference import METRICS, paper_scores
from paretognn.benchmark.render import MISSING, Entry, Table
from paretognn.benchmark.selection import Result
from paretognn.benchmark.tables import TITLES, dataset_order, grid, score_entry, value


def scores_beside(results: Iterable[Result]) -> Iterator[Table]:
    """A line a data set, method, budget and metric that the paper prints; settings laid over a method stand with it."""
    trained = sorted((result for result in results if result.trained), key=lambda result: result.budget)
    paper, found = paper_scores(), []
    for dataset in dataset_order(result.dataset for result in trained):
        for row in grid(trained):
            for result in (each for each in trained if (each.dataset, each.row) == (dataset, row)):
                for metric in METRICS:
                    theirs = paper.get((dataset, result.key.method, metric))
                    if theirs is not None and value(result, metric) is not None:
                        found.append((result, metric, theirs))
    if found:
        source = Provenance([result for result, *_ in found])
        lines = tuple(_line(*each, source.seed_marks(each[0])) for each in found)
        columns = ("data set", "method", "metric", "here", "paper", "difference", "steps", "preset", "seeds")
        caption = (
            f"Percent; the difference is here minus paper. Seeds: training x evaluation. {source.deviations()} "
            f"{source.budgets()} The paper's evaluation is not published in full: small differences mean little."
        )
        yield Table("beside-the-paper", "Here beside the paper", columns, lines, caption, source.notes, 3)


def _line(result: Result, metric: str, theirs: float, marks: tuple[str, ...]) -> tuple[Entry, ...]:
    ours = value(result, metric)
    known = ours is not None and OUT not in (ours, theirs)
    evaluation = {len(cell.evaluation["evaluation_seeds"]) for cell in result.done if cell.evaluation}
    seeds = f"{len(result.seeds)} x {max(evaluation)}" if evaluation else MISSING
    return (
        Entry(result.dataset),
        Entry(result.row.label),
        Entry(TITLES[metric][0].lower()),
        replace(score_entry(result, metric), marks=marks),
        Entry("OOM" if theirs == OUT else f"{theirs:.2f}"),
        Entry(f"{ours - theirs:+.2f}" if known and ours is not None else MISSING),
        Entry(str(result.budget.steps)),
        Entry(result.budget.preset),
        Entry(seeds),
    )
