"""Cells of a benchmark on the machines of a Ray cluster.

Each is made by the process that would make it here (`paretognn.benchmark.worker`), as a Ray task around it: where its
machine is lost, Ray starts the task again on another, and the cell goes on from its checkpoint in the store.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError, RayError, TaskCancelledError

from paretognn.benchmark.cells import FAILED, OUT_OF_MEMORY, Store
from paretognn.benchmark.grid import GridCell
from paretognn.benchmark.job import Job
from paretognn.benchmark.place import Running, lost_with, start_worker
from paretognn.benchmark.worker import STOPPED
from paretognn.cluster.connection import RETRIES, machines, places, said, share
from paretognn.datasets.load import ROOT_VARIABLE
from paretognn.errors import InputError
from paretognn.lock import is_locked

_LOST = 1
_STOPPED = (STOPPED, -signal.SIGTERM, -signal.SIGINT)


@dataclass(frozen=True)
class Cluster:
    """The cluster that this process is connected to, as a `Place` for cells.

    options : what a cell takes of its machine. memory : bytes of the largest machine.
    """

    jobs: int
    options: dict[str, Any]
    memory: int

    @classmethod
    def of(cls, device: str, jobs: int | None = None) -> Cluster:
        """``jobs`` None: as many cells at once as the machines hold."""
        largest = max((machine.get("memory", 0) for machine in machines()), default=0)
        return cls(places(device) if jobs is None else jobs, share(device), int(largest))

    def fits(self, cell: GridCell, beside: Sequence[Running]) -> bool:
        """Ray keeps a cell back until a machine has the memory."""
        return True

    def start(self, job: Job) -> Running:
        root = job.data_root or os.environ.get(ROOT_VARIABLE)
        job = replace(job, store=Store(job.store.path.resolve()), data_root=root)
        memory = min(job.cell.memory, self.memory)  # what no machine has is tried on the largest
        options = {**self.options, "memory": memory, "max_retries": RETRIES, "retry_exceptions": [Drained]}
        task = ray.remote(_make).options(name=job.cell.key.name, **options)
        return ClusterCell(job, task.remote(job.to_json()))


class Drained(Exception):  # noqa: N818
    """A cell's process was told to end though its grid goes on, as when its machine is taken away."""


def _make(content: dict[str, Any]) -> int:
    """On one of the machines: the exit code of the cell's process."""
    job = Job.from_json(content)
    if not job.store.cells.is_dir():
        raise InputError(
            f"{job.store.path}: machine {ray.util.get_node_ip_address()} does not see it; --out must be on storage "
            "that all machines of the cluster share"
        )
    process = start_worker(job, os.environ)
    try:
        code = process.wait()
    except BaseException:  # cancelled
        process.terminate()
        process.wait()
        raise
    finally:
        assert process.stdin is not None
        process.stdin.close()
    if code in _STOPPED:
        raise Drained
    return code


class ClusterCell:
    """A cell that is being made on some machine, or waits for one."""

    def __init__(self, job: Job, task: Any) -> None:
        self.job, self._task = job, task
        self._said: tuple[str, str] | None = None

    def code(self) -> int | None:
        """InputError where a machine cannot make it as things are."""
        if not ray.wait([self._task], timeout=0)[0]:
            return None
        try:
            return int(ray.get(self._task))
        except InputError as error:
            raise InputError(str(getattr(error, "cause", error))) from None
        except (Drained, TaskCancelledError):
            return STOPPED
        except OutOfMemoryError:
            self._said = OUT_OF_MEMORY, "Ray ended its process: the memory of its machine ran out"
        except RayError as error:
            self._said = FAILED, f"its process was lost {RETRIES + 1} times, the last: {said(error)}"
        return _LOST

    def lost(self) -> tuple[str, str]:
        return self._said or lost_with(self.job, int(ray.get(self._task)))

    def reserved(self) -> int:
        return 0

    def stop(self) -> None:
        ray.cancel(self._task)

    def wait(self) -> None:
        ray.wait([self._task])
        while is_locked(self.job.lock):
            time.sleep(0.1)

    def kill(self) -> None:
        ray.cancel(self._task, force=True)
