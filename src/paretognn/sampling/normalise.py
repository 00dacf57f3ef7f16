"""The symmetric normalisation of Kipf and Welling (2017): D^-1/2 (A + I) D^-1/2."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from paretognn.nn.sparse import Csr


class NormalisedRows:
    """The rows of the normalised adjacency, some at a time, so that the matrix need never be there as a whole.

    indptr, indices, weights : square symmetric compressed rows without self-loops, perhaps mapped from disk. rows : how
    many are looked at at once for their degrees.
    """

    def __init__(self, indptr: Tensor, indices: Tensor, weights: Tensor | None, rows: int = 1 << 16) -> None:
        self.indptr, self.indices, self.weights = indptr, indices, weights
        n = len(indptr) - 1
        degree = (indptr[1:] - indptr[:-1]).to(torch.float32) + 1
        for start in range(0, n if weights is not None else 0, max(1, rows)):
            stop = min(start + rows, n)
            row, entries = self._entries(start, stop)
            sums = torch.ones(stop - start, dtype=torch.float64, device=indptr.device)
            degree[start:stop] = sums.index_add_(0, row, weights[entries].double()).to(torch.float32)  # type: ignore[index]
        self.inverse_root = degree.rsqrt()

    def _entries(self, start: int, stop: int) -> tuple[Tensor, slice]:
        """The row, counted from ``start``, of every entry of these rows; and where the entries are."""
        counts = self.indptr[start + 1 : stop + 1] - self.indptr[start:stop]
        if stop - start == len(self.indptr) - 1:  # without asking the device
            entries = slice(0, len(self.indices))
        else:
            entries = slice(int(self.indptr[start]), int(self.indptr[stop]))
        row = torch.arange(stop - start, device=counts.device)
        return torch.repeat_interleave(row, counts, output_size=entries.stop - entries.start), entries

    def __call__(self, start: int, stop: int) -> Csr:
        """Rows ``start`` to ``stop`` [stop - start, N]; the self-loop is the last entry of its row."""
        row, entries = self._entries(start, stop)
        column = self.indices[entries].long()
        values = self.inverse_root[start:stop][row] * self.inverse_root[column]
        if self.weights is not None:
            values = values * self.weights[entries]
        # Row i's entries move i places on, and its self-loop takes the place that falls free behind them.
        own = torch.arange(stop - start, device=row.device)
        first = self.indptr[start : stop + 1] - self.indptr[start]
        place, loops = torch.arange(len(row), device=row.device) + row, first[1:] + own
        columns = torch.empty(len(row) + len(own), dtype=torch.int64, device=row.device)
        all_values = torch.empty(len(columns), device=row.device)
        columns[place], all_values[place] = column, values
        columns[loops], all_values[loops] = own + start, self.inverse_root[start:stop].square()
        return Csr(
            first + torch.arange(len(first), device=row.device), columns, all_values, (len(own), len(self.indptr) - 1)
        )


def normalised(indptr: Tensor, indices: Tensor, weights: Tensor | None) -> Csr:
    """Square symmetric compressed rows without self-loops -> normalised adjacency with them, as `Csr`."""
    n = len(indptr) - 1
    return replace(NormalisedRows(indptr, indices, weights, n)(0, n), symmetric=True)
