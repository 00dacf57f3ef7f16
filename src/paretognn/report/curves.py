"""Charts of the training: losses, task weights, gradient norms, conflict, and where the time went."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretognn.report.chart import GREY, Chart, colour, shown
from paretognn.report.history import PHASES, History
from paretognn.report.run import ReportRun

CLEAR = 0.05
"""Mean cosine nearer to 0 than which two gradients are neither opposed nor aligned."""
_STEP = {"title": {"text": "step"}, "rangemode": "tozero"}


def loss_charts(runs: Sequence[ReportRun]) -> list[Chart]:
    """One for each pretext task, a line a run."""
    with_history = [(place, run, run.history) for place, run in enumerate(runs) if run.history is not None]
    tasks = dict.fromkeys(task for _, _, history in with_history for task in history.tasks)
    charts = []
    for task in tasks:
        traces, rows = [], []
        for place, run, history in with_history:
            if task in history.tasks:
                losses = history.losses[:, history.tasks.index(task)]
                traces.append(_line(run.name, history.steps, losses, colour(place), legend=len(runs) > 1))
                rows.append([run.name, f"{losses[0]:.4g}", f"{losses[-1]:.4g}", f"{losses.min():.4g}"])
        layout = {"xaxis": _STEP, "yaxis": {"title": {"text": "loss"}}}
        charts.append(Chart(f"loss-{task}", task, traces, layout, ("run", "first", "last", "least"), rows, height=240))
    return charts


def weight_chart(place: int, history: History) -> Chart:
    """The task weights over the steps, one above the other."""
    traces = [
        {**_line(task, history.steps, history.weights[:, k], colour(k)), "stackgroup": "weights", "line": {"width": 0}}
        | {"fillcolor": colour(k)}
        for k, task in enumerate(history.tasks)
    ]
    rows = [
        [task, *(f"{part[:, k].mean():.3f}" if len(part) else "–" for part in np.array_split(history.weights, 3))]
        for k, task in enumerate(history.tasks)
    ]
    layout = {"xaxis": _STEP, "yaxis": {"title": {"text": "weight"}}}
    return Chart(f"weights-{place}", "Task weights", traces, layout, ("task", *PHASES), rows)


def norm_chart(place: int, history: History) -> Chart:
    """Norms of the tasks' gradients, and of the step's combined one, on a logarithmic scale."""
    traces = [
        _line(task, history.steps, history.gradient_norms[:, k], colour(k)) for k, task in enumerate(history.tasks)
    ]
    if len(history.tasks) > 1:
        combined = _line("combined", history.steps, history.combined, GREY)
        traces.append({**combined, "line": {"color": GREY, "dash": "dash", "width": 2}})
    rows = [
        [task, f"{history.gradient_norms[0, k]:.3g}", f"{history.gradient_norms[-1, k]:.3g}"]
        for k, task in enumerate(history.tasks)
    ]
    layout = {"xaxis": _STEP, "yaxis": {"type": "log", "title": {"text": "norm"}, "exponentformat": "power"}}
    return Chart(f"norms-{place}", "Gradient norms", traces, layout, ("task", "first", "last"), rows)


def conflict_charts(place: int, history: History) -> list[Chart]:
    """A heat map of mean gradient cosines for each third of the run."""
    charts = []
    for phase, (name, square) in enumerate(zip(PHASES, history.by_phase, strict=True)):
        if np.isnan(square).any():
            continue
        trace = {
            "type": "heatmap", "x": list(history.tasks), "y": list(history.tasks), "z": np.round(square, 3).tolist(),
            "zmin": -1, "zmax": 1, "colorscale": [[0, "#c0392b"], [0.5, "#f4f4f2"], [1, "#2b6cb0"]],
            "texttemplate": "%{z:.2f}", "textfont": {"color": "#222"}, "showscale": False, "xgap": 2, "ygap": 2,
            "hovertemplate": "%{y} and %{x}: mean cosine %{z:.3f}<extra></extra>",
        }  # fmt: skip
        layout = {
            "yaxis": {"autorange": "reversed", "automargin": True},
            "xaxis": {"automargin": True, "tickangle": -35},
        }
        rows = [[task, *(f"{value:.2f}" for value in line)] for task, line in zip(history.tasks, square, strict=True)]
        title = f"Mean gradient cosine, {name}"
        charts.append(Chart(f"conflict-{place}-{phase}", title, [trace], layout, ("", *history.tasks), rows))
    return charts


def cosine_chart(place: int, history: History, most: int = 4) -> Chart:
    """The cosine over the steps of the pairs that are opposed most often."""
    chosen = np.argsort(-history.opposed, kind="stable")[:most]
    traces = [
        _line(f"{a} · {b}", history.steps, history.cosines[:, p], colour(i))
        for i, p in enumerate(chosen)
        for a, b in [history.pairs[p]]
    ]
    rows = [[f"{a} · {b}", f"{100 * share:.0f}%"] for (a, b), share in zip(history.pairs, history.opposed, strict=True)]
    layout = {"xaxis": _STEP, "yaxis": {"title": {"text": "cosine"}, "zeroline": True}}
    title = "Gradient cosine of the pairs that are opposed most often"
    return Chart(f"cosines-{place}", title, traces, layout, ("pair", "steps opposed"), rows)


def conflict_sentence(history: History) -> str:
    """Which tasks conflict, in a sentence."""
    if not history.pairs:
        return "One task alone: nothing conflicts."
    means = history.cosines.mean(axis=0)
    clear = means <= -CLEAR
    worst = int(np.where(clear | ~clear.any(), history.opposed, -1.0).argmax())
    a, b = history.pairs[worst]
    mean = [square[history.tasks.index(a), history.tasks.index(b)] for square in history.by_phase]
    thirds = ", ".join(f"{value:+.2f}" for value in mean if not np.isnan(value))
    opposed = f"in {100 * history.opposed[worst]:.0f}% of the steps (mean cosine by thirds of the run: {thirds})"
    if history.opposed[worst] < 0.05:
        return f"Hardly any conflict: the pair that is opposed most often, {a} and {b}, is so {opposed}."
    if abs(means[worst]) < CLEAR:
        return (
            f"No pair is in clear conflict: even {a} and {b} are about at right angles in the mean, opposed {opposed}."
        )
    return f"{a} and {b} conflict most: they are opposed {opposed}."


def stage_chart(runs: Sequence[ReportRun]) -> Chart | None:
    """Seconds of training, a bar a run, in parts by task; the table under it has each task's stages."""
    timed = [(run, run.history) for run in runs if run.history is not None]
    stages = dict.fromkeys(stage for _, history in timed for stage in history.stage_seconds)
    if not stages:
        return None
    parts = list(dict.fromkeys(stage.partition("/")[0] for stage in stages))  # solver, optimizer: of no task
    names = [shown(run.name) for run, _ in timed]
    traces = [
        {
            "type": "bar", "orientation": "h", "name": part, "y": names, "marker": {"color": colour(i)},
            "x": [round(_seconds_of(history, part), 3) for _, history in timed],
            "hovertemplate": f"{part}: %{{x:.1f}} s<extra></extra>",
        }
        for i, part in enumerate(parts)
    ]  # fmt: skip
    rows = [[stage, *(f"{history.stage_seconds.get(stage, 0.0):.1f}" for _, history in timed)] for stage in stages]
    layout = {"barmode": "stack", "xaxis": {"title": {"text": "seconds"}}, "yaxis": {"automargin": True}}
    columns = ("stage, seconds", *(run.name for run, _ in timed))
    return Chart("stages", "Seconds of training", traces, layout, columns, rows, height=190 + 40 * len(timed))


def _seconds_of(history: History, part: str) -> float:
    return sum(seconds for stage, seconds in history.stage_seconds.items() if stage.partition("/")[0] == part)


def _line(name: str, x: np.ndarray, y: np.ndarray, of: str, legend: bool = True) -> dict[str, object]:
    return {
        "type": "scatter", "mode": "lines", "name": shown(name), "x": np.round(x, 1).tolist(),
        "y": [float(f"{value:.5g}") for value in y], "line": {"color": of, "width": 2}, "showlegend": legend,
    }  # fmt: skip
