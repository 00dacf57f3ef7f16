"""The symmetric normalisation of Kipf and Welling (2017): D^-1/2 (A + I) D^-1/2."""

from __future__ import annotations

import torch
from torch import Tensor

from paretognn.nn.sparse import Csr


def normalised(indptr: Tensor, indices: Tensor, weights: Tensor | None) -> Csr:
    """Square symmetric compressed rows without self-loops -> normalised adjacency with them, as `Csr`."""
    n = len(indptr) - 1
    counts = indptr[1:] - indptr[:-1]
    rows = torch.repeat_interleave(torch.arange(n, device=indptr.device), counts, output_size=len(indices))
    if weights is None:
        degree = counts.to(torch.float32) + 1
    else:
        degree = torch.ones(n, dtype=torch.float64, device=indptr.device)
        degree = degree.index_add_(0, rows, weights.double()).to(torch.float32)
    inverse_root = degree.rsqrt()
    values = inverse_root[rows] * inverse_root[indices]
    if weights is not None:
        values = values * weights
    # Row i's entries move i places on, and its self-loop takes the place that falls free behind them.
    total = len(indices) + n
    place = torch.arange(len(indices), device=indptr.device) + rows
    loops = indptr[1:] + torch.arange(n, device=indptr.device)
    all_indices = torch.empty(total, dtype=torch.int64, device=indptr.device)
    all_values = torch.empty(total, dtype=torch.float32, device=indptr.device)
    all_indices[place], all_values[place] = indices, values
    all_indices[loops], all_values[loops] = torch.arange(n, device=indptr.device), inverse_root.square()
    shifted = indptr + torch.arange(n + 1, device=indptr.device)
    return Csr(shifted, all_indices, all_values, (n, n), symmetric=True)
