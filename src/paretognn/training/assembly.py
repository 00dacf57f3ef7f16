"""The embedding put together: what the encoder learnt, smoothed, beside blocks that need no training.

A block is a code of something that every node has, seen through q steps over the graph: A_hat^q F W. With F the
scaled features, W [D, k] holds the leading right singular vectors of A_hat^q F on the training graph: no linear code of
k numbers rebuilds it better (Eckart and Young, 1936), so this is what feature reconstruction would teach a linear
encoder. With F random signs of each node's id, A_hat^q F W is an orthogonal basis of what q steps leave of them, close
to the leading eigenvectors of A_hat (subspace iteration): positions, what topology reconstruction would teach it. Both
take seconds, so gradients are left to what has no closed form. All that is kept is W: a new node gets its code from its
own features or id and its neighbours, like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import Tensor
from torch.nn.functional import normalize

from paretognn.graph import Graph
from paretognn.graph.structural import id_vectors
from paretognn.nn.sparse import Csr
from paretognn.sampling import DeviceGraph
from paretognn.sampling.normalise import normalised

_OVERSAMPLED, _ITERATIONS = 10, 4
_RANK = 1e-5
"""Singular values of A_hat^q F, over the largest, below which there is nothing but rounding."""


class BlockSettings(BaseModel):
    """A block of at most ``width`` columns from ``source`` after ``hops`` steps; its rows get the length ``weight``,
    where the encoder's have length 1. ``degree`` is a soft histogram of the logarithm of a node's degree."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    source: Literal["features", "ids", "degree"]
    hops: int = Field(0, ge=0, le=64)
    width: PositiveInt = 64
    weight: float = Field(1.0, gt=0)


class AssemblySettings(BaseModel):
    """``smoothing``: steps of A_hat over the encoder's output, once it is trained. ``blocks`` by name, in their order.
    Without either, an embedding is the encoder's output as it is."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    smoothing: int = Field(0, ge=0, le=64)
    blocks: dict[str, BlockSettings] = {}

    @property
    def width(self) -> int:
        """Columns of all blocks, at most."""
        return sum(block.width for block in self.blocks.values())


@dataclass(eq=False)
class Assembly:
    """Settings, and the map of each block learnt on a training graph, by the block's name.

    maps : W float [D, k] of `features` and `ids`; of `degree`, its centres float [k].
    """

    settings: AssemblySettings
    maps: dict[str, Tensor]

    @classmethod
    def fit(cls, settings: AssemblySettings, graph: Graph, placed: DeviceGraph, seed: int) -> Assembly:
        """On the training graph, placed on its device with scaled features."""
        adjacency = normalised(placed.indptr, placed.indices, placed.weights)
        maps = {name: _fitted(block, graph, placed, adjacency, seed) for name, block in settings.blocks.items()}
        return cls(settings, maps)

    @classmethod
    def of(cls, settings: AssemblySettings, tensors: Mapping[str, Tensor], device: str) -> Assembly:
        """From tensors that `tensors` gave. KeyError or ValueError where they do not fit the settings."""
        maps = {name: tensors[name].to(device) for name in settings.blocks}
        for name, block in settings.blocks.items():
            if maps[name].dim() != (1 if block.source == "degree" else 2) or maps[name].shape[-1] > block.width:
                raise ValueError(f"block '{name}' has a map of shape {list(maps[name].shape)}")
        return cls(settings, maps)

    @property
    def width(self) -> int:
        """Columns of all blocks."""
        return sum(each.shape[-1] for each in self.maps.values())

    def __call__(self, encoded: Tensor, graph: Graph, placed: DeviceGraph) -> Tensor:
        """The encoder's output float [N, d] for a graph -> embeddings float [N, d + widths of the blocks]."""
        settings = self.settings
        if not settings.smoothing and not settings.blocks:
            return encoded
        adjacency = normalised(placed.indptr, placed.indices, placed.weights)
        parts = [_diffused(normalize(encoded), adjacency, settings.smoothing)]
        if not settings.blocks:
            return parts[0]
        for name, block in settings.blocks.items():
            parts.append(_code(block, self.maps[name], graph, placed, adjacency))
        weights = [1.0, *(block.weight for block in settings.blocks.values())]
        return torch.cat([weight * normalize(part) for weight, part in zip(weights, parts, strict=True)], dim=1)


