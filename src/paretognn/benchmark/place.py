"""Where cells are made: each in a process of its own, on this machine. `paretognn.cluster.cells` is another place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import psutil

from paretognn.atomic import writing
from paretognn.benchmark.cells import FAILED, OUT_OF_MEMORY
from paretognn.benchmark.grid import GridCell
from paretognn.benchmark.job import Job
from paretognn.training.memory import free_memory


class Running(Protocol):
    """A cell that is being made."""

    @property
    def job(self) -> Job: ...

    def code(self) -> int | None:
        """The exit code of its process (`paretognn.benchmark.worker`), None while that is at work."""

    def lost(self) -> tuple[str, str]:
        """Status and reason of a cell whose process ended without a word of its own."""

    def reserved(self) -> int:
        """Bytes that it is still expected to take."""

    def stop(self) -> None:
        """Have it write its checkpoint and end; it still runs on return."""

    def wait(self) -> None:
        """Until it has ended."""

    def kill(self) -> None:
        """End it at once."""


class Place(Protocol):
    """jobs : cells at once."""

    @property
    def jobs(self) -> int: ...

    def fits(self, cell: GridCell, beside: Sequence[Running]) -> bool:
        """Whether there is memory for it now."""

    def start(self, job: Job) -> Running: ...


@dataclass(frozen=True)
class ThisMachine:
    jobs: int = 1

    @classmethod
    def of(cls, device: str, jobs: int | None = None) -> ThisMachine:
        """``jobs`` None: one cell at once on a card, and with two cores or more for each on processors."""
        default = 1 if device == "cuda" else max(1, (os.cpu_count() or 1) // 2)
        return cls(default if jobs is None else jobs)

    def fits(self, cell: GridCell, beside: Sequence[Running]) -> bool:
        """Beside those that run; alone, a cell is always tried."""
        return not beside or cell.memory <= free_memory("cpu") - sum(one.reserved() for one in beside)

    def start(self, job: Job) -> Running:
        threads = {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // self.jobs))} if self.jobs > 1 else {}
        return LocalProcess(job, start_worker(job, {**threads, **os.environ}))


def start_worker(job: Job, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """The process of a cell, told what to make."""
    with writing(job.log):
        job.log.parent.mkdir(parents=True, exist_ok=True)
        log = job.log.open("wb")
    with log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "paretognn.benchmark.worker"],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env={"OMP_WAIT_POLICY": "PASSIVE", **environment},
            start_new_session=True,  # Ctrl-C reaches this process alone, which then stops the others once
        )
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it has ended already, and its exit code says why
        process.stdin.write(json.dumps(job.to_json()).encode() + b"\n")
        process.stdin.flush()
    return process


@dataclass(frozen=True)
class LocalProcess:
    job: Job
    process: subprocess.Popen[bytes]

    def code(self) -> int | None:
        code = self.process.poll()
        if code is not None:
            self._close()
        return code

    def lost(self) -> tuple[str, str]:
        if self.process.returncode == -9:
            # A kill of everything reaches this process within a moment, and says nothing about the cell.
            time.sleep(1)
        return lost_with(self.job, self.process.returncode)

    def reserved(self) -> int:
        try:
            taken = psutil.Process(self.process.pid).memory_info().rss
        except psutil.Error:
            return 0
        return max(0, self.job.cell.memory - int(taken))

    def stop(self) -> None:
        self.process.terminate()

    def wait(self) -> None:
        self.process.wait()
        self._close()

    def kill(self) -> None:
        self.process.kill()
        self._close()

    def _close(self) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()


def lost_with(job: Job, code: int) -> tuple[str, str]:
    """Status and reason of a cell whose process ended with a code that is none of its own."""
    if code == -9:
        return OUT_OF_MEMORY, "the process was killed (SIGKILL), as the system does when memory runs out"
    if code < 0:
        return FAILED, f"the process ended with {signal.Signals(-code).name}"
    return FAILED, f"the process ended with exit code {code}: {last_line(job)}"[:500]


def last_line(job: Job) -> str:
    """Of the log of a cell's process."""
    lines = job.log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
