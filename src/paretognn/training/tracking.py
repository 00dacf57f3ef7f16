"""Who is told of a run while it trains: the terminal, TensorBoard, a tracker of one's own, all by one interface."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Literal

from paretognn.training.config import TrainConfig
from paretognn.training.multitask import StepRecord

Outcome = Literal["finished", "interrupted", "failed"]


class Tracker:
    """Override what you need. A tracker only looks: what it does or raises changes no number of the run."""

    def started(self, config: TrainConfig, done: int) -> None:
        """Once, before the first step, with ``done`` steps behind it where the run is resumed."""

    def stepped(self, record: StepRecord) -> None:
        """After every step; ``record.scalars()`` has its numbers by name."""

    def ended(self, outcome: Outcome) -> None:
        """Once, after the last step or where the run is cut off."""


class EachStep(Tracker):
    """A plain function of every step's record."""

    def __init__(self, function: Callable[[StepRecord], object]) -> None:
        self.function = function

    def stepped(self, record: StepRecord) -> None:
        self.function(record)


class Audience(Tracker):
    """Several trackers as one. One that raises is warned of, once, and told no more: a run of hours does not end
    because a server does not answer."""

    def __init__(self, trackers: Iterable[Tracker]) -> None:
        self.listening = list(trackers)

    def started(self, config: TrainConfig, done: int) -> None:
        self._tell(lambda tracker: tracker.started(config, done), f"after step {done}")

    def stepped(self, record: StepRecord) -> None:
        self._tell(lambda tracker: tracker.stepped(record), f"at step {record.step}")

    def ended(self, outcome: Outcome) -> None:
        self._tell(lambda tracker: tracker.ended(outcome), "at the end")

    def _tell(self, tell: Callable[[Tracker], None], when: str) -> None:
        for tracker in list(self.listening):
            try:
                tell(tracker)
            except Exception as error:
                self.listening.remove(tracker)
                text = " ".join(str(error).split())
                warnings.warn(
                    f"the tracker {type(tracker).__name__} failed {when} and is told no more; training goes on "
                    f"({type(error).__name__}: {text})",
                    stacklevel=2,
                )
