"""SIGINT and SIGTERM, heard between two steps."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class Signals:
    """Turns SIGINT and SIGTERM into a wish to stop after the step that is running; a second SIGINT stops at once, but
    where ``patient``: a launcher hands on a signal that its processes had from the terminal already."""

    def __init__(self, patient: bool) -> None:
        self.patient = patient

    def __enter__(self) -> Signals:
        self.received = False
        self._old: dict[int, Any] = {}
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                self._old[number] = signal.signal(number, self._receive)
            except ValueError:
                # Handlers can be set in the main thread only; elsewhere the caller's stay.
                break
        return self

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received and number == signal.SIGINT and not self.patient:
            raise KeyboardInterrupt
        self.received = True

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
