"""The process of one cell: ``python -m paretognn.benchmark.worker``, its job one line of JSON on standard input.

A store that cannot take the cell, or whose shared files are damaged, is no fault of the cell: it stays unfinished, and
the grid ends.

Standard input stays open as long as the process that started it lives; when that ends, however it ends, this one
stops as on SIGTERM, with its checkpoint written.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from paretognn.allocator import keep_freed_memory
from paretognn.atomic import WriteError
from paretognn.benchmark.cells import DONE
from paretognn.benchmark.grid import recorded
from paretognn.benchmark.job import Job
from paretognn.benchmark.making import drop_checkpoints, make_cell
from paretognn.benchmark.shared import StoreError
from paretognn.lock import locked
from paretognn.training import Interrupted

MADE, DAMAGED, UNWRITABLE, BUSY, STOPPED = 0, 65, 74, 75, 130


def main() -> int:
    """``MADE``: the cell is in the store, of whatever status. ``UNWRITABLE``: the store cannot take it, the log says
    why. ``DAMAGED``: what the store shares is, the log says how. ``BUSY``: another process is at it. ``STOPPED``."""
    job = Job.from_json(json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    keep_freed_memory()
    try:
        with locked(job.lock) as free:
            if not free:
                return BUSY
            found = recorded(job.store, job.cell, job.evaluation_seeds)
            if found is None or found.status != DONE:
                make_cell(job)
            else:
                drop_checkpoints(job.store, found.key)  # a kill between the two acts leaves them
    except Interrupted:
        return STOPPED
    except WriteError as error:
        print(error, file=sys.stderr)
        return UNWRITABLE
    except StoreError as error:
        print(error, file=sys.stderr)
        return DAMAGED
    return MADE


def _stop_with_parent() -> None:
    # Not through sys.stdin: its lock, held by a daemon thread, would be fatal at exit.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
