"""What people see: lines, tables and the progress of training, on standard error where it is not a result."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:  # torch takes a second to load, and not every command needs it.
    from paretognn.training.multitask import StepRecord
    from paretognn.training.trainer import Progress as Report

out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)


def say(line: str) -> None:
    """A line of progress, on standard error; brackets in ids are not markup."""
    err.print(line, markup=False)


@contextmanager
def warnings_said() -> Iterator[None]:
    """Warnings inside are lines as any other, without a place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
        yield


@contextmanager
def training_progress(total: int, what: str = "training") -> Iterator[Report]:
    """A bar with losses, task weights and time left in a terminal; else a line about every ten seconds."""
    if not err.is_terminal:
        yield _lines(total, what)
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    line = bar.add_task(what, total=total, rate="")
    live = Live(bar, console=err, refresh_per_second=4)

    def report(record: StepRecord) -> None:
        # Shown from the first step on: a model that is there already shows nothing.
        live.start()
        bar.update(line, completed=record.step, rate=f"{record.seconds:.2f} s/step")
        live.update(Group(bar, _state_table(record)))

    try:
        yield report
    finally:
        live.stop()


def _state_table(record: StepRecord) -> Table:
    """Loss and weight of every task at the last step."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    for task in record.losses:
        table.add_column(task, justify="right")
    table.add_row("loss", *(f"{loss:.3g}" for loss in record.losses.values()))
    table.add_row("weight", *(f"{weight:.2f}" for weight in record.weights.values()))
    return table


def _lines(total: int, what: str) -> Report:
    started = last = time.monotonic()
    done = 0

    def report(record: StepRecord) -> None:
        nonlocal last, done
        done += 1
        now = time.monotonic()
        if now - last >= 10 or record.step == total:
            last = now
            left = (now - started) / done * (total - record.step)
            print(
                f"{what}: step {record.step}/{total}, about {left:.0f} s left, {_state(record)}",
                file=sys.stderr,
            )

    return report


def _state(record: StepRecord) -> str:
    return " ".join(f"{t}={loss:.3g}(w {record.weights[t]:.2f})" for t, loss in record.losses.items())


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
