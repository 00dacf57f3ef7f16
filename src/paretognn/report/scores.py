"""Charts and table of the four downstream scores, runs beside the training-free controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretognn.report.chart import GREY, Chart, colour, shown
from paretognn.report.run import ReportRun, Score, Scores

TASKS = {
    "node_classification": "Node classification, accuracy",
    "node_clustering": "Node clustering, NMI",
    "link_prediction": "Link prediction, AUC",
    "partition_prediction": "Partition prediction, accuracy",
}
AVERAGE = "Average of the four"


@dataclass(frozen=True)
class Row:
    """A run, or a control beside it. colour : of its mark."""

    name: str
    scores: Scores
    colour: str
    control: bool


def score_rows(runs: Sequence[ReportRun]) -> list[Row]:
    """The judged runs, then for every graph the controls of the first run on it."""
    judged = [(place, run) for place, run in enumerate(runs) if run.judgement is not None]
    rows = [Row(run.name, run.judgement, colour(place), False) for place, run in judged if run.judgement]
    first: dict[str, ReportRun] = {}
    for _, run in judged:
        if run.judgement is not None and run.judgement.controls:
            first.setdefault(run.graph.digest(), run)
    for run in first.values():
        assert run.judgement is not None
        suffix = f" on {run.summary.get('name', 'graph')}" if len(first) > 1 else ""
        rows += [Row(name + suffix, scores, GREY, True) for name, scores in run.judgement.controls.items()]
    return rows


def score_charts(rows: Sequence[Row]) -> list[Chart]:
    """One for each task and one for the average: a dot a row, its deviation over evaluation seeds as a bar."""
    charts = []
    for task, title in {**TASKS, "average": AVERAGE}.items():
        scored = [(row, _score(row.scores, task)) for row in reversed(rows)]
        scored = [(row, score) for row, score in scored if score.mean is not None]
        if not scored:
            continue
        trace = {
            "type": "scatter", "mode": "markers", "showlegend": False,
            "x": [_percent(score.mean) for _, score in scored],
            "y": [shown(row.name) for row, _ in scored],
            "error_x": {"array": [_percent(score.std) or 0 for _, score in scored], "width": 3, "color": GREY},
            "marker": {
                "size": 10, "color": [row.colour for row, _ in scored],
                "symbol": ["circle-open" if row.control else "circle" for row, _ in scored],
            },
            "hovertemplate": "%{y}: %{x:.1f}<extra></extra>",
        }  # fmt: skip
        layout = {
            "xaxis": {"ticksuffix": "%"},
            "yaxis": {"automargin": True},
            "margin": {"l": 10, "r": 12, "t": 8, "b": 30},
        }
        charts.append(Chart(f"score-{task}", title, [trace], layout, height=70 + 26 * len(scored)))
    return charts


def score_table(rows: Sequence[Row]) -> list[tuple[Row, list[tuple[str, bool]]]]:
    """Each row with its texts, for the four tasks and the average, and whether a text is the column's best."""
    scored = [{task: _score(row.scores, task) for task in (*TASKS, "average")} for row in rows]
    best = {task: max(_order(scores[task]) for scores in scored) for task in (*TASKS, "average")} if scored else {}
    return [
        (row, [(_text(s), s.mean is not None and _order(s) == best[task]) for task, s in scores.items()])
        for row, scores in zip(rows, scored, strict=True)
    ]


def _order(score: Score) -> float:
    return -1.0 if score.mean is None else score.mean


def _score(scores: Scores, task: str) -> Score:
    if task == "average":
        return Score(mean=scores.average, std=None)
    return scores.tasks.get(task) or Score(mean=None, std=None)


def _text(score: Score) -> str:
    if score.mean is None:
        return "–"
    return f"{100 * score.mean:.1f}" + ("" if score.std is None else f" ±{100 * score.std:.1f}")


def _percent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 3)
