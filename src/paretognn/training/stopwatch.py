"""Where the time of a step goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Stopwatch:
    """Wall-clock seconds by stage, added up until they are taken.

    On CUDA work is queued, so a stage's time is that of queueing it unless ``synchronise`` waits for the
    device at every border, which a profile wants and training does not.
    """

    def __init__(self, synchronise: bool = False) -> None:
        self.synchronise = synchronise
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = self._now()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + self._now() - started

    def take(self) -> dict[str, float]:
        """The seconds so far; the stopwatch starts anew."""
        taken, self.seconds = self.seconds, {}
        return taken

    def _now(self) -> float:
        if self.synchronise:
            torch.cuda.synchronize()
        return time.perf_counter()
