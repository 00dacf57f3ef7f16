"""Node features as a layer reads them: standardised, masked, permuted, never densified.

Standardising subtracts the mean of a column and divides by its deviation. For sparse features this is
(X - 1 mu) S W = (X S) W - 1 (mu S W) with S the diagonal of inverse deviations, so nothing is filled in.
A masked row is its token's image.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from paretognn.graph import Features
from paretognn.nn.products import Product
from paretognn.nn.sparse import Csr, permute


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
            mean = np.asarray(features.sum(axis=0, dtype=np.float64)).ravel() / n
            if isinstance(features, np.ndarray):  # numpy's variance would make a float64 copy of all rows
                blocks = (features[rows] for rows in row_blocks(n, d))
                variance = sum((((block - mean) ** 2).sum(axis=0) for block in blocks), np.zeros(d)) / n
            else:
                square = np.bincount(features.indices, features.data.astype(np.float64) ** 2, minlength=d)
                variance = square / n - mean**2
            # Beside the mean only, so that units do not matter; below 1e-30 a float32 deviation has no inverse.
            constant = variance <= np.maximum(1e-10 * mean**2, 1e-60)
            scale = np.where(constant, 0.0, 1.0 / np.sqrt(np.where(constant, 1.0, variance)))
        return cls(kind, mean.astype(np.float32), scale.astype(np.float32))

    def scale_in_place(self, rows: np.ndarray) -> np.ndarray:
        """Dense rows [M, D], which are changed."""
        if self.kind == "row":
            rows *= inverse_sums(rows)[:, None]
        elif self.kind == "standardise":
            rows -= self.mean
            rows *= self.scale
        return rows


BLOCK_ENTRIES = 1 << 22
"""Of dense features that are scaled, or passed by, at once."""


def row_blocks(n: int, width: int) -> Iterator[slice]:
    """Of n rows, in blocks of `BLOCK_ENTRIES`."""
    size = max(1, BLOCK_ENTRIES // max(1, width))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def inverse_sums(features: Features) -> np.ndarray:
    """float32 [N]: one over every row's 1-norm, 0 for a row that has none."""
    norm = np.asarray(abs(features).sum(axis=1), dtype=np.float32).ravel()
    some = norm > np.finfo(np.float32).tiny  # the inverse of less is infinite
    return np.where(some, 1.0 / np.where(some, norm, 1), 0).astype(np.float32)


DENSE_FROM = 0.05
"""Density from which a dense product, which may aggregate first, beats a sparse one."""
_DENSE_BYTES = 1 << 30


def _better_dense(features: sp.csr_array) -> bool:
    n, d = features.shape
    return features.nnz >= DENSE_FROM * n * d and n * d * 4 <= _DENSE_BYTES


@dataclass(eq=False)
class FeatureStore:
    """Scaled features of M nodes on a device, in the form in which products are cheapest.

    dense : float [M, D], or None where ``sparse`` [M, D] (already divided by the deviations) less ``shift`` [D]
        in every row stands for them; a shift of None is zero.
    """

    dense: Tensor | None
    sparse: Csr | None = None
    shift: Tensor | None = None
    _aggregated: dict[Csr, Tensor] = field(default_factory=dict, repr=False)

    @classmethod
    def scaled(cls, features: Features, scaling: FeatureScaling, device: torch.device | str = "cpu") -> FeatureStore:
        """All N nodes' features [N, D], scaled, in memory."""
        if isinstance(features, np.ndarray) or _better_dense(features):
            dense = torch.empty(features.shape, device=device)
            for rows in row_blocks(*features.shape):
                block = features[rows]
                block = block.copy() if isinstance(block, np.ndarray) else block.toarray()
                dense[rows] = torch.from_numpy(scaling.scale_in_place(block))
            return cls(dense)
        if scaling.kind == "row":
            features = sp.csr_array(sp.diags_array(inverse_sums(features)) @ features)
        sparse = Csr.from_scipy(features, device)
        if scaling.kind != "standardise":
            return cls(None, sparse)
        scale = torch.tensor(scaling.scale, dtype=torch.float32, device=device)
        sparse.values = sparse.values * scale[sparse.indices.long()]
        return cls(None, sparse, torch.tensor(scaling.mean, dtype=torch.float32, device=device) * scale)

    @property
    def num_rows(self) -> int:
        return int(self._stored.shape[0])

    @property
    def width(self) -> int:
        """The number D of features."""
        return int(self._stored.shape[1])

    @property
    def _stored(self) -> Tensor | Csr:
        if self.dense is not None:
            return self.dense
        assert self.sparse is not None
        return self.sparse

    @property
    def device(self) -> torch.device:
        stored = self._stored
        return stored.device if isinstance(stored, Tensor) else stored.values.device

    def whole(self) -> FeatureStore:
        """All rows, in memory."""
        return self

    def take(self, rows: Tensor) -> FeatureStore:
        """The chosen rows, in that order."""
        if self.dense is not None:
            return FeatureStore(self.dense[rows])
        assert self.sparse is not None
        return FeatureStore(None, self.sparse.rows(rows), self.shift)

    def aggregated(self, adjacency: Csr) -> Tensor:
        """``adjacency`` [n, M] times dense features, [n, D]: kept for the steps to come where the adjacency is."""
        assert self.dense is not None
        if not adjacency.kept:
            return adjacency.product(self.dense)
        if adjacency not in self._aggregated:
            self._aggregated[adjacency] = adjacency.product(self.dense)
        return self._aggregated[adjacency]

    def times(self, weight: Tensor, column_mask: Tensor | None = None, product: Product = torch.matmul) -> Tensor:
        """Features, their columns times ``column_mask`` [D], times ``weight`` [D, d] -> [M, d], by ``product`` where
        they are dense; gradients reach ``weight``."""
        if self.dense is not None:
            masked = weight if column_mask is None else weight * column_mask[:, None]
            return product(self.dense.to(weight.dtype), masked)
        image: Tensor = _SparseTimes.apply(weight, self.sparse, self.shift, column_mask)
        return image

    def transpose_times(self, h: Tensor) -> Tensor:
        """Transposed features times ``h`` [M, d] -> [D, d], without gradient."""
        if self.dense is not None:
            return self.dense.to(h.dtype).T @ h
        assert self.sparse is not None
        return _transpose_times(self.sparse, self.shift, None, h)

    def rows(self, chosen: slice = slice(None)) -> Tensor:
        """The features of some rows, or all, as a dense [M, D]."""
        if self.dense is not None:
            return self.dense[chosen]
        assert self.sparse is not None
        index = torch.arange(self.num_rows, device=self.device)[chosen]
        dense = self.sparse.rows(index).to_dense()
        return dense if self.shift is None else dense.sub_(self.shift)

    @cached_property
    def squared_norms(self) -> Tensor:
        """|x_i|^2 of every row, float64 [M]."""
        if self.dense is not None:
            return self.dense.double().square().sum(1)
        assert self.sparse is not None
        values = self.sparse.values.double()
        change, base = values.square(), values.new_zeros(())
        if self.shift is not None:
            shift = self.shift.double()
            moved = shift[self.sparse.indices.long()]
            change, base = (values - moved).square() - moved.square(), shift.square().sum()
        sums = torch.zeros(self.num_rows, dtype=torch.float64, device=values.device)
        return base + sums.index_add_(0, self.sparse.row_of_entry(), change)


