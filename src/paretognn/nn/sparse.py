"""Sparse times dense, the product under every graph convolution and every bag-of-words layer.

On a CPU the product is `torch.nn.functional.embedding_bag` with a weight a sample, which measured one and
a half to four times faster than torch's CSR product; its own backward is far slower than a second product with the
transpose, so the gradient is written out here. On CUDA it is cuSPARSE's CSR product.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional as F

warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)", category=UserWarning)


@dataclass(eq=False)
class Csr:
    """A constant sparse matrix [n, m] in compressed rows; it has no gradient of its own.

    indptr, indices : int32 where the entries allow it, else int64. values : float [nnz].
    symmetric : the matrix equals its transpose, so the backward product reuses it.
    kept : it serves more steps than one, so products of all features with it are kept too.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    shape: tuple[int, int]
    symmetric: bool = False
    kept: bool = False
    _transpose: Csr | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        small = self.indices.numel() < 2**31 and max(self.shape) < 2**31
        kind = torch.int32 if small else torch.int64
        self.indptr, self.indices = self.indptr.to(kind), self.indices.to(kind)

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, device: torch.device | str = "cpu") -> Csr:
        """Float32 values, on the given device."""
        return cls(
            torch.from_numpy(np.asarray(matrix.indptr)).to(device),
            torch.from_numpy(np.asarray(matrix.indices)).to(device),
            torch.from_numpy(np.asarray(matrix.data, dtype=np.float32)).to(device),
            (int(matrix.shape[0]), int(matrix.shape[1])),
        )

    @property
    def nnz(self) -> int:
        return self.indices.numel()

    def row_of_entry(self) -> Tensor:
        """int64 [nnz]: the row of every stored entry."""
        counts = (self.indptr[1:] - self.indptr[:-1]).long()
        return torch.repeat_interleave(torch.arange(self.shape[0], device=counts.device), counts, output_size=self.nnz)

    def transpose(self) -> Csr:
        """The transpose [m, n], made once; rows stay in order within a column."""
        if self.symmetric:
            return self
        if self._transpose is None:
            shape = self.shape[1], self.shape[0]
            if self.indices.device.type == "cpu":  # by counting, which is linear
                parts = (self.values.numpy(), self.indices.numpy(), self.indptr.numpy())
                columns = sp.csr_array(parts, shape=self.shape).tocsc()
                indptr, rows, values = (torch.from_numpy(p) for p in (columns.indptr, columns.indices, columns.data))
                self._transpose = Csr(indptr, rows, values, shape)
            else:
                order = torch.argsort(self.indices, stable=True)
                indptr = torch.zeros(shape[0] + 1, dtype=torch.int64, device=self.indices.device)
                indptr[1:] = torch.bincount(self.indices, minlength=shape[0]).cumsum(0)
                self._transpose = Csr(indptr, self.row_of_entry()[order], self.values[order], shape)
        return self._transpose

    def with_values(self, values: Tensor) -> Csr:
        """The same entries with other values [nnz]."""
        return Csr(self.indptr, self.indices, values, self.shape)

    def rows(self, index: Tensor) -> Csr:
        """The chosen rows [len(index), m], in that order."""
        positions, _ = expand_rows(self.indptr, index)
        indptr = torch.zeros(len(index) + 1, dtype=torch.int64, device=index.device)
        indptr[1:] = (self.indptr[index + 1] - self.indptr[index]).cumsum(0)
        return Csr(indptr, self.indices[positions], self.values[positions], (len(index), self.shape[1]))

    def to_dense(self) -> Tensor:
        dense = torch.zeros(self.shape, dtype=self.values.dtype, device=self.values.device)
        return dense.index_put_((self.row_of_entry(), self.indices.long()), self.values, accumulate=True)

    def product(self, dense: Tensor) -> Tensor:
        """Matrix times ``dense`` [m, d] -> [n, d], without gradient."""
        values = self.values.to(dense.dtype)
        if self.nnz == 0 or dense.shape[1] == 0:
            return dense.new_zeros(self.shape[0], dense.shape[1])
        if dense.is_cuda:
            matrix = torch.sparse_csr_tensor(self.indptr, self.indices, values, self.shape)
            return torch.sparse.mm(matrix, dense)
        return F.embedding_bag(
            self.indices,
            dense.contiguous(),
            self.indptr,
            mode="sum",
            per_sample_weights=values,
            include_last_offset=True,
        )

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Matrix times ``dense`` [m, d] -> [n, d]; gradients reach ``dense``."""
        product: Tensor = _Product.apply(dense, self)
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Csr) -> Tensor:
        ctx.matrix = matrix
        return matrix.product(dense)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return ctx.matrix.transpose().product(grads[0]), None


class _Permute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, order: Tensor) -> Tensor:
        ctx.order = order
        return dense.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return torch.empty_like(grads[0]).index_copy_(0, ctx.order, grads[0]), None


def permute(dense: Tensor, order: Tensor) -> Tensor:
    """``dense[order]`` for a permutation of all rows: nothing meets in the gradient, so it is a copy."""
    rows: Tensor = _Permute.apply(dense, order)
    return rows


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, index: Tensor) -> Tensor:
        ctx.index, ctx.count = index, len(dense)
        return dense.index_select(0, index)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        index, grad = ctx.index, grads[0]
        ends = torch.arange(len(index) + 1, device=index.device)
        ones = torch.ones(len(index), dtype=grad.dtype, device=index.device)
        selection = Csr(ends, index, ones, (len(index), ctx.count))
        return selection.transpose().product(grad), None


def gather(dense: Tensor, index: Tensor) -> Tensor:
    """``dense[index]`` [len(index), d]. The gradient is a sorted sparse product: unlike an accumulating
    scatter it is fast on a CPU, and the same at every run."""
    rows: Tensor = _Gather.apply(dense, index)
    return rows


def expand_rows(indptr: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Positions of all entries of ``rows``, and for each the place of its row in ``rows`` (int64 both)."""
    start = indptr[rows].long()
    counts = indptr[rows + 1].long() - start
    owner = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), counts)
    before = counts.cumsum(0) - counts
    positions = torch.arange(len(owner), device=rows.device) + (start - before)[owner]
    return positions, owner
