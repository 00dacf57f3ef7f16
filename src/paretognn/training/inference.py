"""Embeddings of every node, layer by layer in batches of rows: deterministic, nothing dropped or masked."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from paretognn.errors import InputError
from paretognn.nn import GCN, BatchNorm, BranchedGCN, FeatureStore, FeatureView, View
from paretognn.nn.off_device import MappedStore, OffDevice, fits, sent
from paretognn.nn.sparse import Csr
from paretognn.sampling import DeviceGraph, diffused
from paretognn.sampling.normalise import NormalisedRows, normalised

ROWS = 16384
FEWER = 4
"""Batches are so much smaller where the features of all neighbours of a batch are read."""

Rows = Callable[[int, int], Csr]
"""The rows of an operator from a first to before a last, [., N]."""
Take = Callable[[Tensor], Tensor]
"""Rows of a matrix for ascending nodes."""


@torch.no_grad()
def embed(encoder: nn.Module, graph: DeviceGraph, calibrate: bool = False, rows: int = ROWS) -> Tensor:
    """float32 [N, d] on the graph's device, or on the host where they do not fit there. ``calibrate`` first recomputes
    batch-norm statistics on this graph, layer by layer.

    The built-in encoder is run in batches of ``rows``; another module sees the whole graph at once. Where features are
    mapped from disk, so is the result, and what is between: memory does not grow with the graph. The files have no
    name and are gone with the result; they lie in the system's folder for such (TMPDIR). InputError where that is full.
    """
    encoder.eval()
    if isinstance(encoder, BranchedGCN):
        parts = [
            _embed(b, graph, _operator(graph, name, encoder), calibrate, rows) for name, b in encoder.branches.items()
        ]
        home = next((part.device for part in parts if part.device.type == "cpu"), graph.device)
        return torch.stack([part.to(home) for part in parts]).sum(0)
    if not isinstance(encoder, GCN):
        view = View(FeatureView(graph.features.whole()), (normalised(graph.indptr, graph.indices, graph.weights),))
        whole: Tensor = encoder(view)
        return whole.float()
    return _embed(encoder, graph, _adjacency(graph), calibrate, rows)


def _adjacency(graph: DeviceGraph) -> Rows:
    return NormalisedRows(graph.indptr, graph.indices, graph.weights)


def _operator(graph: DeviceGraph, name: str, encoder: BranchedGCN) -> Rows:
    if name != "diffusion":
        return _adjacency(graph)
    matrix = diffused(graph, encoder.diffusion)

    def rows(start: int, stop: int) -> Csr:
        entries = slice(int(matrix.indptr[start]), int(matrix.indptr[stop]))
        first = matrix.indptr[start : stop + 1] - entries.start
        return Csr(first, matrix.indices[entries], matrix.values[entries], (stop - start, matrix.shape[1]))

    return rows


def _embed(encoder: nn.Module, graph: DeviceGraph, adjacency: Rows, calibrate: bool, rows: int) -> Tensor:
    assert isinstance(encoder, GCN)
    h: Tensor | None = None
    for layer in range(encoder.num_layers):
        h = _convolve(encoder.weights[layer], graph, adjacency, h, rows)
        norm = encoder.norms[layer]
        if calibrate and isinstance(norm, BatchNorm):
            norm.calibrate(h)
        for start in range(0, len(h), rows):
            h[start : start + rows] = encoder.finish(h[start : start + rows].to(graph.device), layer)
    assert h is not None
    return h.float()


@dataclass(frozen=True, eq=False)
class Near:
    """A graph, of which each batch of rows reads what lies next to it and no more."""

    features: FeatureStore
    adjacency: Rows

    @classmethod
    def of(cls, graph: DeviceGraph) -> Near:
        return cls(graph.features, _adjacency(graph))

    def convolved(self, weight: Tensor, below: Take | None, start: int, stop: int) -> Tensor:
        """These rows of A_hat H W, [stop - start, d']; H are the features where ``below`` is None."""
        nodes, near = _seen(self.adjacency(start, stop))
        if below is None:
            taken = self.features.take(nodes)
            if taken.dense is None:
                return near.product(taken.times(weight))
            seen = taken.dense
        else:
            seen = below(nodes)
        wider = weight.shape[1] >= weight.shape[0]
        return near.product(seen) @ weight if wider else near.product(seen @ weight)


def _seen(part: Csr) -> tuple[Tensor, Csr]:
    """The nodes, ascending, in whose columns rows of an operator have entries; and the rows with no other columns."""
    nodes, place = torch.unique(part.indices, return_inverse=True)
    return nodes, Csr(part.indptr, place, part.values, (part.shape[0], len(nodes)))


@torch.no_grad()
def near_rows(encoder: GCN, layer: int, near: Near, below: Take | None, start: int, stop: int) -> Tensor:
    """Rows ``start`` to ``stop`` of a layer of a frozen encoder, float32 [stop - start, d]; ``below`` gives those of
    the layer before for ascending nodes, None for the first layer."""
    return encoder.finish(near.convolved(encoder.weights[layer], below, start, stop), layer).float()


def _convolve(weight: Tensor, graph: DeviceGraph, adjacency: Rows, h: Tensor | None, rows: int) -> Tensor:
    """A_hat H W of one layer, [N, d']; H are the features where it is None."""
    n, features = graph.num_nodes, graph.features
    out = row_matrix(n, weight.shape[1], graph)
    fewer = max(1, rows // FEWER)
    if h is None and features.width <= weight.shape[1]:  # aggregated first, and nothing is kept for all nodes
        if features.dense is not None:
            for start in range(0, n, rows):
                out[start : start + rows] = adjacency(start, min(start + rows, n)).product(features.dense) @ weight
            return out
        if isinstance(features, OffDevice):
            near = Near(features, adjacency)  # features of the rows' neighbours are fetched
            for start in range(0, n, fewer):
                out[start : start + fewer] = near.convolved(weight, None, start, min(start + fewer, n))
            return out
    image = row_matrix(n, weight.shape[1], graph)
    for start in range(0, n, rows):
        if h is None:
            index = torch.arange(start, min(start + rows, n), device=graph.device)
            image[start : start + rows] = features.take(index).times(weight)
        else:
            image[start : start + rows] = h[start : start + rows].to(graph.device) @ weight
    if image.device == graph.device:
        for start in range(0, n, rows):
            out[start : start + rows] = adjacency(start, min(start + rows, n)).product(image)
        return out
    for start in range(0, n, fewer):
        nodes, part = _seen(adjacency(start, min(start + fewer, n)))
        out[start : start + fewer] = part.product(sent(image[nodes.cpu()], graph.device))
    return out


def row_matrix(n: int, width: int, graph: DeviceGraph) -> Tensor:
    """An empty float32 [n, width]: on the device where it fits, else in the host's memory; where features are mapped
    from disk and there is no room on a GPU, in a file without a name."""
    size, folder = 4 * n * width, tempfile.gettempdir()
    mapped = isinstance(graph.features, MappedStore)
    if fits(size, graph.device) and not (mapped and graph.device.type == "cpu"):
        return torch.empty(n, width, device=graph.device)
    if not mapped:
        return torch.empty(n, width)
    free = shutil.disk_usage(folder).free
    if size > free:
        raise _full(folder, free, size)
    handle, path = tempfile.mkstemp(prefix="paretognn-")
    try:
        # Reserved, where the system can: a disk that others fill ends a process that writes to a mapped hole of a file.
        if hasattr(os, "posix_fallocate") and size:
            os.posix_fallocate(handle, 0, size)
        else:
            os.truncate(path, size)
        return torch.from_file(path, shared=True, size=n * width).view(n, width)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise _full(folder, shutil.disk_usage(folder).free, size) from None
    finally:
        os.close(handle)
        os.unlink(path)


def _full(folder: str, free: int, size: int) -> InputError:
    return InputError(
        f"{folder}: {free / 2**30:.1f} GiB are free, {size / 2**30:.1f} GiB are needed for one layer of all nodes; set "
        "TMPDIR to a folder on a larger disk"
    )
