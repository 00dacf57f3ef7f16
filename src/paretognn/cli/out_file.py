"""The file that a command writes: how, and that it is none of those that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from paretognn.errors import InputError
from paretognn.graph.write_table import TABLES, check_suffix
from paretognn.sources import read_files
from paretognn.training import RunFolder


def check_out(
    path: Path | None,
    run: Path | None = None,
    read: Iterable[str | Path | None] = (),
    suffixes: Sequence[str] | None = TABLES,
) -> None:
    """InputError, before any work, where the file's name does not say how to write it (None: any name will do), or
    where it is one of ``read``, or of the files of ``run``, or of those that the run's graph came from."""
    if path is None:
        return
    if suffixes is not None:
        check_suffix(path, suffixes)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; --out names a file")
    of_run = () if run is None else read_files(RunFolder(run).require())
    for other in (*read, *of_run):
        if other is not None and path.exists() and Path(other).exists() and path.samefile(other):
            raise InputError(f"{path}: is what is read here, and would be lost; choose another --out")
