"""Disks that are full or may not be written to, as root finds them too."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def no_file_larger(than: int) -> Iterator[None]:
    """A write that would make a file larger than so many bytes fails, as on a disk that is full; in processes that are
    started meanwhile too."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (than, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own; skips where none may be mounted."""
    folder.mkdir()
    if os.name != "posix" or _mount(folder, "-t", "tmpfs", "-o", f"size={size}", "tmpfs"):
        pytest.skip("no file system may be mounted here: a disk of one's own needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def remount(folder: Path, option: str) -> None:
    assert not _mount(folder, "-o", f"remount,{option}")


def _mount(folder: Path, *words: str) -> int:
    try:
        return subprocess.run(["mount", *words, str(folder)], capture_output=True, check=False).returncode
    except FileNotFoundError:
        return 1
