"""Errors that are the user's to mend: one line that names the place and says what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """The user's input or a setting is at fault. The command line prints the message and exits with 2."""


class DamagedError(InputError):
    """A file that the program wrote itself is not as it was written; going on without it would hide that."""


class NonFiniteError(RuntimeError):
    """A loss or gradient is NaN or infinite. Carries the task and the step; no weight has been changed."""

    def __init__(self, task: str, step: int, what: str) -> None:
        super().__init__(f"step {step}: the {what} of task '{task}' is not finite")
        self.task = task
        self.step = step


def suggest(name: object, known: Iterable[str]) -> str:
    """``" (did you mean 'x'?)"`` for the nearest known name, or the empty string."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""
