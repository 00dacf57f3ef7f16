"""What the readers of raw files share: errors that name the file, tables, masks, form of features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph.build import SPARSE_BELOW
from paretognn.graph.graph import Features, Split


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong while ``path`` is parsed into an `InputError` that names it.

    Parsers of foreign bytes raise more kinds of exception than can be listed (zlib, zip, struct, Arrow,
    MATLAB, memory asked for by a corrupt header), hence the broad clause; the cause stays chained.
    """
    try:
        yield
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or _first_line(error)})") from error
    except Exception as error:
        raise InputError(
            f"{path}: truncated or not in the expected format ({type(error).__name__}: {_first_line(error)})"
        ) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else ""


def read_table(
    path: Path, columns: int | None = None, dtype: Any = np.int64, *, delimiter: str = ",", skip: int = 0
) -> np.ndarray:
    """Numbers in delimited text, gzip by suffix: ``dtype`` [R, columns]; the first row settles None.

    ``skip`` header rows are passed over. Read batch by batch, so no second copy of the text is held.
    Raises `InputError` for text that is no number of that type, gaps and ragged rows.
    """
    with reading(path):
        if columns is None:
            columns = _width(path, delimiter, skip)
        names = [str(i) for i in range(columns)]
        kind = pa.from_numpy_dtype(np.dtype(dtype))
        with pa.input_stream(str(path), compression="detect") as stream:
            reader = pacsv.open_csv(
                stream,
                read_options=pacsv.ReadOptions(column_names=names, skip_rows=skip, block_size=1 << 24),
                parse_options=pacsv.ParseOptions(delimiter=delimiter, quote_char=False),
                convert_options=pacsv.ConvertOptions(
                    column_types=dict.fromkeys(names, kind), null_values=[], strings_can_be_null=False
                ),
            )
            blocks = [np.stack([c.to_numpy() for c in batch.columns], axis=1) for batch in reader]
        return np.concatenate(blocks) if blocks else np.empty((0, columns), dtype)


def _width(path: Path, delimiter: str, skip: int) -> int:
    with pa.input_stream(str(path), compression="detect") as stream:
        head = stream.read(1 << 20)
    lines = head.decode("utf-8").splitlines()
    if len(lines) <= skip:
        raise InputError("the file has no rows")
    return lines[skip].count(delimiter) + 1


def load_npz(path: Path, keys: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The named arrays of an npz, never unpickled.

    Raises `InputError` naming the file and the array that is missing or needs pickle.
    """
    arrays: dict[str, np.ndarray] = {}
    with reading(path), np.load(path, allow_pickle=False) as archive:
        for key in keys:
            if key not in archive.files:
                raise InputError(f"array '{key}' is missing")
            try:
                arrays[key] = archive[key]
            except ValueError as error:
                if "allow_pickle" not in str(error):
                    raise
                raise InputError(f"array '{key}' holds Python objects, which are never unpickled") from error
    return arrays


Compressed = TypeVar("Compressed", sp.csr_array, sp.csc_array)


def checked(matrix: Compressed) -> Compressed:
    """The matrix, after a full check: scipy's compiled loops trust the indices that a file gives them."""
    # scipy's own check leaves the pointers out where the last of them says that nothing is stored.
    if (np.diff(matrix.indptr) < 0).any():
        raise InputError("a sparse matrix has row pointers that decrease")
    matrix.check_format(full_check=True)
    return matrix


def compact(features: Any) -> Features:
    """Sparse rows below a density of `SPARSE_BELOW`, else a dense array; float32 [N, D] either way."""
    rows, columns = features.shape
    stored = features.nnz if sp.issparse(features) else np.count_nonzero(features)
    if stored < SPARSE_BELOW * rows * columns:
        return sp.csr_array(features, dtype=np.float32)
    dense = features.toarray() if sp.issparse(features) else features
    return np.asarray(dense, dtype=np.float32)


def number_names(labels: np.ndarray) -> tuple[str, ...]:
    """``("0", "1", ...)``, one for each class up to the largest label.

    Raises `InputError` where classes are so high that they cannot be class numbers.
    """
    top = int(labels.max(initial=-1))
    if top >= max(1000, len(labels)):
        raise InputError(f"label {top} of {len(labels)} nodes is not a class number")
    return tuple(str(i) for i in range(top + 1))


def split_of(train: np.ndarray, val: np.ndarray, test: np.ndarray) -> Split:
    """A split from three boolean (or 0/1) masks [N]; `InputError` where they differ in length or overlap."""
    masks = [np.asarray(mask).astype(bool) for mask in (train, val, test)]
    if len({mask.shape for mask in masks}) > 1 or masks[0].ndim != 1:
        raise InputError("train, validation and test masks differ in length")
    twice = int((np.sum(masks, axis=0) > 1).sum())
    if twice:
        raise InputError(f"{twice} node(s) are in more than one of the train, validation and test masks")
    return Split(*(np.flatnonzero(mask).astype(np.int64) for mask in masks))


def check_length(what: str, found: int, nodes: int) -> None:
    """Raise `InputError` unless ``found`` rows of ``what`` cover the ``nodes``."""
    if found != nodes:
        raise InputError(f"{what}: {found} rows for {nodes} nodes")
