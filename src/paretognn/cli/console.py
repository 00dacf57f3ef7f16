"""What people see: lines and tables, on standard error where it is not a result."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table


class _Results(Console):
    def on_broken_pipe(self) -> None:
        """rich would exit with 1; a reader that went away is no error, and `paretognn.cli.main.run` knows it."""
        raise BrokenPipeError


class _Progress(Console):
    """Where nobody reads of the work any more, or the log's disk is full, it goes on."""

    def _check_buffer(self) -> None:
        try:
            super()._check_buffer()
        except OSError:
            self.on_broken_pipe()

    def on_broken_pipe(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


# Brackets in names and ids are not markup.
out = _Results(soft_wrap=True, highlight=False, markup=False)
err = _Progress(stderr=True, soft_wrap=True, highlight=False, markup=False)


def say(line: str) -> None:
    """A line of progress, on standard error."""
    err.print(line)


@contextmanager
def warnings_said() -> Iterator[None]:
    """Warnings inside are lines as any other, without a place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
        yield


_TITLES = {
    "node_classification": "node\naccuracy",
    "node_clustering": "cluster\nNMI",
    "link_prediction": "link\nAUC",
    "partition_prediction": "partition\naccuracy",
}


def score_table(result: dict[str, Any], own: str) -> Table:
    """The four tasks in percent, mean ± deviation over evaluation seeds, the controls beneath."""
    table = Table(title=None, box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for title in (*_TITLES.values(), "average\nof four"):
        table.add_column(title, justify="right")
    rows = {own: result, **result.get("controls", {})}
    for name, scores in rows.items():
        cells = [_cell(scores["tasks"][task]) for task in _TITLES]
        average = scores["average"]
        table.add_row(name, *cells, "-" if average is None else f"{100 * average:.1f}")
    return table


def _cell(score: dict[str, Any]) -> str:
    return "-" if score["mean"] is None else f"{100 * score['mean']:.1f} ±{100 * score['std']:.1f}"


def digests(result: dict[str, Any]) -> list[str]:
    """One line with the beginnings of the digests, as `evaluation.json` has them, of what the tasks were judged on."""
    partition = result.get("partition", {})
    kinds = {
        "nodes": result.get("split_digests", []),
        "links": [result["link_split_digest"]] if "link_split_digest" in result else [],
        "METIS parts": [partition["digest"]] if partition else [],
        "nodes of METIS parts": partition.get("split_digests", []),
    }
    shown = [f"{kind} {' '.join(dict.fromkeys(d[:8] for d in found))}" for kind, found in kinds.items() if found]
    return [f"splits (SHA-256): {'; '.join(shown)}"] if shown else []


def reasons(result: dict[str, Any]) -> list[str]:
    """One line for every task that was asked for and has no score."""
    return [
        f"{task}: not scored: {score['reason']}"
        for task, score in result["tasks"].items()
        if score["mean"] is None and score.get("reason") != "not asked for"
    ]
