"""The cells of a grid made, each in a process of its own, several at once where memory allows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from paretognn.atomic import WriteError, writing
from paretognn.benchmark.cells import DONE, FAILED, OUT_OF_MEMORY, Cell, Store
from paretognn.benchmark.grid import GridCell, Request, recorded
from paretognn.benchmark.job import Job
from paretognn.benchmark.making import drop_checkpoints, unmade
from paretognn.benchmark.worker import BUSY, MADE, STOPPED, UNWRITABLE
from paretognn.lock import is_locked
from paretognn.training.memory import free_memory

_POLL, _POLL_OTHERS = 0.1, 2.0


@dataclass
class Report:
    """Called as cells start and end; nothing by default.

    waiting : all that is left is being made by other processes.
    """

    started: Callable[[GridCell], None] = lambda cell: None
    finished: Callable[[GridCell, Cell], None] = lambda cell, made: None
    waiting: Callable[[list[GridCell]], None] = lambda cells: None


@dataclass
class _Process:
    job: Job
    process: subprocess.Popen[bytes]

    def reserved(self) -> int:
        """Bytes that it is still expected to take."""
        try:
            taken = psutil.Process(self.process.pid).memory_info().rss
        except psutil.Error:
            return 0
        return max(0, self.job.cell.memory - int(taken))


def to_do(cells: list[GridCell], store: Store, request: Request, retry: bool = False) -> list[GridCell]:
    """Those without a finished cell; with ``retry`` also those that failed or ran out of memory."""
    left = []
    for cell in cells:
        found = recorded(store, cell, request.evaluation_seeds)
        if found is None or (retry and found.status != DONE):
            left.append(cell)
    return left


def default_jobs(device: str) -> int:
    """Cells at once: one on a card, and with two cores or more for each on processors."""
    return 1 if device == "cuda" else max(1, (os.cpu_count() or 1) // 2)


def run_cells(
    cells: list[GridCell], store: Store, request: Request, jobs: int = 1, report: Report | None = None
) -> list[GridCell]:
    """Make the cells, each after those it needs, and return those left unfinished: their processes were stopped.

    Whatever happens to a cell's process is recorded, and the rest goes on. On KeyboardInterrupt, and on `WriteError`
    where the store cannot take a cell, the processes write their checkpoints and end before it is raised on.
    """
    return _Runner(cells, store, request, jobs, report or Report()).run()


@dataclass
class _Runner:
    pending: list[GridCell]
    store: Store
    request: Request
    jobs: int
    report: Report
    running: list[_Process] = field(default_factory=list)
    unfinished: list[GridCell] = field(default_factory=list)

    def run(self) -> list[GridCell]:
        self.pending = list(self.pending)
        self.before = {cell.key.name: self.store.get(cell.key) for cell in self.pending}
        told = False
        try:
            while self.pending or self.running:
                ended = self._collect()
                started = self._start_what_may()
                if self.running:
                    time.sleep(0 if ended or started else _POLL)
                elif self.pending:
                    if not told:
                        self.report.waiting(self.pending)
                    told = True
                    time.sleep(_POLL_OTHERS)
        except (KeyboardInterrupt, WriteError):
            self._stop()
            raise
        return self.unfinished

    def _start_what_may(self) -> bool:
        started = False
        for cell in list(self.pending):
            if len(self.running) >= self.jobs:
                break
            open_ = {c.key.name for c in self.pending} | {p.job.cell.key.name for p in self.running}
            needs = {key.name for key in cell.needs}
            if needs & open_:
                continue
            if needs & {c.key.name for c in self.unfinished}:
                self._leave(cell)
            elif self._made_by_another(cell):
                self._settle(cell)
            elif not is_locked(Job.of(cell, self.store, self.request).lock) and self._fits(cell):
                self._start(cell)
                started = True
        return started

    def _made_by_another(self, cell: GridCell) -> bool:
        found = self.store.get(cell.key)
        return found is not None and found != self.before[cell.key.name]

    def _fits(self, cell: GridCell) -> bool:
        """Beside those that run; alone, a cell is always tried."""
        left = free_memory("cpu") - sum(process.reserved() for process in self.running)
        return not self.running or cell.memory <= left

    def _start(self, cell: GridCell) -> None:
        job = Job.of(cell, self.store, self.request, self.jobs)
        environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ}
        if self.jobs > 1:
            environment.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // self.jobs)))
        with writing(job.log):
            job.log.parent.mkdir(parents=True, exist_ok=True)
            log = job.log.open("wb")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "paretognn.benchmark.worker"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,  # Ctrl-C reaches this process alone, which then stops the others once
            )
        self.running.append(_Process(job, process))
        self.pending.remove(cell)
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended already, and its exit code says why
            process.stdin.write(json.dumps(job.to_json()).encode() + b"\n")
            process.stdin.flush()
        self.report.started(cell)

    def _collect(self) -> bool:
        ended = [one for one in self.running if one.process.poll() is not None]
        for one in ended:
            _close(one.process)
            self.running.remove(one)
            self._record(one.job, one.process.returncode)
        return bool(ended)

    def _record(self, job: Job, code: int) -> None:
        cell = job.cell
        if code == BUSY:
            self.pending.append(cell)
        elif code in (STOPPED, -signal.SIGTERM, -signal.SIGINT):
            self._leave(cell)
        elif code == UNWRITABLE:
            path, _, reason = _last_line(job).rpartition(": ")
            raise WriteError(None, reason or "cannot be written", path or str(self.store.path))
        else:
            if code != MADE:
                self._record_lost(job, code)
            self._settle(cell)

    def _record_lost(self, job: Job, code: int) -> None:
        """A process that ended without a word of its own."""
        if code == -9:
            # A kill of everything reaches this process within a moment, and says nothing about the cell.
            time.sleep(1)
            unmade(job, OUT_OF_MEMORY, "the process was killed (SIGKILL), as the system does when memory runs out")
        elif code < 0:
            unmade(job, FAILED, f"the process ended with {signal.Signals(-code).name}")
        else:
            unmade(job, FAILED, f"the process ended with exit code {code}: {_last_line(job)}"[:500])

    def _settle(self, cell: GridCell) -> None:
        if cell in self.pending:
            self.pending.remove(cell)
        made = self.store.get(cell.key)
        assert made is not None
        if made.status == DONE:
            drop_checkpoints(self.store, cell.key)
        self.report.finished(cell, made)

    def _leave(self, cell: GridCell) -> None:
        if cell in self.pending:
            self.pending.remove(cell)
        self.unfinished.append(cell)

    def _stop(self) -> None:
        try:
            for one in self.running:
                one.process.terminate()
            for one in self.running:
                one.process.wait()
        except KeyboardInterrupt:
            for one in self.running:
                one.process.kill()
        for one in self.running:
            _close(one.process)


def _last_line(job: Job) -> str:
    lines = job.log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
