"""A public data set by name: found on disk, or downloaded into the user's own cache, then read."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from paretognn.datasets.download import download as fetch
from paretognn.datasets.entry import DataSet
from paretognn.datasets.raw import reading
from paretognn.datasets.registry import DATASETS, dataset_entry
from paretognn.errors import InputError, suggest
from paretognn.graph.graph import Graph

ROOT_VARIABLE = "PARETOGNN_DATA"


def load_dataset(
    name: str,
    data_root: str | os.PathLike[str] | None = None,
    *,
    download: bool | None = None,
    **options: Any,
) -> Graph:
    """Load a public data set as an undirected `Graph` with labels and, where there are any, public splits.

    data_root : the folder that holds the raw files in the layout of PyG and OGB; else the environment's
        PARETOGNN_DATA; else a cache folder of the user.
    download : fetch files that are missing. By default only into the cache folder: a folder that was named
        is read, never written.
    options : of that data set alone, such as ``binary`` for coauthor-cs.

    Raises `InputError` for an unknown name or option, for missing files (naming where they were looked for)
    and for damaged ones.

    >>> load_dataset("digits").num_edges
    12340
    """
    entry = dataset_entry(name)
    for option in options:
        if option not in entry.options:
            known = ", ".join(entry.options) or "none"
            raise InputError(f"{entry.name} has no option '{option}'{suggest(option, entry.options)}; it has: {known}")
    folder = Path()
    if entry.files:
        root, named = data_folder(data_root)
        folder = entry.folder(root)
        if entry.missing(folder) and (download or (download is None and not named)):
            folder = root / entry.folders[0]
            fetch(entry, folder)
        if entry.missing(folder):
            raise InputError(_missing_message(entry, folder))
    with reading(folder):
        graph = entry.read(folder, **options)
    notes = (*graph.notes, *entry.notes, *_split_notes(graph))
    return graph.replace(name=entry.name, notes=notes)


def data_folder(data_root: str | os.PathLike[str] | None = None) -> tuple[Path, bool]:
    """The data root, and whether someone named it (argument or PARETOGNN_DATA)."""
    given = data_root if data_root is not None else os.environ.get(ROOT_VARIABLE) or None
    if given is not None:
        return Path(given).expanduser().absolute(), True
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "paretognn" / "data", False


def describe_datasets(data_root: str | os.PathLike[str] | None = None) -> list[dict[str, Any]]:
    """One row a data set: published sizes, the folder looked at, files missing, source and licence."""
    root, _ = data_folder(data_root)
    rows = []
    for name in DATASETS:
        try:
            entry = dataset_entry(name)
        except InputError as error:  # one that is broken does not hide the others
            warnings.warn(str(error), stacklevel=2)
            continue
        folder = entry.folder(root) if entry.files else None
        missing = entry.missing(folder) if folder else []
        rows.append(
            {
                "name": entry.name,
                **entry.published._asdict(),
                "homophilous": entry.homophilous,
                "in_paper": entry.in_paper,
                "folder": str(folder) if folder else None,
                "present": not missing,
                "missing": missing,
                "downloadable": all(file.url for file in entry.files),
                "source": entry.source,
                "licence": entry.licence,
                "notes": list(entry.notes),
                "options": list(entry.options),
            }
        )
    return rows


def _missing_message(entry: DataSet, folder: Path) -> str:
    missing = entry.missing(folder)
    shown = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
    text = f"{entry.name}: {len(missing)} of {len(entry.files)} files are missing in {folder} ({shown});"
    text += f" put them there or name another data root with --data-root or {ROOT_VARIABLE}"
    if all(file.url for file in entry.files):
        text += f"; load_dataset('{entry.name}', download=True) fetches them"
    return text


def _split_notes(graph: Graph) -> tuple[str, ...]:
    if not graph.splits:
        return ()
    used = [len(np.concatenate([split.train, split.val, split.test])) for split in graph.splits]
    left = graph.num_nodes - min(used)
    unused = f"; up to {left:,} nodes are in no part of one" if left else ""
    return (f"{len(graph.splits)} public split(s){unused}",)
