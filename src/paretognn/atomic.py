"""Files that are either whole or not there: written aside, then renamed."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PARTIAL = ".partial-"
"""How the name of a file begins that is being written, or whose writer was killed."""


class WriteError(OSError):
    """The disk is full, or the place may not be written to: ``filename``, and in ``strerror`` why."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on a clean exit it takes ``path``'s place, else it is removed.

    The temporary name keeps the suffixes of ``path``, for writers that choose a format by them. The parent
    folder is created where missing, and of a link the target is replaced. A reader sees the old file or the new one,
    never half of either. `WriteError` where the system does not let it be written.
    """
    path = Path(path)
    with writing(path):
        if path.is_symlink():  # which stays, and its target is replaced
            path = path.resolve()
        if path.exists() and not path.is_file() and not path.is_dir():
            raise WriteError(errno.EINVAL, "is a device or a pipe, not a file", str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.parent / f"{PARTIAL}{secrets.token_hex(8)}{''.join(path.suffixes)[-40:]}"
        try:  # around its making too: a signal may come at any moment
            os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            yield aside
            with open(aside, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(aside, path)
        finally:
            with suppress(OSError):
                aside.unlink()
    _sync_folder(path.parent)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """A context in which what the system says against writing ``path``, as a full disk, is a `WriteError`."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        raise WriteError(error.errno, f"cannot be written ({_reason(error)})", str(path)) from None


def sweep(folder: Path) -> None:
    """Remove what writers that were killed have left in ``folder``, where nobody else writes."""
    with suppress(OSError):
        for left in folder.glob(f"{PARTIAL}*"):
            left.unlink()


def _reason(error: OSError) -> str:
    """In the system's words; some libraries wrap them into theirs."""
    named = re.search(r"\b(?:os error|errno) (\d+)", str(error))
    number = error.errno or (int(named[1]) if named else None)
    if number == errno.EEXIST:  # where a folder should be there is a file
        number = errno.ENOTDIR
    return os.strerror(number) if number else str(error)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
