"""Markdown tables of stored evaluations: every method and control, or a line a data set.

    python benchmarks/score_table.py benchmarks/results/quick [--short]

Each file is an ``evaluation.json`` of ``paretognn evaluate``, named by its data set.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

TASKS = ("node_classification", "node_clustering", "link_prediction", "partition_prediction")
HEAD = ("node accuracy", "NMI", "link AUC", "partition accuracy", "average")


def cells(scores: dict[str, Any]) -> list[str]:
    means = [scores["tasks"][task] for task in TASKS]
    shown = ["-" if m["mean"] is None else f"{100 * m['mean']:.1f} ±{100 * m['std']:.1f}" for m in means]
    return [*shown, "-" if scores["average"] is None else f"**{100 * scores['average']:.1f}**"]


def full(results: dict[str, dict[str, Any]]) -> list[list[str]]:
    rows = [["data set", "embeddings", *HEAD]]
    for name, result in results.items():
        for label, scores in {result["run"]["method"]: result, **result["controls"]}.items():
            rows.append([name, label, *cells(scores)])
    return rows


def short(results: dict[str, dict[str, Any]]) -> list[list[str]]:
    rows = [["data set", *HEAD, "best control", "its average", "gain"]]
    for name, result in results.items():
        best, scores = max(result["controls"].items(), key=lambda item: item[1]["average"])
        gain = 100 * (result["average"] - scores["average"])
        rows.append([name, *cells(result), best, f"{100 * scores['average']:.1f}", f"{gain:+.1f}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--short", action="store_true", help="a line a data set, beside its best control")
    arguments = parser.parse_args()
    results = {path.stem: json.loads(path.read_text()) for path in sorted(arguments.folder.glob("*.json"))}
    head, *rows = short(results) if arguments.short else full(results)
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
