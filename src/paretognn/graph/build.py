"""From endpoint arrays to a graph: the one place where direction, repeats, loops and weights are settled.

The rule: direction is ignored; a pair that is named more than once is one edge; its weight is the mean of
the weights it was given (so equal weights in both directions stay what they are, and the order of rows does
not matter); self-loops are dropped, since the encoder adds its own; a weight of 0 is no edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph.graph import Counts, FeatureColumn, Features, Graph
from paretognn.graph.ids import listed, shown
from paretognn.graph.numbers import NOT_FINITE


def build_graph(
    num_nodes: int,
    source: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    features: Features | None = None,
    **attributes: Any,
) -> Graph:
    """Build a `Graph` from edge rows.

    source, target : integer [R] node indices in [0, num_nodes).
    weights : [R] non-negative and finite, or None.
    features : [N, D] array or any scipy sparse matrix; cast to float32.
    attributes : further fields of `Graph` (``labels``, ``ids``, ``name``, ...).

    Raises InputError for indices out of range, bad weights and non-finite features. Inputs are not changed.
    """
    if num_nodes == 0:
        raise InputError("the graph has no nodes")
    source, target = _as_indices(source), _as_indices(target)
    sizes = {"edge targets": (target, len(source)), "edge weights": (weights, len(source))}
    sizes |= {"labels": (attributes.get("labels"), num_nodes), "ids": (attributes.get("ids"), num_nodes)}
    for what, (values, length) in sizes.items():
        if values is not None and len(values) != length:
            raise InputError(f"there are {len(values)} {what}, where {length} are needed")
    if features is not None and features.shape[0] != num_nodes:
        raise InputError(f"there are {features.shape[0]} rows of features for {num_nodes} nodes")
    if len(source) and (min(source.min(), target.min()) < 0 or max(source.max(), target.max()) >= num_nodes):
        raise InputError(_outside(np.concatenate([source, target]), num_nodes))
    warnings = list(attributes.pop("warnings", ()))
    notes = list(attributes.pop("notes", ()))

    rows = len(source)
    keep = source != target
    loops = rows - int(keep.sum())
    if weights is not None:
        weights = _as_weights(weights)
        bad = ~np.isfinite(weights) | (weights < 0)
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"{int(bad.sum())} edge weight(s) are negative, {NOT_FINITE}; "
                f"the first is {weights[first]} in edge {first + 1}"
            )
        zero = keep & (weights == 0)
        if zero.any():
            warnings.append(f"{int(zero.sum())} edge rows have weight 0 and are not edges")
            keep &= weights != 0
        weights = weights[keep]
    source, target = source[keep], target[keep]

    low, high = np.minimum(source, target), np.maximum(source, target)
    key = low * num_nodes + high
    unique, inverse, times = np.unique(key, return_inverse=True, return_counts=True)
    forward = np.zeros(len(unique), dtype=bool)
    backward = np.zeros(len(unique), dtype=bool)
    forward[inverse[source == low]] = True
    backward[inverse[source != low]] = True
    one_way = int((forward != backward).sum())

    pair_weights = None
    if weights is not None and len(unique):
        pair_weights = np.bincount(inverse, weights=weights) / times
        spread = np.abs(weights - pair_weights[inverse]) > 1e-6 * np.maximum(pair_weights[inverse], 1e-30)
        conflicting = len(np.unique(inverse[spread]))
        if conflicting:
            warnings.append(f"{conflicting} edge(s) were given different weights; their mean is used")
        if np.all(pair_weights == 1):
            pair_weights = None

    low, high = unique // num_nodes, unique % num_nodes
    if len(unique) == 0:
        warnings.append("the graph has no edges")
    data = np.ones(len(unique), dtype=np.float32) if pair_weights is None else pair_weights.astype(np.float32)
    matrix = sp.csr_array(
        (np.concatenate([data, data]), (np.concatenate([low, high]), np.concatenate([high, low]))),
        shape=(num_nodes, num_nodes),
    )
    matrix.sort_indices()
    return Graph(
        indptr=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int32 if num_nodes < 2**31 else np.int64),
        weights=None if pair_weights is None else matrix.data,
        features=None
        if features is None
        else as_features(features, attributes.get("ids"), attributes.get("feature_columns")),
        counts=Counts(rows=rows, self_loops=loops, duplicates=len(source) - len(unique), one_way=one_way),
        notes=tuple(notes),
        warnings=tuple(warnings),
        **attributes,
    )


def _as_indices(values: np.ndarray) -> np.ndarray:
    """int64 copy: pair keys of 32-bit indices would overflow."""
    values = np.asarray(values)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise InputError(f"edge endpoints must be integers [R], not {values.dtype} of shape {values.shape}")
    return values.astype(np.int64)


def _outside(ends: np.ndarray, num_nodes: int) -> str:
    strange = np.unique(ends[(ends < 0) | (ends >= num_nodes)])
    return f"{len(strange)} edge endpoint(s) outside 0..{num_nodes - 1}: {listed(pa.array(strange).cast(pa.string()))}"


def _as_weights(values: Any) -> np.ndarray:
    """float64 [R] of the precision and range in which weights are kept, so that what overflows or vanishes there does
    so here, where it is seen."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise InputError(f"edge weights must be numbers, not {values.dtype}")
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64)


SPARSE_BELOW = 0.25
"""Density below which a dense matrix of zeros is worth keeping in sparse form."""


def as_features(
    features: Any, ids: pa.StringArray | None = None, columns: tuple[FeatureColumn, ...] | None = None
) -> Features:
    """Float32 features, sparse kept sparse; `InputError` where a value is no finite number.

    ids [N] and columns [D] name the place in an error, where there are any. The input is not changed.
    """
    kind = getattr(features, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "cmM":
        raise InputError(f"features are not a matrix of numbers: {kind}")
    if sp.issparse(features):
        with np.errstate(over="ignore"):
            matrix = sp.csr_array(features, dtype=np.float32, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        if len(bad):
            row = int(np.searchsorted(matrix.indptr, bad[0], side="right") - 1)
            raise InputError(_not_finite(len(bad), row, int(matrix.indices[bad[0]]), ids, columns))
        return matrix
    try:
        with np.errstate(over="ignore"):
            dense = np.array(features, dtype=np.float32, order="C", copy=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"features are not a matrix of numbers: {error}") from None
    if dense.ndim != 2:
        raise InputError(f"features must have two dimensions [nodes, columns], not {dense.ndim}")
    bad_rows = np.flatnonzero(~np.isfinite(dense).all(axis=1))
    if len(bad_rows):
        column = int(np.flatnonzero(~np.isfinite(dense[bad_rows[0]]))[0])
        total = int((~np.isfinite(dense)).sum())
        raise InputError(_not_finite(total, int(bad_rows[0]), column, ids, columns))
    return dense


def _not_finite(
    count: int, row: int, column: int, ids: pa.StringArray | None, columns: tuple[FeatureColumn, ...] | None
) -> str:
    node = row if ids is None else shown(ids[row].as_py())
    title = column if columns is None else f"'{shown(columns[column].name)}'"
    return f"features: {count} value(s) are {NOT_FINITE}; the first is in column {title} of node '{node}'"
