"""A graph on disk that need not fit into memory: its arrays are mapped, and read where they are looked at.

A folder with ``store.json`` and raw arrays in the machine's byte order: ``indptr``, ``indices``, perhaps ``weights``,
``features``, ``labels`` and ``node_parts``; and the ids as one column of an Arrow file. `paretognn.graph.importing`
writes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError
from paretognn.graph.graph import Counts, FeatureColumn, Graph, Stored

VERSION = 1
FACTS = "store.json"
PARTS = "node_parts"
MAPPED_FROM = 1 << 30
"""Bytes from which on a store is mapped; a smaller one is read into memory, and is then a graph as any other."""


@dataclass(frozen=True)
class Part:
    """A file of a store: an array of ``shape``, or with the dtype ``ids`` an Arrow file."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


def is_store(path: str | os.PathLike[str]) -> bool:
    return (Path(path) / FACTS).is_file()


def open_store(path: str | os.PathLike[str], mapped: bool | None = None) -> Graph:
    """The graph of a store. ``mapped`` None: by its size.

    InputError where it is no store, one of another version or byte order, or a file is not as long as it should be.
    What is read into memory is checked against its digest; for what is mapped, `verify` does so.
    """
    folder = Path(path)
    facts = _facts(folder)
    try:
        parts = {name: Part(**{**part, "shape": tuple(part["shape"])}) for name, part in facts["parts"].items()}
        mapped = (
            sum(part.bytes for name, part in parts.items() if name != "ids") >= MAPPED_FROM
            if mapped is None
            else mapped
        )
        arrays = {name: _array(folder, part, mapped) for name, part in parts.items() if name not in ("ids", PARTS)}
        ids = _ids(folder, parts["ids"])
        if not mapped:
            verify(folder)
        columns = facts["feature_columns"]
        return Graph(
            indptr=arrays["indptr"],
            indices=arrays["indices"],
            weights=arrays.get("weights"),
            features=arrays.get("features"),
            feature_columns=None if columns is None else tuple(FeatureColumn(*column) for column in columns),
            labels=arrays.get("labels"),
            label_names=tuple(facts["label_names"]),
            ids=ids,
            name=facts["name"],
            counts=Counts(**facts["counts"]),
            warnings=tuple(facts["warnings"]),
            stored=Stored(str(folder.resolve()), facts["digest"], facts["summary"]) if mapped else None,
        )
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{folder / FACTS}: corrupt (it does not describe a store)") from None


def verify(path: str | os.PathLike[str]) -> None:
    """Read every file of a store. InputError naming the first whose content does not match its digest."""
    folder = Path(path)
    for part in _facts(folder)["parts"].values():
        file = folder / part["file"]
        try:
            with file.open("rb") as content:
                found = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None
        if found != part["sha256"]:
            raise InputError(f"{file}: corrupt (its content does not match its digest); import the graph again")


def node_parts(path: str | os.PathLike[str]) -> np.ndarray:
    """The part of every node, int32 [N] from 0 on, of a store that was imported with parts. InputError for another."""
    folder = Path(path)
    part = _facts(folder)["parts"].get(PARTS)
    if part is None:
        raise InputError(f"{folder}: was imported without parts; import the graph again with --parts N")
    return _array(folder, Part(**{**part, "shape": tuple(part["shape"])}), mapped=False)


def store_digest(parts: dict[str, Part]) -> str:
    """SHA-256 (hex) of what pretraining can see, from the parts' own digests: so no labels; and no parts of nodes,
    which are no more than where features are kept."""
    seen = {name: part.sha256 for name, part in sorted(parts.items()) if name not in ("labels", PARTS)}
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()


def _facts(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder}: holds no imported graph (make one with: paretognn import)") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{folder / FACTS}: corrupt (no JSON)") from None
    if not isinstance(facts, dict) or facts.get("version") != VERSION or facts.get("byteorder") != sys.byteorder:
        raise InputError(f"{folder / FACTS}: is of another version, or of a machine of another byte order")
    return facts


def _array(folder: Path, part: Part, mapped: bool) -> np.ndarray:
    file = folder / part.file
    size = file.stat().st_size if file.is_file() else -1
    if size != part.bytes:
        raise InputError(f"{file}: corrupt ({size} bytes, where {part.bytes} are needed); import the graph again")
    if not size:
        return np.empty(part.shape, part.dtype)
    # Copy on write: torch asks for memory that may be written, and nothing is ever written.
    array = np.memmap(file, part.dtype, "c", shape=part.shape)
    return array if mapped else np.array(array)


def _ids(folder: Path, part: Part) -> pa.StringArray:
    file = folder / part.file
    try:
        table = pa.ipc.open_file(pa.memory_map(str(file))).read_all()
        column = table["id"]
        found = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    except (OSError, KeyError, pa.ArrowException) as error:
        raise InputError(f"{file}: corrupt ({str(error).splitlines()[0][:120]}); import the graph again") from None
    if found.type != pa.string() or len(found) != part.shape[0]:
        raise InputError(f"{file}: corrupt (not as many ids as nodes); import the graph again")
    return found
