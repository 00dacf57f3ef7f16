"""Embeddings of every node, layer by layer in batches of rows: deterministic, nothing dropped or masked."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from paretognn.nn import GCN, BatchNorm, BranchedGCN, FeatureView, View
from paretognn.nn.sparse import Csr
from paretognn.sampling import DeviceGraph, diffused
from paretognn.sampling.normalise import normalised

ROWS = 16384


@torch.no_grad()
def embed(encoder: nn.Module, graph: DeviceGraph, calibrate: bool = False, rows: int = ROWS) -> Tensor:
    """float32 [N, d] on the graph's device. ``calibrate`` first recomputes batch-norm statistics on this graph, layer
    by layer.

    The built-in encoder is run in batches of ``rows``; another module sees the whole graph at once.
    """
    encoder.eval()
    if isinstance(encoder, BranchedGCN):
        parts = [
            _embed(b, graph, _operator(graph, name, encoder), calibrate, rows) for name, b in encoder.branches.items()
        ]
        return torch.stack(parts).sum(0)
    adjacency = normalised(graph.indptr, graph.indices, graph.weights)
    if not isinstance(encoder, GCN):
        view = View(FeatureView(graph.features), (adjacency,))
        whole: Tensor = encoder(view)
        return whole.float()
    return _embed(encoder, graph, adjacency, calibrate, rows)


def _operator(graph: DeviceGraph, name: str, encoder: BranchedGCN) -> Csr:
    if name == "diffusion":
        return diffused(graph, encoder.diffusion)
    return normalised(graph.indptr, graph.indices, graph.weights)


def _embed(encoder: nn.Module, graph: DeviceGraph, adjacency: Csr, calibrate: bool, rows: int) -> Tensor:
    assert isinstance(encoder, GCN)
    h: Tensor | None = None
    for layer in range(encoder.num_layers):
        h = _convolve(encoder, layer, graph, adjacency, h, rows)
        norm = encoder.norms[layer]
        if calibrate and isinstance(norm, BatchNorm):
            norm.calibrate(h)
        for start in range(0, len(h), rows):
            h[start : start + rows] = encoder.finish(h[start : start + rows], layer)
    assert h is not None
    return h.float()


def _convolve(encoder: GCN, layer: int, graph: DeviceGraph, adjacency: Csr, h: Tensor | None, rows: int) -> Tensor:
    """A_hat H W of one layer, [N, d']."""
    weight = encoder.weights[layer]
    n = graph.num_nodes
    image = torch.empty(n, weight.shape[1], device=graph.device)
    for start in range(0, n, rows):
        index = torch.arange(start, min(start + rows, n), device=graph.device)
        image[start : start + rows] = graph.features.take(index).times(weight) if h is None else h[index] @ weight
    out = torch.empty_like(image)
    for start in range(0, n, rows):
        stop = min(start + rows, n)
        first, last = int(adjacency.indptr[start]), int(adjacency.indptr[stop])
        part = Csr(
            adjacency.indptr[start : stop + 1] - first,
            adjacency.indices[first:last],
            adjacency.values[first:last],
            (stop - start, n),
        )
        out[start:stop] = part.product(image)
    return out
