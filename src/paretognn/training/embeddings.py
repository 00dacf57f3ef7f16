"""Embeddings as files: the id and one column a dimension, in the order of the user's table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from paretognn.atomic import atomic_write
from paretognn.errors import InputError
from paretognn.graph import Graph

SUFFIXES = (".parquet", ".csv", ".npy")


def check_suffix(path: Path) -> None:
    """InputError unless the file's name says how to write it."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name must end in one of {', '.join(SUFFIXES)}")


def write_embeddings(path: Path, ids: pa.StringArray, embeddings: np.ndarray) -> None:
    """Parquet or CSV with columns ``id``, ``e0`` .. ``e{d-1}``; or npy, float32 [N, d] without ids."""
    check_suffix(path)
    kind = path.suffix.lower()
    if kind == ".npy":
        write_npy(path, embeddings)
        return
    columns = {"id": ids, **{f"e{j}": pa.array(embeddings[:, j]) for j in range(embeddings.shape[1])}}
    table = pa.table(columns)
    with atomic_write(path) as aside:
        if kind == ".parquet":
            pq.write_table(table, aside)
        else:
            _write_csv(aside, table)


def _write_csv(path: Path, table: pa.Table) -> None:
    """Quotes where an id needs them, and none elsewhere: pyarrow by itself quotes every title and text, which
    tools that split lines at commas take for part of it."""
    special = pc.any(pc.match_substring_regex(table["id"], '[",\r\n]')).as_py()
    options = pa_csv.WriteOptions(include_header=False, quoting_style="needed" if special else "none")
    with path.open("wb") as file:
        file.write((",".join(table.column_names) + "\n").encode())
        pa_csv.write_csv(table, file, options)


def read_embeddings(path: Path, graph: Graph) -> np.ndarray:
    """float32 [N, d] in the graph's order; Parquet and CSV are joined by their first column, the id.

    InputError where the file cannot be read, or its ids or its number of rows are not the graph's.
    """
    check_suffix(path)
    try:
        if path.suffix.lower() == ".npy":
            array = read_npy(path)
            if array.ndim != 2 or len(array) != graph.num_nodes:
                raise InputError(f"{path}: expected {graph.num_nodes} rows, one a node, found shape {array.shape}")
            return np.asarray(array, dtype=np.float32)
        table = _read_table(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, pa.ArrowException) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from None
    if not table.num_columns:
        raise InputError(f"{path}: has no columns")
    try:
        ids = table.column(0).cast(pa.string()).combine_chunks()
    except pa.ArrowException:
        raise InputError(f"{path}: the first column must hold ids, not {table.schema.types[0]}") from None
    place = {text: row for row, text in enumerate(ids.to_pylist())}
    wanted = graph.id_array().to_pylist()
    missing = [text for text in wanted if text not in place]
    if missing:
        raise InputError(f"{path}: {len(missing)} node(s) of the graph have no row; the first is '{missing[0]}'")
    if len(place) < table.num_rows:
        raise InputError(f"{path}: an id stands in more than one row")
    order = np.array([place[text] for text in wanted], dtype=np.int64)
    try:
        columns = [np.asarray(table.column(j), dtype=np.float32) for j in range(1, table.num_columns)]
    except (ValueError, TypeError):
        raise InputError(f"{path}: every column but the first must be numeric") from None
    if not columns:
        raise InputError(f"{path}: has no embedding columns")
    return np.stack(columns, axis=1)[order]


def write_npy(path: Path, array: np.ndarray) -> None:
    """An array of numbers, whole or not at all. Not by `numpy.save`, which keeps to itself why a write failed."""
    array = np.ascontiguousarray(array)
    with atomic_write(path) as aside, aside.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.data)


def read_npy(path: Path) -> np.ndarray:
    """An array of numbers; InputError for whatever else is in the file."""
    try:
        with path.open("rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError):
        raise InputError(f"{path}: is not a whole npy file of numbers") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{path}: expected numbers, found {array.dtype}")
    return array


def _read_table(path: Path) -> pa.Table:
    if path.suffix.lower() == ".parquet":
        return pq.read_table(path)
    with path.open(encoding="utf-8-sig") as file:
        first = file.readline().rstrip("\n").split(",")[0].strip('"')
    return pa_csv.read_csv(
        path,
        convert_options=pa_csv.ConvertOptions(column_types={first: pa.string()}, strings_can_be_null=False),
    )
