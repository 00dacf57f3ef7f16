"""A cell: one method on one data set from one training seed, and the store of finished ones."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from paretognn.atomic import PARTIAL, atomic_write
from paretognn.benchmark.cell_file import CellFile
from paretognn.errors import InputError, require_utf8

DONE, FAILED, OUT_OF_MEMORY = "done", "failed", "out-of-memory"
TRAINED, CONTROL, EMBEDDINGS = "trained", "control", "embeddings"
FORMAT = 1


@dataclass(frozen=True)
class CellKey:
    """What a cell is asked to be.

    kind : ``trained``, ``control`` (training-free) or ``embeddings`` (a row from a file).
    steps : optimiser steps; 0 for what is not trained here.
    settings : the tree laid over method and preset, empty for none.
    """

    dataset: str
    method: str
    kind: str = TRAINED
    preset: str = "auto"
    steps: int = 0
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """A file name that no other key has."""
        parts = [self.dataset, self.method, f"{self.preset}-{self.steps}", f"seed{self.seed}"]
        if self.settings:
            text = json.dumps(self.settings, sort_keys=True)
            parts.append(hashlib.sha256(text.encode()).hexdigest()[:8])
        plain = [re.sub(r"[^\w.+-]", "-", part) for part in parts]
        if plain != parts:  # "a b" is not "a-b"
            plain.append(hashlib.sha256("/".join(parts).encode()).hexdigest()[:8])
        return "__".join(plain)


@dataclass(frozen=True)
class Cell:
    """A finished cell, as its JSON file holds it.

    status : ``done``, ``failed`` or ``out-of-memory``; the last two have ``error``, one line, and no evaluation.
    evaluation : the content of ``evaluation.json``: ``tasks`` by name with ``mean``, ``std`` and ``per_seed`` in
        [0, 1], ``average``, ``evaluation_seeds``, ``split``, ``split_digests``, ``link_split_digest``,
        ``partition`` with its ``digest``. None unless done.
    config : the resolved settings of training; None where nothing was trained.
    seconds : ``training``, ``link_training``, ``evaluation``. step_seconds : the median of training's.
    peak_memory : bytes, of the whole process.
    """

    key: CellKey
    status: str
    evaluation: dict[str, Any] | None = None
    error: str | None = None
    config: dict[str, Any] | None = None
    width: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    step_seconds: float | None = None
    peak_memory: int | None = None
    hardware: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    command: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Cell:
        """KeyError, TypeError or ValueError where it is no cell."""
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']}")
        CellFile.model_validate(content)
        known = {f.name for f in fields(cls)}
        values = {name: value for name, value in content.items() if name in known}
        return cls(**{**values, "key": CellKey(**content["key"])})


class Store:
    """A folder of cells: ``cells/NAME.json``, and what they were made with in ``runs/NAME``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        require_utf8(self.path)
        self.cells = self.path / "cells"
        self.runs = self.path / "runs"

    def file(self, key: CellKey) -> Path:
        return self.cells / f"{key.name}.json"

    def get(self, key: CellKey) -> Cell | None:
        """The finished cell, or None."""
        return self.named(key.name)

    def named(self, name: str) -> Cell | None:
        """The finished cell whose key has this name, or None."""
        path = self.cells / f"{name}.json"
        return _read(path) if path.exists() else None

    def put(self, cell: Cell) -> None:
        """Written whole or not at all."""
        with atomic_write(self.file(cell.key)) as aside:
            aside.write_text(json.dumps(cell.to_json(), indent=1, allow_nan=False) + "\n", encoding="utf-8")

    def __iter__(self) -> Iterator[Cell]:
        """All cells, by name. InputError for a damaged file."""
        for path in sorted(self.cells.glob("*.json")):
            if not path.name.startswith(PARTIAL):
                yield _read(path)


def _read(path: Path) -> Cell:
    try:
        cell = Cell.from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path}: is not a cell of a benchmark store; remove it and run the benchmark again") from None
    if cell.key.name != path.stem:  # else a copy would count as one more training seed
        raise InputError(f"{path}: is the cell '{cell.key.name}' under another name; remove it or name it so")
    return cell
