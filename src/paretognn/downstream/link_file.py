"""A link split as a Parquet file by node ids: columns ``source``, ``target``, ``set`` (train, val, test)."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paretognn.atomic import atomic_write
from paretognn.downstream.links import LinkSplit, checked_link_split
from paretognn.downstream.splits import PARTS
from paretognn.errors import InputError
from paretognn.graph.graph import Graph
from paretognn.graph.write_table import write_parquet

COLUMNS = ("source", "target", "set")


def save_link_split(path: str | os.PathLike[str], split: LinkSplit, graph: Graph) -> None:
    """Write the split; the file appears whole or not at all."""
    ids = graph.id_array()
    pairs = np.concatenate([getattr(split, part) for part in PARTS])
    sets = np.repeat(PARTS, [len(getattr(split, part)) for part in PARTS])
    table = pa.table(
        {
            "source": ids.take(pa.array(pairs[:, 0])),
            "target": ids.take(pa.array(pairs[:, 1])),
            "set": pa.array(sets),
        }
    )
    with atomic_write(path) as aside:
        write_parquet(table, aside)


def load_link_split(path: str | os.PathLike[str], graph: Graph) -> LinkSplit:
    """Read a split of ``graph``.

    Raises InputError for a missing or unreadable file, a missing column, an unknown id or set, and as
    `checked_link_split`.
    """
    try:
        with open(path, "rb") as file:
            table = pq.read_table(file)
    except Exception as error:
        # Damaged bytes raise Arrow's own kinds, and Unicode errors.
        line = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise InputError(f"{path}: cannot be read as Parquet ({line})") from error
    for column in COLUMNS:
        if table.column_names.count(column) != 1:
            count = "no" if column not in table.column_names else "more than one"
            raise InputError(f"{path}: {count} column '{column}'; a link split has source, target and set")
    try:
        table = pa.table({column: table[column].cast(pa.string()) for column in COLUMNS})
    except pa.ArrowException:
        raise InputError(f"{path}: source, target and set must hold text") from None
    source, target = (_positions(path, column, table, graph) for column in ("source", "target"))
    sets = table["set"].combine_chunks()
    unknown = pc.unique(sets).filter(pc.invert(pc.is_in(pc.unique(sets), pa.array(PARTS))))
    if len(unknown):
        raise InputError(f"{path}: unknown set '{unknown[0].as_py()}'; use train, val or test")
    names = np.asarray(sets.to_pylist(), dtype=object)
    pairs = np.stack([source, target], axis=1)
    try:
        return checked_link_split(LinkSplit(*(pairs[names == part] for part in PARTS)), graph)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _positions(path: str | os.PathLike[str], column: str, table: pa.Table, graph: Graph) -> np.ndarray:
    named = table[column].combine_chunks()
    found = pc.index_in(named, graph.id_array())
    if found.null_count:
        first = named.filter(found.is_null())[0].as_py()
        raise InputError(
            f"{path}: {found.null_count} id(s) of column '{column}' are not in graph '{graph.name}'; "
            f"the first is '{first}'"
        )
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)
