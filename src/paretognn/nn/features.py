"""Node features as a layer reads them: standardised, masked, permuted, never densified.

Standardising subtracts the mean of a column and divides by its deviation. For sparse features this is
(X - 1 mu) S W = X (S W) - 1 (mu S W) with S the diagonal of inverse deviations, so nothing is filled in.
A column mask is a row mask of W. A masked row is its token's image.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from paretognn.graph import Features
from paretognn.nn.sparse import Csr, rows_product


@dataclass(frozen=True, eq=False)
class FeatureScaling:
    """Column statistics of the training graph, kept with the run and applied to new nodes.

    ``standardise``: (x - mean) * scale, scale 0 for a constant column. ``row``: every row divided by its
    1-norm. ``none``: as they are.
    """

    kind: str
    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, features: Features, kind: str) -> FeatureScaling:
        """features [N, D]; population variance over all N rows, in float64."""
        n, d = features.shape
        mean, scale = np.zeros(d), np.ones(d)
        if kind == "standardise":
            total = np.asarray(features.sum(axis=0, dtype=np.float64)).ravel()
            mean = total / n
            if not isinstance(features, np.ndarray):
                square = np.bincount(features.indices, features.data.astype(np.float64) ** 2, minlength=d)
                variance = square / n - mean**2
            else:
                variance = features.var(axis=0, dtype=np.float64)
            constant = variance <= 1e-10 * np.maximum(mean**2, 1e-30) + 1e-24
            scale = np.where(constant, 0.0, 1.0 / np.sqrt(np.where(constant, 1.0, variance)))
        return cls(kind, mean.astype(np.float32), scale.astype(np.float32))


DENSE_FROM = 0.05
"""Density from which a dense product, which may aggregate first, beats a sparse one."""
_DENSE_BYTES = 1 << 30


def _better_dense(features: sp.csr_array) -> bool:
    n, d = features.shape
    return features.nnz >= DENSE_FROM * n * d and n * d * 4 <= _DENSE_BYTES


class FeatureStore:
    """The features of all N nodes on a device, in the form in which products are cheapest.

    Dense features are scaled once and stored; sparse ones stay as they are and carry mean and scale along.
    """

    def __init__(self, features: Features, scaling: FeatureScaling, device: torch.device | str = "cpu") -> None:
        self.num_nodes, self.width = int(features.shape[0]), int(features.shape[1])
        self.dense: Tensor | None = None
        self.sparse: Csr | None = None
        if scaling.kind == "row":
            norm = np.asarray(abs(features).sum(axis=1), dtype=np.float32).ravel()
            inverse = np.where(norm > 0, 1.0 / np.where(norm > 0, norm, 1), 0).astype(np.float32)
            features = (
                sp.csr_array(sp.diags_array(inverse) @ features)
                if sp.issparse(features)
                else features * inverse[:, None]
            )
        if not isinstance(features, np.ndarray) and _better_dense(features):
            features = features.toarray()
        if isinstance(features, np.ndarray):
            scaled = (features - scaling.mean) * scaling.scale if scaling.kind == "standardise" else features
            self.dense = torch.tensor(scaled, dtype=torch.float32, device=device)
        else:
            self.sparse = Csr.from_scipy(features, device)
            self.mean = torch.tensor(scaling.mean, dtype=torch.float32, device=device)
            self.scale = torch.tensor(scaling.scale, dtype=torch.float32, device=device)

    @property
    def device(self) -> torch.device:
        return self.dense.device if self.dense is not None else self.mean.device

    def times(self, weight: Tensor, nodes: Tensor | None = None) -> Tensor:
        """Scaled features of ``nodes`` (None: all) times ``weight`` [D, d] -> [n, d]."""
        if self.dense is not None:
            x = self.dense if nodes is None else self.dense[nodes]
            return x.to(weight.dtype) @ weight
        assert self.sparse is not None
        scaled = weight * self.scale.to(weight.dtype)[:, None]
        product = self.sparse @ scaled if nodes is None else rows_product(self.sparse, nodes, scaled)
        return product - self.mean.to(weight.dtype) @ scaled

    def rows(self, nodes: Tensor) -> Tensor:
        """Scaled features of ``nodes`` as a dense [n, D]."""
        if self.dense is not None:
            return self.dense[nodes]
        assert self.sparse is not None
        return (self.sparse.rows(nodes).to_dense() - self.mean) * self.scale

    @cached_property
    def squared_norms(self) -> Tensor:
        """|x_i|^2 of every scaled row, float64 [N], computed once."""
        if self.dense is not None:
            return self.dense.double().square().sum(1)
        assert self.sparse is not None
        values, columns = self.sparse.values.double(), self.sparse.indices.long()
        mean, scale = self.mean.double(), self.scale.double()
        base = (mean * scale).square().sum()
        change = ((values - mean[columns]) * scale[columns]).square() - (mean * scale).square()[columns]
        sums = torch.zeros(self.num_nodes, dtype=torch.float64, device=values.device)
        return base + sums.index_add_(0, self.sparse.row_of_entry(), change)


@dataclass(eq=False)
class FeatureView:
    """The features of one view: some rows of the store, after augmentation.

    nodes : int64 [M] rows of the store, in the view's order (also permuted, for a corrupted view);
        None for all.
    column_mask : float [D], 0 for a masked column; None for none.
    row_mask : bool [M], True where the node's features are replaced by ``token`` [D] (None: by zeros).
    """

    store: FeatureStore
    nodes: Tensor | None = None
    column_mask: Tensor | None = None
    row_mask: Tensor | None = None
    token: Tensor | None = None

    @property
    def num_rows(self) -> int:
        return self.store.num_nodes if self.nodes is None else len(self.nodes)

    def dense(self) -> Tensor:
        """The view as a dense [M, D], for encoders that know no other form."""
        nodes = self.nodes if self.nodes is not None else torch.arange(self.num_rows, device=self.store.device)
        x = self.store.rows(nodes)
        if self.column_mask is not None:
            x = x * self.column_mask
        if self.row_mask is not None:
            fill = x.new_zeros(1) if self.token is None else self.token
            x = torch.where(self.row_mask[:, None], fill, x)
        return x

    def convolve(self, adjacency: Csr, weight: Tensor) -> Tensor:
        """adjacency [n, M] times the view's features times ``weight`` [D, d], in the cheaper order -> [n, d]."""
        masked = weight if self.column_mask is None else weight * self.column_mask[:, None]
        store = self.store
        if store.dense is not None and store.width <= 2 * weight.shape[1]:
            # Aggregating first needs no sparse product in the backward pass: features have no gradient.
            x = store.dense if self.nodes is None else store.dense[self.nodes]
            x = x.to(weight.dtype)
            if self.row_mask is not None:
                x = x.masked_fill(self.row_mask[:, None], 0.0)
            out = adjacency.product(x) @ masked
            if self.row_mask is not None and self.token is not None:
                reach = adjacency.product(self.row_mask.to(weight.dtype)[:, None])
                out = out + reach * (self.token @ weight)
            return out
        image = store.times(masked, self.nodes)
        if self.row_mask is not None:
            fill = image.new_zeros(1) if self.token is None else self.token @ weight
            image = torch.where(self.row_mask[:, None], fill, image)
        return adjacency @ image
