"""Warnings of the evaluation: what a reader of the scores should know about data and protocol."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class EvaluationWarning(UserWarning):
    """The evaluation went on, but something about its input or protocol deserves a look."""


def notify(message: str) -> None:
    """Emit a one-line `EvaluationWarning`."""
    warnings.warn(message, EvaluationWarning, stacklevel=3)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Gather messages of `EvaluationWarning`, each once and in order; other warnings pass on."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EvaluationWarning)
        yield messages
    for item in caught:
        if not issubclass(item.category, EvaluationWarning):
            warnings.warn_explicit(item.message, item.category, item.filename, item.lineno)
        elif str(item.message) not in messages:
            messages.append(str(item.message))
