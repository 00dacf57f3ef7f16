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
    try:
        with atomic_write(path) as aside:
            if kind == ".npy":
                with aside.open("wb") as file:
                    np.save(file, embeddings, allow_pickle=False)
                return
            columns = {"id": ids, **{f"e{j}": pa.array(embeddings[:, j]) for j in range(embeddings.shape[1])}}
            table = pa.table(columns)
            if kind == ".parquet":
                pq.write_table(table, aside)
            else:
                _write_csv(aside, table)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None


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
    except InputError:
        raise
    except Exception as error:
        # Damaged bytes raise Arrow's own kinds, Unicode errors and what is raised for a name that is there twice.
        line = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise InputError(f"{path}: cannot be read ({line})") from None
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
    except (ValueError, TypeError, NotImplementedError):
        raise InputError(f"{path}: every column but the first must be numeric") from None
    if not columns:
        raise InputError(f"{path}: has no embedding columns")
    return np.stack(columns, axis=1)[order]


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


def _read_table(path: Path) -> pa.Table:
    if path.suffix.lower() == ".parquet":
        return pq.read_table(path)
    with path.open(encoding="utf-8-sig") as file:
        first = file.readline().rstrip("\n").split(",")[0].strip('"')
    return pa_csv.read_csv(
        path,
        convert_options=pa_csv.ConvertOptions(column_types={first: pa.string()}, strings_can_be_null=False),
    )
