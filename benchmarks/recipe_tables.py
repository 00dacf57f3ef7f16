"""Markdown of docs/does-training-pay.md, from stored cells and ablations, and its figure.

python benchmarks/recipe_tables.py benchmarks/store benchmarks/results/recipe [--figure FILE.svg]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ablation import judged
from speed_tables import rows_of, table

from paretognn.benchmark.reference import AVERAGE, paper_scores
from paretognn.methods import CONTROLS, DEFAULT

TASKS = ("node_classification", "node_clustering", "link_prediction", "partition_prediction")
SHORT = ("node accuracy", "NMI", "link AUC", "partition accuracy")
Scores = dict[str, dict[str, list[float]]]
"""Percent by data set and method: the four tasks and their mean."""


def stored(store: Path) -> tuple[Scores, dict[tuple[str, str], dict[str, Any]]]:
    """Scores of all finished cells of the first training seed without settings of their own, and the cells."""
    scores: Scores = {}
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for path in sorted((store / "cells").glob("*.json")):
        cell = json.loads(path.read_text(encoding="utf-8"))
        key = cell["key"]
        if cell["status"] != "done" or key["seed"] != 0 or key["settings"]:
            continue
        means = [100 * cell["evaluation"]["tasks"][task]["mean"] for task in TASKS]
        scores.setdefault(key["dataset"], {})[key["method"]] = [*means, float(np.mean(means))]
        cells[key["dataset"], key["method"]] = cell
    return {name: rows for name, rows in scores.items() if DEFAULT in rows}, cells


def best_control(rows: dict[str, list[float]]) -> tuple[str, list[float]]:
    return max(((name, rows[name]) for name in CONTROLS if name in rows), key=lambda each: each[1][-1])


def pay(scores: Scores, cells: dict[tuple[str, str], dict[str, Any]]) -> Iterator[str]:
    paper = paper_scores()
    body = []
    for name, rows in scores.items():
        control, theirs = best_control(rows)
        ours = rows[DEFAULT]
        margins = [ours[i] - max(rows[c][i] for c in CONTROLS if c in rows) for i in range(len(TASKS))]
        worst = int(np.argmin(margins))
        printed = paper.get((name, "paretognn", AVERAGE))
        cell = cells[name, DEFAULT]
        body.append(
            [
                name,
                " / ".join(f"{x:.1f}" for x in ours[:-1]),
                f"**{ours[-1]:.1f}**",
                f"{theirs[-1]:.1f} `{control}`",
                f"{ours[-1] - theirs[-1]:+.1f}",
                f"{margins[worst]:+.1f} {SHORT[worst]}",
                f"{rows['paretognn'][-1]:.1f}" if "paretognn" in rows else "-",
                f"{printed:.2f}" if isinstance(printed, float) else "-",
                f"{cell['key']['steps']}",
                f"{cell['seconds']['training']:.0f}",
            ]
        )
    head = ["data set", " / ".join(SHORT), "average", "best control", "gain", "narrowest task", "`paretognn` here"]
    yield from table([*head, "paper's ParetoGNN", "steps", "seconds"], body)


def ablation(lines: list[dict[str, Any]]) -> Iterator[str]:
    graphs = list(dict.fromkeys(line["graph"] for line in lines))
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        found.setdefault(line["variant"], {})[line["graph"]] = line["average"]
    body = []
    for variant, by_graph in found.items():
        mean = f"{np.mean(list(by_graph.values())):.1f}" if len(by_graph) == len(graphs) else "-"
        body.append([variant, mean, *(f"{by_graph[graph]:.1f}" if graph in by_graph else "-" for graph in graphs)])
    yield from table(["variant", "mean", *graphs], body)


def regret(lines: list[dict[str, Any]]) -> Iterator[str]:
    """What the judge chose, against the best of its candidates by labels, and against two of them that are always the
    same."""
    graphs = list(dict.fromkeys(line["graph"] for line in lines))
    body, losses = [], []
    for graph in graphs:
        found = {line["variant"]: line for line in lines if line["graph"] == graph}
        said = found["auto"]["judged"][0]
        names = judged(" of own " in said)
        tried = {name: found[name]["average"] for name in names}
        best = max(tried, key=lambda variant: tried[variant])
        alone, recipe = names[0], next(name for name in names if name.endswith("the recipe"))
        losses.append([tried[best] - found[variant]["average"] for variant in ("auto", recipe, alone)])
        row = [graph, said, f"{found['auto']['average']:.1f}", best, f"{tried[best]:.1f}"]
        body.append([*row, *(f"{loss:.1f}" for loss in losses[-1])])
    body.append(["mean", "", "", "", "", *(f"{loss:.2f}" for loss in np.mean(losses, axis=0))])
    head = ["graph", "judged", "average", "best by labels", "average", "regret of `auto`"]
    yield from table([*head, "of always `best`", "of always the encoder alone"], body)


def training(lines: list[dict[str, Any]]) -> Iterator[str]:
    """The default trained in other ways: by other tasks, reconcilers, rates, and for longer."""
    graphs = list(dict.fromkeys(line["graph"] for line in lines))
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        settings = [text for text in line["set"] if not text.startswith("steps=")]
        way = ", ".join([f"{line['steps']} steps", *(f"`{text}`" for text in settings)])
        found.setdefault(way, {})[line["graph"]] = line["average"]
    first = next(iter(found.values()))
    body = []
    for way, by_graph in found.items():
        apart = [by_graph[graph] - first[graph] for graph in graphs if graph in by_graph]
        whole = len(apart) == len(graphs)
        shown = (f"{by_graph[graph]:.1f}" if graph in by_graph else "-" for graph in graphs)
        body.append([way, f"{np.mean(apart):+.1f}" if whole else "-", *shown])
    yield from table(["trained", "beside the first", *graphs], body)


def new_nodes(lines: list[dict[str, Any]]) -> Iterator[str]:
    head = ["graph", "new nodes", "joined to a known one", "method", "accuracy as new nodes", "trained with them"]
    columns = ("graph", "nodes", "joined to a known one", "method", "new nodes", "trained with them")
    yield from table(head, ([line[column] for column in columns] for line in lines))


def draw(scores: Scores, path: Path) -> None:
    """A line a data set: every control, the paper's method here, and the default, by their average."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "paretognn", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(8, 1.2 + 0.45 * len(scores)), layout="constrained")
        axes = figure.subplots()
        for row, rows in enumerate(scores.values()):
            control = best_control(rows)[1][-1]
            ours = rows[DEFAULT][-1]
            axes.plot([control, ours], [row, row], color="#0a7d5a" if ours > control else "#b3372f", lw=4, alpha=0.4)
            others = [rows[c][-1] for c in CONTROLS if c in rows]
            first = row == 0
            axes.plot(others, [row] * len(others), "|", color="#777777", ms=12, label="controls" if first else None)
            if "paretognn" in rows:
                label = "paretognn" if first else None
                axes.plot(rows["paretognn"][-1], row, "o", color="#2b5fb8", ms=6, label=label)
            axes.plot(ours, row, "D", color="#0a7d5a", ms=7, label=f"default ({DEFAULT})" if first else None)
            furthest = max(ours, *others, rows.get("paretognn", [0.0])[-1])
            axes.annotate(f"{ours - control:+.1f}", (furthest, row), (12, -4), textcoords="offset points")
        axes.set_yticks(range(len(scores)), list(scores))
        axes.set_ylim(len(scores) - 0.5, -0.5)
        axes.margins(x=0.1)
        axes.set_xlabel("average of the four tasks, percent; the number is the gain over the best control")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("results", type=Path, help="folder of ablation.jsonl, training.jsonl and new_nodes.jsonl")
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    scores, cells = stored(asked.store)
    lines = rows_of(asked.results / "ablation.jsonl")
    print("## By graph\n")
    print("\n".join(pay(scores, cells)))
    print("## What each part adds\n")
    print("\n".join(ablation(lines)))
    print("## The judge without labels\n")
    print("\n".join(regret(lines)))
    print("## Which tasks, and how together\n")
    print("\n".join(training(rows_of(asked.results / "training.jsonl"))))
    print("## New nodes\n")
    print("\n".join(new_nodes(rows_of(asked.results / "new_nodes.jsonl"))).rstrip())
    if asked.figure:
        draw(scores, asked.figure)


if __name__ == "__main__":
    main()
