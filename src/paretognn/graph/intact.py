"""Whether the parts of a graph fit together: what compiled code is handed without a second look."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from paretognn.graph.graph import Features, Graph


def check_intact(graph: Graph) -> None:
    """ValueError for the first part of a graph that came from a file which is not as `Graph` says."""
    n = graph.num_nodes
    _check_rows(graph.indptr, graph.indices, n)
    if graph.weights is not None:
        good = graph.weights.shape == graph.indices.shape and graph.weights.dtype == np.float32
        _require(good and bool(np.isfinite(graph.weights).all() and (graph.weights >= 0).all()), "its weights")
    matrix = graph.adjacency()
    other = sp.csr_array(matrix.T)  # with sorted rows, whatever those of the matrix are
    pairs = ((matrix.indptr, other.indptr), (matrix.indices, other.indices), (matrix.data, other.data))
    _require(all(np.array_equal(one, two) for one, two in pairs), "its edges are not symmetric, or not in order")
    _require(not matrix.diagonal().any(), "an edge leads back to its node")
    if graph.features is not None:
        _check_features(graph.features, n)
    columns = graph.feature_columns
    if columns is not None:
        _require(len(columns) == graph.num_features, "its feature columns")
        _require(all(isinstance(c.source, str) and isinstance(c.category, str | None) for c in columns), "its columns")
    if graph.labels is not None:
        _require(graph.labels.shape == (n,) and graph.labels.dtype == np.int64, "its labels")
        _require(bool((graph.labels >= -1).all() and graph.labels.max(initial=-1) < graph.num_classes), "its labels")
    for part in (part for split in graph.splits for part in (split.train, split.val, split.test)):
        _require(part.ndim == 1 and part.dtype.kind in "iu" and bool(((part >= 0) & (part < n)).all()), "a split")
    ids = graph.ids
    _require(ids is None or (ids.type == pa.string() and len(ids) == n and ids.null_count == 0), "its ids")
    texts = (graph.name, *graph.label_names, *graph.notes, *graph.warnings)
    _require(all(isinstance(text, str) for text in texts), "its texts")
    _require(all(type(count) is int for count in vars(graph.counts).values()), "its counts")


def _check_rows(indptr: np.ndarray, indices: np.ndarray, columns: int) -> None:
    """Compressed rows: pointers that rise from 0 to the number of entries, columns within the matrix."""
    for array in (indptr, indices):
        _require(array.ndim == 1 and array.dtype.kind == "i", "its rows are not whole numbers")
    rising = len(indptr) > 0 and indptr[0] == 0 and indptr[-1] == len(indices) and bool((np.diff(indptr) >= 0).all())
    _require(rising, "its row pointers do not rise")
    _require(not len(indices) or (indices.min() >= 0 and indices.max() < columns), "an entry lies outside")


def _check_features(features: Features, nodes: int) -> None:
    _require(features.ndim == 2 and features.shape[0] == nodes and features.dtype == np.float32, "its features")
    values = features
    if not isinstance(features, np.ndarray):
        _check_rows(features.indptr, features.indices, features.shape[1])
        _require(features.data.shape == features.indices.shape, "its features")
        values = features.data
    _require(bool(np.isfinite(values).all()), "its features are not finite")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} (not as it was written)")