def _code(block: BlockSettings, fitted: Tensor, graph: Graph, placed: DeviceGraph, adjacency: Csr) -> Tensor:
    """The block's columns [N, k], rows of any length."""
    if block.source == "degree":
        return _histogram(placed, fitted)
    image = placed.features.times(fitted) if block.source == "features" else _id_signs(graph, placed) @ fitted
    return _diffused(image, adjacency, block.hops)


def _fitted(block: BlockSettings, graph: Graph, placed: DeviceGraph, adjacency: Csr, seed: int) -> Tensor:
    if block.source == "degree":
        logs = torch.log1p(placed.degrees().double())
        return torch.linspace(float(logs.min()), float(logs.max()), block.width, device=placed.device)
    if block.source == "ids":
        return _orthogonal(_diffused(_id_signs(graph, placed), adjacency, block.hops), block.width)

    def forward(v: Tensor) -> Tensor:
        return _diffused(placed.features.times(v), adjacency, block.hops)

    def backward(u: Tensor) -> Tensor:
        return placed.features.transpose_times(_diffused(u, adjacency, block.hops))

    return _right_singular(forward, backward, (placed.num_nodes, placed.features.width), block.width, seed, adjacency)


def _diffused(x: Tensor, adjacency: Csr, hops: int) -> Tensor:
    """A_hat^hops x, [N, k]."""
    for _ in range(hops):
        x = adjacency.product(x)
    return x


def _id_signs(graph: Graph, placed: DeviceGraph) -> Tensor:
    """float [N, 128] of 1 and -1, each row a function of the node's id."""
    return torch.tensor(id_vectors(graph), device=placed.device)


def _histogram(placed: DeviceGraph, centres: Tensor) -> Tensor:
    """exp(-((log(1 + degree) - c) / step)^2 / 2) for evenly spaced centres c [k], float [N, k]."""
    step = (centres[-1] - centres[0]) / max(1, len(centres) - 1)
    step = step if step > 0 else torch.ones_like(step)
    logs = torch.log1p(placed.degrees().float()).clamp(centres[0], centres[-1])
    return torch.exp(-0.5 * ((logs[:, None] - centres) / step) ** 2)


def _orthogonal(y: Tensor, k: int) -> Tensor:
    """W [r, k] with which the columns of y W are the leading left singular vectors of y [N, r]."""
    squared, v = torch.linalg.eigh(y.double().T @ y.double())
    squared, v = squared.flip(0)[:k], v.flip(1)[:, :k]
    kept = squared > _RANK**2 * squared[0]
    return (v[:, kept] * squared[kept].rsqrt()).to(y.dtype)


def _right_singular(
    forward: Callable[[Tensor], Tensor],
    backward: Callable[[Tensor], Tensor],
    shape: tuple[int, int],
    k: int,
    seed: int,
    like: Csr,
) -> Tensor:
    """The k leading right singular vectors [D, k] of an operator [N, D], by subspace iteration from a random start
    (Halko, Martinsson and Tropp, 2011)."""
    n, d = shape
    device = like.values.device
    if d <= k:
        return torch.eye(d, device=device)
    sample = min(k + _OVERSAMPLED, n, d)
    generator = torch.Generator().manual_seed(seed)
    basis = torch.randn(d, sample, generator=generator).to(device)
    for _ in range(_ITERATIONS):
        basis = torch.linalg.qr(backward(torch.linalg.qr(forward(basis))[0]))[0]
    _, values, rows = torch.linalg.svd(forward(basis), full_matrices=False)
    kept = values[:k] > _RANK * values[0]
    return basis @ rows[:k][kept].T
