"""``metrics.jsonl``: one row a step, without gaps or repeats however often the run was stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from paretognn.atomic import atomic_write, writing
from paretognn.training.multitask import StepRecord


class MetricsWriter:
    """Appends rows; on opening, drops what lies behind ``done`` steps (a row half-written, or steps that
    came after the checkpoint that is resumed from)."""

    def __init__(self, path: Path, done: int) -> None:
        self.path = path
        if path.exists():
            rows = [json.dumps(row) for row in read_metrics(path) if row["step"] <= done]
            with atomic_write(path) as aside:
                aside.write_text("".join(r + "\n" for r in rows), encoding="utf-8")
        with writing(path):
            self._file: TextIO = path.open("a", encoding="utf-8")

    def write(self, record: StepRecord) -> None:
        with writing(self.path):
            self._file.write(json.dumps(asdict(record)) + "\n")

    def flush(self) -> None:
        with writing(self.path):
            self._file.flush()

    def __enter__(self) -> MetricsWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with writing(self.path):
            self._file.close()


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a metrics file up to the first that is not whole."""
    with path.open("rb") as file:
        for line in file:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                return
            if not isinstance(row, dict) or not isinstance(row.get("step"), int):
                return
            if not isinstance(row.get("seconds"), int | float):
                return
            yield row
