"""Personalised PageRank as a second adjacency (Gasteiger et al., 2019; MVGRL)."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from paretognn.errors import TooLargeError
from paretognn.nn.gcn import DiffusionSettings
from paretognn.nn.sparse import Csr
from paretognn.sampling.device_graph import DeviceGraph

COLUMNS = 512
"""Columns of the diffusion that are worked out together."""
LIMIT = 100_000
"""Nodes from which the work, which grows with their number times that of the edges, takes hours."""


def check_size(nodes: int) -> None:
    """`TooLargeError` for more than `LIMIT`."""
    if nodes > LIMIT:
        raise TooLargeError(f"a diffusion of {nodes:,} nodes would take hours; methods that need one end at {LIMIT:,}")


def diffused(graph: DeviceGraph, settings: DiffusionSettings, nodes: Tensor | None = None) -> Csr:
    """Rows and columns ``nodes`` (int64 [M]; None: all N) of the graph's `diffusion`, which is made once."""
    if settings not in graph.diffusions:
        graph.diffusions[settings] = replace(diffusion(graph, settings), kept=True)
    whole = graph.diffusions[settings]
    return whole if nodes is None else _block(whole, nodes)


def diffusion(graph: DeviceGraph, settings: DiffusionSettings) -> Csr:
    """teleport (I - (1 - teleport) A_hat)^-1 [N, N], symmetric, its entries below ``threshold`` left out.

    By the power series over blocks of columns, to half the threshold. `TooLargeError` for more than `LIMIT` nodes.
    """
    n, keep = graph.num_nodes, 1 - settings.teleport
    check_size(n)
    adjacency = graph.adjacency
    terms = max(1, math.ceil(math.log(max(settings.threshold, 1e-7) / 2) / math.log(keep)))
    rows, columns, values = [], [], []
    for start in range(0, n, COLUMNS):
        stop = min(start + COLUMNS, n)
        unit = torch.zeros(n, stop - start, device=graph.device)
        unit[start:stop].fill_diagonal_(settings.teleport)
        total = unit.clone()
        for _ in range(terms):
            total = adjacency.product(total).mul_(keep).add_(unit)
        # The matrix is symmetric: a column is the row of the same number.
        block = total.T
        row, column = torch.where(block >= settings.threshold)
        rows.append(row + start)
        columns.append(column)
        values.append(block[row, column])
    indptr = torch.zeros(n + 1, dtype=torch.int64, device=graph.device)
    indptr[1:] = torch.bincount(torch.cat(rows), minlength=n).cumsum(0)
    return Csr(indptr, torch.cat(columns), torch.cat(values), (n, n))


def _block(matrix: Csr, nodes: Tensor) -> Csr:
    """matrix[nodes][:, nodes]."""
    part = matrix.rows(nodes)
    place = torch.full((matrix.shape[1],), -1, dtype=torch.int64, device=nodes.device)
    place[nodes] = torch.arange(len(nodes), device=nodes.device)
    columns = place[part.indices.long()]
    inside = columns >= 0
    indptr = torch.zeros(len(nodes) + 1, dtype=torch.int64, device=nodes.device)
    indptr[1:] = torch.bincount(part.row_of_entry()[inside], minlength=len(nodes)).cumsum(0)
    return Csr(indptr, columns[inside], part.values[inside], (len(nodes), len(nodes)))
