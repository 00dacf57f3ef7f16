"""Errors that are the user's to mend: one line that names the place and says what to do."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable
from pathlib import Path


class InputError(ValueError):
    """The user's input or a setting is at fault. The command line prints the message and exits with 2."""


class TooLargeError(InputError):
    """What is asked for exists, but not for a graph of this size."""


class DamagedError(InputError):
    """A file that the program wrote itself is not as it was written; going on without it would hide that."""


class WorkLostError(RuntimeError):
    """Processes that shared the work have ended before their time. The command line prints the message and exits
    with 1."""


class NonFiniteError(RuntimeError):
    """A task's loss, gradient or weight is NaN or infinite. Carries task and step; no weight has been changed."""

    def __init__(self, task: str, step: int, what: str) -> None:
        super().__init__(f"step {step}: the {what} of task '{task}' is not finite")
        self.task = task
        self.step = step


def flag(name: str) -> str:
    """An option as the command line spells it."""
    return f"--{name.replace('_', '-')}"


def flag_value(name: str) -> str:
    """A column's name as the shell and a comma-separated option take it."""
    text = '"' + name.replace('"', '""') + '"' if set(name) & {",", '"'} or name != name.strip() else name
    return shlex.quote(text)


def suggest(name: object, known: Iterable[str]) -> str:
    """``" (did you mean 'x'?)"`` for the nearest known name, or else one that ``name`` is the end or the initials of;
    the empty string without any."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=1) or [each for each in names if _short_for(str(name), each)]
    return f" (did you mean '{near[0]}'?)" if near else ""


def _short_for(name: str, full: str) -> bool:
    """Whether ``name`` is ``rate``, ``lr`` or, of a path, ``learning_rate`` to ``optimizer.learning_rate``."""
    words = re.split(r"[^A-Za-z0-9]+", full.rpartition(".")[2])
    initials = "".join(word[:1] for word in words)
    return len(name) > 1 and (full.endswith((f"_{name}", f"-{name}", f".{name}")) or initials == name)


def require_utf8(path: Path) -> None:
    """InputError for a name that is not UTF-8 text, which libraries of other languages cannot open."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InputError(f"{str(path)!a}: the name is not UTF-8 text; rename it, or choose another") from None
