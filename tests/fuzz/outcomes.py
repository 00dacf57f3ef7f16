"""What may come of an input: a whole result, or one line that says what to mend."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from paretognn.cli.main import run
from paretognn.errors import InputError, NonFiniteError

DOCUMENTED = (InputError, NonFiniteError)


def check_error(error: Exception, named: object = "") -> None:
    """One line, which names what is at fault."""
    assert len(str(error).splitlines()) == 1
    assert str(named) in str(error)


def finite_tree(value: Any) -> bool:
    """Whether no number in a tree of JSON is NaN or infinite."""
    if isinstance(value, dict):
        return all(map(finite_tree, value.values()))
    if isinstance(value, list):
        return all(map(finite_tree, value))
    return not isinstance(value, float) or math.isfinite(value)


def exit_of(words: list[str], capsys: Any) -> tuple[int, str]:
    """The exit code of a command, 0 or 2, and in the second case its error: one line, the last that is said."""
    capsys.readouterr()
    code = run(words)
    said = capsys.readouterr().err.splitlines()
    assert code in (0, 2), (code, said)
    errors = [line for line in said if line.startswith("error: ")]
    assert len(errors) == (code == 2), said
    if code == 2:
        assert said[-1] == errors[0]
        assert len(errors[0]) < 2000
    return code, errors[0] if errors else ""


def check_table(path: Path, ids: list[str] | None = None) -> None:
    """Embeddings written as CSV: finite, one row a node, under its id."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    if ids is not None:
        assert [row[0] for row in rows] == ids
    assert np.isfinite(np.array([row[1:] for row in rows], dtype=float)).all()


def check_evaluation(path: Path) -> None:
    assert finite_tree(json.loads(path.read_text(encoding="utf-8")))
