"""The cells of a grid made, each in a process of its own, several at once where memory allows."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from paretognn.atomic import WriteError
from paretognn.benchmark.cells import DONE, Cell, Store
from paretognn.benchmark.grid import GridCell, Request, check_protocol, recorded
from paretognn.benchmark.job import Job
from paretognn.benchmark.making import drop_checkpoints, unmade
from paretognn.benchmark.place import Place, Running, ThisMachine, last_line
from paretognn.benchmark.shared import StoreError
from paretognn.benchmark.worker import BUSY, DAMAGED, MADE, STOPPED, UNWRITABLE
from paretognn.errors import InputError
from paretognn.lock import is_locked

_POLL, _POLL_OTHERS = 0.1, 2.0


@dataclass
class Report:
    """Called as cells start and end; nothing by default.

    waiting : all that is left is being made by other processes.
    """

    started: Callable[[GridCell], None] = lambda cell: None
    finished: Callable[[GridCell, Cell], None] = lambda cell, made: None
    waiting: Callable[[list[GridCell]], None] = lambda cells: None


def to_do(cells: list[GridCell], store: Store, request: Request, retry: bool = False) -> list[GridCell]:
    """Those without a finished cell; with ``retry`` also those that failed or ran out of memory. InputError as
    `check_protocol`."""
    check_protocol(store, cells, request.evaluation_seeds)
    left = []
    for cell in cells:
        found = recorded(store, cell, request.evaluation_seeds)
        if found is None or (retry and found.status != DONE):
            left.append(cell)
    return left


def run_cells(
    cells: list[GridCell],
    store: Store,
    request: Request,
    place: Place | None = None,
    report: Report | None = None,
) -> list[GridCell]:
    """Make the cells, each after those it needs, and return those left unfinished: their processes were stopped.

    Whatever happens to a cell's process is recorded, and the rest goes on. On KeyboardInterrupt, on `WriteError` where
    the store cannot take a cell, and on InputError where a place cannot reach it or what it shares is damaged, the
    processes write their checkpoints and end before it is raised on.
    """
    return _Runner(cells, store, request, place or ThisMachine(), report or Report()).run()


@dataclass
class _Runner:
    pending: list[GridCell]
    store: Store
    request: Request
    place: Place
    report: Report
    running: list[Running] = field(default_factory=list)
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
        except (KeyboardInterrupt, WriteError, InputError):
            self._stop()
            raise
        return self.unfinished

    def _start_what_may(self) -> bool:
        started = False
        for cell in list(self.pending):
            if len(self.running) >= self.place.jobs:
                break
            open_ = {c.key.name for c in self.pending} | {one.job.cell.key.name for one in self.running}
            needs = {key.name for key in cell.needs}
            if needs & open_:
                continue
            if needs & {c.key.name for c in self.unfinished}:
                self._leave(cell)
            elif self._made_by_another(cell):
                self._settle(cell)
            elif not is_locked(Job.of(cell, self.store, self.request).lock) and self.place.fits(cell, self.running):
                self._start(cell)
                started = True
        return started

    def _made_by_another(self, cell: GridCell) -> bool:
        found = self.store.get(cell.key)
        return found is not None and found != self.before[cell.key.name]

    def _start(self, cell: GridCell) -> None:
        self.running.append(self.place.start(Job.of(cell, self.store, self.request, self.place.jobs)))
        self.pending.remove(cell)
        self.report.started(cell)

    def _collect(self) -> bool:
        ended = [(one, code) for one in self.running if (code := one.code()) is not None]
        for one, code in ended:
            self.running.remove(one)
            self._record(one, code)
        return bool(ended)

    def _record(self, ended: Running, code: int) -> None:
        job = ended.job
        if code == BUSY:
            self.pending.append(job.cell)
        elif code in (STOPPED, -signal.SIGTERM, -signal.SIGINT):
            self._leave(job.cell)
        elif code == UNWRITABLE:
            path, _, reason = last_line(job).rpartition(": ")
            raise WriteError(None, reason or "cannot be written", path or str(self.store.path))
        elif code == DAMAGED:
            raise StoreError(last_line(job))
        else:
            if code != MADE:
                unmade(job, *ended.lost())
            self._settle(job.cell)

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
                one.stop()
            for one in self.running:
                one.wait()
        except KeyboardInterrupt:
            for one in self.running:
                one.kill()
