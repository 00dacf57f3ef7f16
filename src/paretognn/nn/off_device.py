"""Features where they fit: on the device, or else on the host or on disk, from where rows come when they are taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from paretognn.graph import Features
from paretognn.nn.features import FeatureScaling, FeatureStore, row_blocks
from paretognn.nn.products import Product


def place_features(features: Features, scaling: FeatureScaling, device: torch.device | str) -> FeatureStore:
    """All N nodes' features [N, D], scaled, on ``device`` where they fit. On a CPU those that are mapped from disk stay
    there; those that do not fit on a GPU stay on disk or in the host's memory."""
    device = torch.device(device)
    fit = device.type != "cpu" and fits(feature_bytes(features), device)
    if isinstance(features, np.memmap):
        mapped = MappedStore(features, scaling, device)
        return FeatureStore(mapped.rows()) if fit else mapped
    if fit or device.type == "cpu":
        return FeatureStore.scaled(features, scaling, device)
    return HostStore(FeatureStore.scaled(features, scaling), device)


def feature_bytes(features: Features) -> int:
    """Of scaled features on a device; sparse ones are there with their transpose."""
    n, d = features.shape
    return int(n * d * 4 if isinstance(features, np.ndarray) else features.nnz * 8 * 3)


def fits(size: int, device: torch.device) -> bool:
    """So many bytes leave a GPU at least half of what it has free; a CPU has the memory where all else is too."""
    return device.type != "cuda" or 2 * size <= torch.cuda.mem_get_info(device)[0]


def sent(rows: Tensor, device: torch.device) -> Tensor:
    """From the host to the device; to a GPU through pinned memory, without waiting for the copy."""
    if rows.device.type == "cpu" and device.type == "cuda":
        rows = rows.pin_memory()
    return rows.to(device, non_blocking=True)


class OffDevice(FeatureStore):
    """The features of all N nodes, which are not on the device that computes with them: `take` brings rows there.
    Products with all of them pass them by in blocks of rows."""

    def __init__(self, shape: tuple[int, ...], device: torch.device) -> None:
        super().__init__(None)
        self._shape, self._device = shape, device

    @property
    def num_rows(self) -> int:
        return self._shape[0]

    @property
    def width(self) -> int:
        return self._shape[1]

    @property
    def device(self) -> torch.device:
        return self._device

    def whole(self) -> FeatureStore:
        return self.take(torch.arange(self.num_rows))

    def times(self, weight: Tensor, column_mask: Tensor | None = None, product: Product = torch.matmul) -> Tensor:
        return torch.cat([block.times(weight, column_mask, product) for block in self._blocks()])

    def transpose_times(self, h: Tensor) -> Tensor:
        out = h.new_zeros(self.width, h.shape[1])
        for block, rows in zip(self._blocks(), row_blocks(*self._shape), strict=True):
            out += block.transpose_times(h[rows])
        return out

    def rows(self, chosen: slice = slice(None)) -> Tensor:
        wanted = torch.arange(self.num_rows)[chosen]
        out = torch.empty(len(wanted), self.width, device=self.device)
        for rows in row_blocks(*out.shape):
            out[rows] = self.take(wanted[rows]).rows()
        return out

    def _blocks(self) -> Iterator[FeatureStore]:
        return (self.take(torch.arange(rows.start, rows.stop)) for rows in row_blocks(*self._shape))


class MappedStore(OffDevice):
    """Features mapped from disk, scaled when they are read."""

    def __init__(self, features: np.memmap, scaling: FeatureScaling, device: torch.device) -> None:
        super().__init__(features.shape, device)
        self._features, self._scaling = features, scaling

    def take(self, rows: Tensor) -> FeatureStore:
        chosen = np.asarray(self._features[rows.cpu().numpy()])
        return FeatureStore(sent(torch.from_numpy(self._scaling.scale_in_place(chosen)), self.device))


class HostStore(OffDevice):
    """Scaled features in the host's memory, dense or sparse as `FeatureStore.scaled` made them there."""

    def __init__(self, features: FeatureStore, device: torch.device) -> None:
        super().__init__((features.num_rows, features.width), device)
        self._features = features

    def take(self, rows: Tensor) -> FeatureStore:
        taken = self._features.take(rows.cpu())
        if taken.dense is not None:
            return FeatureStore(sent(taken.dense, self.device))
        assert taken.sparse is not None
        csr = taken.sparse
        indptr, indices, values = (sent(part, self.device) for part in (csr.indptr, csr.indices, csr.values))
        shift = None if taken.shift is None else taken.shift.to(self.device)
        return FeatureStore(None, replace(csr, indptr=indptr, indices=indices, values=values, _transpose=None), shift)
