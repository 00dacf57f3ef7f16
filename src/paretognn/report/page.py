"""The page itself: the charts' data, plotly.js and a template in one file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from paretognn._version import __version__
from paretognn.atomic import atomic_write
from paretognn.methods.recipe import said_of
from paretognn.report.chart import Chart, colour
from paretognn.report.curves import (
    conflict_charts,
    conflict_sentence,
    cosine_chart,
    loss_charts,
    norm_chart,
    stage_chart,
    weight_chart,
)
from paretognn.report.nodes import degree_charts, map_chart, neighbour_lists
from paretognn.report.run import ReportRun
from paretognn.report.scores import AVERAGE, TASKS, score_charts, score_rows, score_table


def write_report(runs: Sequence[ReportRun], path: Path) -> None:
    """Write one self-contained HTML file."""
    with atomic_write(path) as aside:
        aside.write_text(render(runs), encoding="utf-8")


def render(runs: Sequence[ReportRun]) -> str:
    """The page of one run, or of several side by side; whatever a user named is escaped."""
    from plotly.offline import get_plotlyjs  # takes a second to load

    runs = _distinctly_named(runs)
    charts: list[Chart] = []

    def keep(chart: Chart) -> Chart:
        charts.append(chart)
        return chart

    rows = score_rows(runs)
    stages = stage_chart(runs)
    content: dict[str, Any] = {
        "title": ", ".join(run.name for run in runs),
        "version": __version__,
        "runs": [
            {
                "name": run.name,
                "colour": colour(place),
                "graph": graph_facts(run),
                "training": training_facts(run),
                "judgement": run.judgement,
                "cost": {name: (f"{c.seconds:,.1f} s", _gib(c.peak_bytes)) for name, c in run.cost.items()},
            }
            for place, run in enumerate(runs)
        ],
        "score_columns": [*TASKS.values(), AVERAGE],
        "score_charts": [keep(chart) for chart in score_charts(rows)],
        "score_table": score_table(rows),
        "loss_charts": [keep(chart) for chart in loss_charts(runs)],
        "histories": [
            {
                "name": run.name,
                "charts": [keep(weight_chart(place, run.history)), keep(norm_chart(place, run.history))],
                "conflict": [keep(chart) for chart in conflict_charts(place, run.history)],
                "cosines": keep(cosine_chart(place, run.history)),
                "sentence": conflict_sentence(run.history),
            }
            for place, run in enumerate(runs)
            if run.history is not None and len(run.history.tasks) > 1
        ],
        "maps": [(keep(chart), sentence) for chart, sentence in (map_chart(i, run) for i, run in enumerate(runs))],
        "degree_charts": [keep(chart) for chart in degree_charts(runs)],
        "neighbours": [(run.name, neighbour_lists(run)) for run in runs],
        "stages": None if stages is None else keep(stages),
    }
    home = files("paretognn.report")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = environment.from_string(home.joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(
        content,
        style=_verbatim(home.joinpath("page.css").read_text(encoding="utf-8")),
        script=_verbatim(home.joinpath("page.js").read_text(encoding="utf-8")),
        plotly=_verbatim(get_plotlyjs()),
        # In a script element only "<" could end it, or open a comment.
        data=_verbatim(json.dumps([chart.to_json() for chart in charts], allow_nan=False).replace("<", "\\u003c")),
    )


def graph_facts(run: ReportRun) -> list[tuple[str, str]]:
    """What the run was trained on."""
    graph, s = run.graph, run.summary
    facts = [
        ("graph", str(s.get("name", graph.name))),
        ("nodes", f"{graph.num_nodes:,}"),
        ("edges", f"{graph.num_edges:,}" + (", weighted" if graph.weights is not None else "")),
        ("mean degree", f"{graph.degrees.mean():.1f}"),
        ("isolated nodes", f"{int((graph.degrees == 0).sum()):,}"),
        ("features", f"{graph.num_features:,}" if graph.num_features else "none: made from degrees and ids"),
    ]
    if graph.labels is not None:
        facts.append(("labels", f"{graph.num_classes} classes, {int((graph.labels >= 0).sum()):,} nodes labelled"))
    return facts


def training_facts(run: ReportRun) -> list[tuple[str, str]]:
    """What was trained, and for how long."""
    config = run.config
    facts = [
        ("method", f"{config.method}, preset {config.preset}"),
        ("pretext tasks", ", ".join(config.tasks)),
        ("reconciler", config.reconciler.name),
        ("steps", f"{config.steps:,}, training seed {config.seed}"),
        ("embedding", f"{run.embeddings.shape[1]} dimensions"),
    ]
    if config.assembles:
        made_of = "as a judge without labels chose" if config.alternatives else f"of {said_of(config.assembly)}"
        facts.append(("put together", made_of))
    if run.history is not None:
        facts.append(("time in steps", f"{run.history.seconds:,.1f} s"))
    return facts


def _gib(size: int) -> str:
    return f"{size / 2**30:.2f} GiB" if size else "not known"


def _verbatim(text: str) -> Markup:
    return Markup(text)


def _distinctly_named(runs: Sequence[ReportRun]) -> list[ReportRun]:
    """With a number behind a name that came before."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        seen[run.name] = seen.get(run.name, 0) + 1
        named.append(run if seen[run.name] == 1 else replace(run, name=f"{run.name} ({seen[run.name]})"))
    return named
