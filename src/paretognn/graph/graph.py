"""What a graph is here: undirected, attributed, its nodes in the order of the user's table."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

Features: TypeAlias = np.ndarray | sp.csr_array


@dataclass(frozen=True, eq=False)
class Split:
    """Node indices of one train/validation/test split; disjoint, not necessarily exhaustive."""

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class FeatureColumn:
    """How one feature column is made from a column of the user's table.

    ``category`` is None for a numeric column; else the column is the one-hot of that value of ``source``.
    """

    source: str
    category: str | None = None

    @property
    def name(self) -> str:
        return self.source if self.category is None else f"{self.source}={self.category}"


@dataclass(frozen=True)
class Counts:
    """What was read, in the terms in which people count edges.

    ``rows`` edge rows (or stored entries); ``self_loops`` rows with equal ends; ``duplicates`` rows beyond
    the first of an unordered pair; ``one_way`` unordered pairs that were given in one direction only.
    """

    rows: int = 0
    self_loops: int = 0
    duplicates: int = 0
    one_way: int = 0


@dataclass(frozen=True)
class Stored:
    """Of a graph whose arrays are mapped from the store ``folder``: its digest and summary, which nobody should read
    the whole graph for."""

    folder: str
    digest: str
    summary: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph in compressed sparse rows, with features, labels and the user's ids.

    indptr : int64 [N + 1]
    indices : int32 [2E] (int64 above 2^31 nodes), sorted in every row; both directions of every pair,
        no self-loops, no repeats.
    weights : float32 [2E], symmetric and non-negative, or None where every edge weighs 1.
    features : float32 array [N, D], or scipy CSR float32 [N, D], or None.
    feature_columns : one entry for each of the D columns, or None (they are then numbered).
    labels : int64 [N] index into ``label_names``, -1 where unknown; or None.
    ids : string array [N] exactly as the user wrote them, or None for "0" .. "N-1".
    splits : the public splits that came with the data.
    notes, warnings : one-line facts for the summary; warnings are things that may hurt.
    stored : where its arrays are mapped from disk (`paretognn.graph.mapped`), else None.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None = None
    features: Features | None = None
    feature_columns: tuple[FeatureColumn, ...] | None = None
    labels: np.ndarray | None = None
    label_names: tuple[str, ...] = ()
    ids: pa.StringArray | None = None
    splits: tuple[Split, ...] = ()
    name: str = "graph"
    counts: Counts = field(default_factory=Counts)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    stored: Stored | None = None

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Unordered pairs."""
        return len(self.indices) // 2

    @property
    def num_features(self) -> int:
        return 0 if self.features is None else int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        return len(self.label_names)

    @property
    def degrees(self) -> np.ndarray:
        """int64 [N], self-loops not counted."""
        return np.diff(self.indptr)

    def id_array(self) -> pa.StringArray:
        """Ids as text, one a node, in table order."""
        if self.ids is not None:
            return self.ids
        return pa.array(np.arange(self.num_nodes)).cast(pa.string())

    def pairs(self) -> np.ndarray:
        """int64 [E, 2]: every unordered pair once, smaller index first, in CSR order."""
        rows = np.repeat(np.arange(self.num_nodes, dtype=np.int64), self.degrees)
        upper = rows < self.indices
        return np.stack([rows[upper], self.indices[upper].astype(np.int64)], axis=1)

    def adjacency(self) -> sp.csr_array:
        """The symmetric adjacency matrix [N, N] without self-loops, weights where there are any."""
        values = self.weights if self.weights is not None else np.ones(len(self.indices), dtype=np.float32)
        return sp.csr_array((values, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        """Itself: nothing changes a graph. scikit-learn copies the parameters of an estimator for every fold."""
        return self

    def replace(self, **changes: Any) -> Graph:
        return replace(self, **{"stored": None, **changes})

    def digest(self) -> str:
        """SHA-256 (hex) of structure, weights, features and ids: what pretraining can see, so no labels."""
        if self.stored is not None:
            return self.stored.digest
        h = hashlib.sha256()
        parts: list[np.ndarray | None] = [self.indptr, self.indices, self.weights]
        if self.features is None or isinstance(self.features, np.ndarray):
            parts.append(self.features)
        else:
            parts += [self.features.indptr, self.features.indices, self.features.data]
        for part in parts:
            if part is None:
                h.update(b"none;")
            else:
                h.update(f"{part.dtype.str}{part.shape};".encode())
                h.update(np.ascontiguousarray(part).data)
        if self.ids is not None:
            h.update(pc.binary_length(self.ids).to_numpy(zero_copy_only=False).tobytes())
            for start in range(0, len(self.ids), 1 << 16):
                h.update("".join(self.ids[start : start + (1 << 16)].to_pylist()).encode())
        return h.hexdigest()
