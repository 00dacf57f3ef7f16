"""Graphs in ``.npz`` files with the parts of scipy's sparse matrices, read without pickle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph.adjacency import matrix_entries
from paretognn.graph.build import build_graph
from paretognn.graph.graph import FeatureColumn, Features, Graph
from paretognn.graph.ids import check_ids
from paretognn.graph.labels import encode_values
from paretognn.graph.text_file import check_file

_KEYS = "adj_data, adj_indices, adj_indptr, adj_shape, attr_* and labels"


def read_npz(path: str | os.PathLike[str]) -> Graph:
    """Read ``adj_data``, ``adj_indices``, ``adj_indptr``, ``adj_shape``; features from the same parts of
    ``attr_*`` (kept sparse) or from ``attr_matrix``; ``labels``; and where they are there and are plain text,
    ``node_names`` (the ids), ``attr_names`` and ``class_names``.

    Raises InputError for a damaged file, for missing or inconsistent arrays, and for an array of objects
    among those that are needed. Names stored as objects are left out, with a warning.
    """
    path = Path(path)
    check_file(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise InputError(f"{path} is not an npz file of named arrays")
            return _Reader(path, file).graph()
    except InputError:
        raise
    except Exception as error:
        # zipfile, zlib and numpy's header parser each raise their own kinds on damaged bytes.
        line = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise InputError(f"{path} is not a readable npz file: {line}") from None


class _Reader:
    def __init__(self, path: Path, file: Any) -> None:
        self._path, self._file = path, file
        self._keys = set(file.files)
        self.warnings: list[str] = []

    def graph(self) -> Graph:
        adjacency = self._sparse("adj")
        if adjacency is None:
            raise InputError(f"{self._path} has no adjacency matrix; it should hold {_KEYS}")
        n = adjacency.shape[0]
        if adjacency.shape[1] != n:
            raise InputError(f"{self._path}: the adjacency matrix is not square: {adjacency.shape}")
        ids = self._names("node_names", n)
        if ids is not None:
            check_ids(ids, f"{self._path}: array 'node_names'")
        labels, label_names = self._labels(n)
        source, target, weights = matrix_entries(adjacency)
        features = self._features(n)
        try:
            return build_graph(
                n,
                source,
                target,
                weights,
                features=features,
                feature_columns=self._columns(features),
                labels=labels,
                label_names=label_names,
                ids=ids,
                name=self._path.stem,
                warnings=self.warnings,
            )
        except InputError as error:
            raise InputError(f"{self._path}: {error}") from None

    def _array(self, key: str) -> np.ndarray:
        try:
            return self._file[key]
        except ValueError as error:
            if "allow_pickle" in str(error):
                raise InputError(
                    f"{self._path}: array '{key}' holds Python objects, which would need pickle and are not "
                    "read; save it as numbers or as text of fixed width"
                ) from None
            raise

    def _sparse(self, prefix: str) -> sp.csr_array | None:
        keys = [f"{prefix}_{part}" for part in ("data", "indices", "indptr", "shape")]
        present = [key for key in keys if key in self._keys]
        if not present:
            return None
        if len(present) < 4:
            lost = next(key for key in keys if key not in self._keys)
            raise InputError(f"{self._path} has no array '{lost}'; it should hold {_KEYS}")
        data, indices, indptr, shape = map(self._array, keys)
        try:
            # scipy leaves this unchecked where the last pointer is 0, and then writes outside of its memory.
            if indptr.ndim != 1 or (np.diff(indptr) < 0).any():
                raise ValueError("its row pointers decrease")
            matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape.ravel().tolist()))
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise InputError(f"{self._path}: '{prefix}_*' is not a sparse matrix: {error}") from None
        if data.dtype.kind not in "biuf":
            raise InputError(f"{self._path}: array '{prefix}_data' holds {data.dtype}, not numbers")
        return matrix

    def _features(self, n: int) -> Features | None:
        matrix = self._sparse("attr")
        if matrix is None and "attr_matrix" in self._keys:
            matrix = self._array("attr_matrix")
            if matrix.dtype.kind not in "biuf":
                raise InputError(f"{self._path}: array 'attr_matrix' holds {matrix.dtype}, not numbers")
        if matrix is None:
            return None
        if matrix.ndim != 2 or matrix.shape[0] != n:
            raise InputError(f"{self._path}: features have shape {matrix.shape}, where {n} rows are needed")
        return matrix

    def _columns(self, features: Features | None) -> tuple[FeatureColumn, ...] | None:
        names = None if features is None else self._names("attr_names", features.shape[1])
        return None if names is None else tuple(FeatureColumn(name) for name in names.to_pylist())

    def _labels(self, n: int) -> tuple[np.ndarray | None, tuple[str, ...]]:
        if "labels" not in self._keys:
            return None, ()
        values = self._array("labels")
        if values.size != n:
            raise InputError(f"{self._path}: 'labels' has shape {values.shape}, where {n} are needed")
        labels, names = encode_values(values.ravel())
        classes = self._names("class_names", None)
        if classes is not None and values.dtype.kind in "iu" and max(map(int, names), default=0) < len(classes):
            names = tuple(classes[int(name)].as_py() for name in names)
        return labels, names

    def _names(self, key: str, length: int | None) -> pa.StringArray | None:
        """Names as text; None, with a warning, where they would need pickle or do not fit."""
        if key not in self._keys:
            return None
        try:
            values = self._array(key)
        except InputError:
            self.warnings.append(f"array '{key}' holds Python objects, which would need pickle: not read")
            return None
        fits = values.ndim == 1 and length in (None, len(values))
        if values.dtype.kind not in "Uiu" or not fits:
            self.warnings.append(f"array '{key}' ({values.dtype}, {values.shape}) does not fit: not read")
            return None
        return pa.array([str(v) for v in values.tolist()], pa.string())