class _SparseTimes(torch.autograd.Function):
    """(S - 1 shift) diag(mask) W for sparse S, touching the wide W [D, d] as little as can be: the mask goes on the
    entries of S, and the gradient is one sparse product and one rank-one update in place."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, matrix: Csr, shift: Tensor | None, mask: Tensor | None) -> Tensor:
        if mask is not None:
            shift = None if shift is None else shift * mask
        ctx.matrix, ctx.shift, ctx.mask = matrix, shift, mask
        masked = matrix if mask is None else matrix.with_values(matrix.values * mask[matrix.indices.long()])
        out = masked.product(weight)
        return out if shift is None else out.sub_(shift.to(weight.dtype) @ weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        return _transpose_times(ctx.matrix, ctx.shift, ctx.mask, grads[0]), None, None, None


def _transpose_times(matrix: Csr, shift: Tensor | None, mask: Tensor | None, h: Tensor) -> Tensor:
    """diag(mask) S^T h - shift (1^T h), [D, d]."""
    back = matrix.transpose()
    if mask is not None:
        back = back.with_values(back.values * mask[back.row_of_entry()])
    out = back.product(h)
    return out if shift is None else out.addr_(shift.to(h.dtype), h.sum(0), alpha=-1)


@dataclass(eq=False)
class FeatureView:
    """The features of one view: those of its nodes, after augmentation.

    order : int64 [M], a permutation of the rows, for a corrupted view (`shuffled`); None for none.
    column_mask : float [D], 0 for a masked column; None for none.
    row_mask : bool [M], True where the node's features are replaced by ``token`` [D] (None: by zeros).
    """

    store: FeatureStore
    order: Tensor | None = None
    column_mask: Tensor | None = None
    row_mask: Tensor | None = None
    token: Tensor | None = None
    _images: dict[tuple[int, int], Tensor] = field(default_factory=dict, repr=False)

    @property
    def num_rows(self) -> int:
        return self.store.num_rows

    def shuffled(self, order: Tensor) -> FeatureView:
        """The rows in another order. The two views share their product with a layer's weight."""
        return replace(self, order=order)

    def _image(self, weight: Tensor, product: Product) -> Tensor:
        key = id(weight), weight._version
        if key not in self._images:
            self._images[key] = self.store.times(weight, self.column_mask, product)
        return self._images[key]

    def dense(self) -> Tensor:
        """The view as a dense [M, D], for encoders that know no other form."""
        x = self.store.rows()
        if self.order is not None:
            x = x[self.order]
        if self.column_mask is not None:
            x = x * self.column_mask
        if self.row_mask is not None:
            fill = x.new_zeros(1) if self.token is None else self.token
            x = torch.where(self.row_mask[:, None], fill, x)
        return x

    def convolve(self, adjacency: Csr, weight: Tensor, product: Product = torch.matmul) -> Tensor:
        """adjacency [n, M] times the view's features times ``weight`` [D, d], in the cheaper order -> [n, d]; by
        ``product`` where both are dense."""
        store = self.store
        if store.dense is not None and store.width <= 2 * weight.shape[1]:
            # Aggregating first needs no sparse product in the backward pass: features have no gradient.
            masked = weight if self.column_mask is None else weight * self.column_mask[:, None]
            if self.order is None and self.row_mask is None:
                return product(store.aggregated(adjacency).to(weight.dtype), masked)
            x = store.dense if self.order is None else store.dense[self.order]
            if self.row_mask is not None:
                x = x.masked_fill(self.row_mask[:, None], 0.0)
            out = product(adjacency.product(x.to(weight.dtype)), masked)
            if self.row_mask is not None and self.token is not None:
                reach = adjacency.product(self.row_mask.to(weight.dtype)[:, None])
                out = out + reach * (self.token @ weight)
            return out
        image = self._image(weight, product)
        if self.order is not None:
            image = permute(image, self.order)
        if self.row_mask is not None:
            fill = image.new_zeros(1) if self.token is None else self.token @ weight
            image = torch.where(self.row_mask[:, None], fill, image)
        return adjacency @ image
