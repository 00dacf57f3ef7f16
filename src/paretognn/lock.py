"""A lock on what one process makes, a cell or a run. The system lets go of it when that process ends, however it
ends, so that no lock is ever stale."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from paretognn.atomic import writing

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Whether the lock was free, in which case it is held inside. The file, with the holder's process id, goes with
    the lock; it is left behind by a holder that was killed, without effect."""
    handle = _open_locked(path)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            with suppress(OSError):
                path.unlink()
            os.close(handle)


def is_locked(path: Path) -> bool:
    """Whether a process holds it now."""
    if not path.exists():
        return False
    with locked(path) as free:
        return not free


def _open_locked(path: Path) -> int | None:
    while True:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _take(handle)
        except OSError:
            os.close(handle)
            return None
        with suppress(FileNotFoundError):
            if os.fstat(handle).st_ino == os.stat(path).st_ino:
                with suppress(OSError):  # the number is for people; on a full disk the lock holds without it
                    os.truncate(handle, 0)
                    os.write(handle, f"{os.getpid()}\n".encode())
                return handle
        # The last holder removed the file between our opening it and taking it: what is held is a file that
        # nobody else will find.
        os.close(handle)
