"""What an import has written so far: arrays from front to back, and which stages are finished."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paretognn.atomic import atomic_write
from paretognn.errors import InputError
from paretognn.graph.mapped import Part


class Stages:
    """Of a staging folder: what is finished there for a request. Another request, which an import wrote, begins anew.

    InputError for a folder that holds anything but an import's.
    """

    def __init__(self, folder: Path, request: dict[str, Any]) -> None:
        self.file = folder / "progress.json"
        self.request = json.loads(json.dumps(request))
        self.found: dict[str, Any] = {}
        if self.file.exists():
            try:
                content = json.loads(self.file.read_text(encoding="utf-8"))
                if content["request"] == self.request:
                    self.found = content["stages"]
            except (ValueError, KeyError, TypeError):
                pass
        elif any(folder.iterdir()):
            raise InputError(f"{folder}: is there already, and not from an import; move it, or choose another --out")
        if not self.found:
            shutil.rmtree(folder)
            folder.mkdir()
            self._write()

    def done(self, name: str) -> dict[str, Any] | None:
        return self.found.get(name)

    def finish(self, name: str, facts: dict[str, Any]) -> dict[str, Any]:
        self.found[name] = facts
        self._write()
        return facts

    def _write(self) -> None:
        with atomic_write(self.file) as aside:
            aside.write_text(json.dumps({"request": self.request, "stages": self.found}), encoding="utf-8")


@dataclass
class Writer:
    """A raw array that is written from front to back, and its digest."""

    path: Path
    dtype: str
    columns: tuple[int, ...] = ()
    rows: int = 0
    _hash: Any = field(default_factory=hashlib.sha256)

    def __enter__(self) -> Writer:
        self._file = self.path.open("wb")
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def write(self, rows: np.ndarray) -> None:
        content = np.ascontiguousarray(rows, dtype=self.dtype)
        self._file.write(content.data)
        self._hash.update(content.data)
        self.rows += len(rows)

    def part(self) -> dict[str, Any]:
        self._file.flush()
        os.fsync(self._file.fileno())
        return asdict(Part(self.path.name, self.dtype, (self.rows, *self.columns), self._hash.hexdigest()))
