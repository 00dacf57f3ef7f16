"""Embeddings as files: the id and one column a dimension, in the order of the user's table."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paretognn.atomic import atomic_write
from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.graph.ids import check_filled, check_unique, one_array, positions, shown
from paretognn.graph.numbers import NotNumericError, to_numbers
from paretognn.graph.open_table import open_table
from paretognn.graph.write_table import TABLES, check_suffix, write_table

SUFFIXES = (*TABLES, ".npy")
_PIECE = 1 << 17
"""Rows of a row group: embeddings of more are written piece by piece, so that they need not fit into memory."""


def write_embeddings(path: Path, ids: pa.StringArray, embeddings: np.ndarray) -> None:
    """Parquet or CSV with columns ``id``, ``e0`` .. ``e{d-1}``; or npy, float32 [N, d] without ids."""
    check_suffix(path, SUFFIXES)
    if path.suffix.lower() == ".npy":
        write_npy(path, embeddings)
        return
    names = [f"e{j}" for j in range(embeddings.shape[1])]
    if len(embeddings) <= _PIECE or path.suffix.lower() != ".parquet":
        write_table(path, pa.table({"id": ids, **{name: embeddings[:, j] for j, name in enumerate(names)}}))
        return
    schema = pa.schema([("id", pa.string()), *((name, pa.float32()) for name in names)])
    with atomic_write(path) as aside, aside.open("wb") as file, pq.ParquetWriter(file, schema) as writer:
        for start in range(0, len(embeddings), _PIECE):
            columns = np.ascontiguousarray(embeddings[start : start + _PIECE].T)
            writer.write_table(pa.table([ids[start : start + _PIECE], *columns], schema=schema))


def read_embeddings(path: Path, graph: Graph) -> np.ndarray:
    """float32 [N, d] in the graph's order; Parquet and CSV are joined by ``id``, else their first column.

    InputError where the file cannot be read, a node has no row or there are no columns, or a value is not finite. Rows
    of other ids are left out, with a warning.
    """
    check_suffix(path, SUFFIXES)
    matrix = _read_matrix(path, graph) if path.suffix.lower() == ".npy" else _read_table(path, graph)
    if not matrix.shape[1]:
        raise InputError(f"{path}: has no embedding columns")
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0].tolist()
        node = shown(graph.id_array()[row].as_py())
        raise InputError(
            f"{path}: {len(bad)} value(s) are NaN or infinite; the first is in dimension {column} of node '{node}'"
        )
    return matrix


def _read_matrix(path: Path, graph: Graph) -> np.ndarray:
    try:
        array = read_npy(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if array.ndim != 2 or len(array) != graph.num_nodes:
        raise InputError(f"{path}: expected {graph.num_nodes} rows, one a node, found shape {array.shape}")
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


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
    except OSError:
        raise
    except Exception:
        # The header is parsed as Python literals, and may ask for more memory than there is.
        raise InputError(f"{path}: is not a whole npy file of numbers") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{path}: expected numbers, found {array.dtype}")
    return array


def _read_table(path: Path, graph: Graph) -> np.ndarray:
    table = open_table(path, (), header="yes")
    key = table.find(None, "id") or table.index_column or table.names[0]
    numbers = [name for name in table.names if name not in (key, table.index_column)]
    data = table.read(ids=[key], numbers=numbers)
    check_filled(table, key, data[key])
    ids = one_array(data[key])
    check_unique(ids, str(path), table.number)
    order = positions(graph.id_array(), ids)
    missing = np.flatnonzero(order < 0)
    if len(missing):
        first = shown(graph.id_array()[int(missing[0])].as_py())
        raise InputError(f"{path}: {len(missing)} node(s) of the graph have no row; the first is '{first}'")
    if len(ids) > len(order):
        warnings.warn(
            f"{path}: {len(ids) - len(order)} row(s) are of no node of {graph.name or 'the graph'}, and left out",
            stacklevel=3,
        )
    try:
        columns = [to_numbers(data[name]) for name in numbers]
    except NotNumericError as fault:
        raise InputError(
            f"{path}: every column but the id must be numeric: {fault.what}, the first {fault.value!r} in "
            f"{table.place(fault.row)}"
        ) from None
    return np.stack(columns, axis=1)[order] if columns else np.empty((len(order), 0), np.float32)
