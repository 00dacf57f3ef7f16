"""``cost.json``: seconds and peak memory of the stages of a run's work, each of the last command that did it; of one
that is done in several sessions, as training is, the sum of their seconds and the most of their memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pydantic import BaseModel, TypeAdapter, ValidationError

from paretognn.atomic import WriteError
from paretognn.errors import InputError
from paretognn.training.memory import peak_memory
from paretognn.training.run_folder import RunFolder


class StageCost(BaseModel):
    """peak_bytes : the most resident memory of the process up to the stage's end, 0 where it is not known."""

    seconds: float
    peak_bytes: int


class CostLog:
    """Stages of one command; `write` lays them on those that the run has."""

    def __init__(self) -> None:
        self.stages: dict[str, StageCost] = {}
        self._sessions: set[str] = set()

    @contextmanager
    def stage(self, name: str, *, sessions: bool = False) -> Iterator[None]:
        """Measure what is inside, also where it is cut off; with ``sessions`` it is added to what the run has."""
        started = time.monotonic()
        if sessions:
            self._sessions.add(name)
        try:
            yield
        finally:
            self.stages[name] = StageCost(seconds=time.monotonic() - started, peak_bytes=peak_memory())

    def write(self, folder: RunFolder) -> None:
        try:
            kept = read_cost(folder)
        except InputError:
            kept = {}
        merged = kept | {name: self._with(kept, name, cost) for name, cost in self.stages.items()}
        with suppress(WriteError):  # on a full disk a run's results matter, and say for themselves that it is full
            folder.write_json(folder.cost_file, {name: cost.model_dump() for name, cost in merged.items()})

    def _with(self, kept: dict[str, StageCost], name: str, cost: StageCost) -> StageCost:
        if name not in self._sessions or name not in kept:
            return cost
        before = kept[name]
        return StageCost(seconds=before.seconds + cost.seconds, peak_bytes=max(before.peak_bytes, cost.peak_bytes))


def read_cost(folder: RunFolder) -> dict[str, StageCost]:
    """By stage; empty where none was recorded. InputError for a damaged file."""
    if not folder.cost_file.exists():
        return {}
    try:
        return TypeAdapter(dict[str, StageCost]).validate_python(folder.read_json(folder.cost_file))
    except ValidationError:
        raise InputError(f"{folder.cost_file}: corrupt (it holds no costs); remove it") from None
