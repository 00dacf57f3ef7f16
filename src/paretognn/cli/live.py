"""The progress of training in a terminal: a bar with rate and time left, loss and weight of every task beneath."""

from __future__ import annotations

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from paretognn.cli.console import err
from paretognn.training.config import TrainConfig
from paretognn.training.multitask import StepRecord
from paretognn.training.tracking import Outcome, Tracker


class Terminal(Tracker):
    """On ``console``; silent where that is no terminal."""

    def __init__(self, what: str = "training", console: Console = err) -> None:
        self.what, self.console = what, console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self._live: Live | None = None

    def started(self, config: TrainConfig, done: int) -> None:
        if self.console.is_terminal:
            self._line = self._bar.add_task(self.what, total=config.steps, completed=done, rate="")
            self._live = Live(self._bar, console=self.console, refresh_per_second=4)
            self._live.start()

    def stepped(self, record: StepRecord) -> None:
        if self._live is not None:
            self._bar.update(self._line, completed=record.step, rate=_rate(record.seconds))
            self._live.update(Group(self._bar, _tasks(record)))

    def ended(self, outcome: Outcome) -> None:
        if self._live is not None:
            self._live.stop()


def _rate(seconds: float) -> str:
    return f"{seconds:.2f} s/step" if seconds >= 0.5 else f"{1 / max(seconds, 1e-9):.1f} steps/s"


def _tasks(record: StepRecord) -> Table:
    """Loss and weight of every task at the last step."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    for task in record.losses:
        table.add_column(task, justify="right")
    table.add_row("loss", *(f"{loss:.3g}" for loss in record.losses.values()))
    table.add_row("weight", *(f"{weight:.2f}" for weight in record.weights.values()))
    return table
