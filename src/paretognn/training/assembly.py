"""The embedding put together: what the encoder learnt, smoothed, beside blocks that need no training.

A block of features is A_hat^q X W: scaled features seen through q steps over the graph, where W [D, k] holds the
leading right singular vectors of A_hat^q X on the training graph. No linear code of k numbers rebuilds it better
(Eckart and Young, 1936), so this is what feature reconstruction would teach a linear encoder. A block of positions is
A_hat U, where U [N, k] holds the leading singular vectors of A_hat on the training graph: what topology reconstruction
would teach it. Both take seconds, so gradients are left to what has no closed form.

The encoder's own part may be narrowed to its leading components, along the right singular vectors V of its rows. V, W
and U are kept, U by the nodes' ids. So a new node has the mean of its known neighbours' positions, as Nystroem's
extension gives it, and one without any has none: positions are of one graph, and its nodes are known by their ids.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator
from torch import Tensor
from torch.nn.functional import normalize

from paretognn.graph import Graph
from paretognn.nn import FeatureScaling, FeatureStore
from paretognn.nn.off_device import place_features
from paretognn.nn.sparse import Csr
from paretognn.sampling import DeviceGraph
from paretognn.sampling.normalise import normalised
from paretognn.training.inference import ROWS
from paretognn.training.prepare import with_features

_OVERSAMPLED, _ITERATIONS = 10, 8
_RANK = 1e-5
"""Singular values over the largest, below which there is nothing but rounding."""
_KEYS, _COMPONENTS = ".keys", ".components"


class BlockSettings(BaseModel):
    """A block of at most ``width`` columns; its rows get the length ``weight``, where the encoder's have length 1.

    source : ``features``, scaled as the encoder's, or ``raw-features``, as they are, ``hops`` steps away;
        ``positions``; or ``degree``, a soft histogram of its logarithm.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    source: Literal["features", "raw-features", "positions", "degree"]
    hops: int = Field(0, ge=0, le=64)
    width: PositiveInt = 64
    weight: float = Field(1.0, gt=0)

    @model_validator(mode="after")
    def _of_features(self) -> BlockSettings:
        if self.hops and not self.source.endswith("features"):
            raise ValueError(f"'hops' is for features, a block of {self.source} has none")
        return self


class AssemblySettings(BaseModel):
    """How an embedding is put together.

    smoothing : steps of A_hat over the encoder's output, with rows of length 1, once it is trained. components : so
        many leading ones of that (along right singular vectors on the training graph); all of it where None. blocks :
        by name, in their order. With all of them left out, an embedding is the encoder's output as it is.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    smoothing: int = Field(0, ge=0, le=64)
    components: PositiveInt | None = None
    blocks: dict[str, BlockSettings] = {}

    @model_validator(mode="before")
    @classmethod
    def _of_before(cls, value: object) -> object:
        """Runs of before have ``columns``, which said nothing where it was null; so does a block."""
        if not isinstance(value, dict):
            return value
        kept = {k: v for k, v in value.items() if k != "columns" or v is not None}
        if isinstance(kept.get("blocks"), dict):
            kept["blocks"] = {name: block for name, block in kept["blocks"].items() if block is not None}
        return kept

    def width(self, encoded: int) -> int:
        """Columns of an embedding, at most, where the encoder puts out ``encoded`` columns."""
        return min(encoded, self.components or encoded) + sum(block.width for block in self.blocks.values())


@dataclass(eq=False)
class Assembly:
    """Settings, and what each block learnt on a training graph, by the block's name.

    maps : of features, W float [D, k]; of ``positions``, U float [N, k], and under NAME.keys int64 [N] the keys of
        its nodes (`node_keys`); of ``degree``, the centres float [k] of the histogram. Under .components the leading
        directions float [d, k] of the encoder's output.
    """

    settings: AssemblySettings
    maps: dict[str, Tensor]

    @classmethod
    def fit(
        cls,
        settings: AssemblySettings,
        encoded: Tensor,
        graph: Graph,
        placed: DeviceGraph,
        seed: int,
        known: Mapping[str, Tensor] | None = None,
    ) -> Assembly:
        """On the training graph, placed on its device with scaled features, and the encoder's output float [N, d] for
        it. ``known`` : maps of these very blocks, where they have been fitted."""
        maps = dict(known or {})
        if not settings.blocks and settings.components is None:  # the matrix below is as large as the graph
            return cls(settings, maps)
        adjacency = normalised(placed.indptr, placed.indices, placed.weights)
        for name, block in settings.blocks.items():
            if name in maps:
                continue
            maps[name] = _fitted(block, graph, placed, adjacency, seed)
            if block.source == "positions":
                maps[name + _KEYS] = node_keys(graph, placed.device)
        if settings.components is not None:
            smoothed = _diffused(normalize(encoded), adjacency, settings.smoothing)
            maps[_COMPONENTS] = _leading(smoothed, settings.components)
        return cls(settings, maps)

    @classmethod
    def of(cls, settings: AssemblySettings, tensors: Mapping[str, Tensor], device: str) -> Assembly:
        """From ``maps`` that were saved. KeyError or ValueError where they do not fit the settings."""
        maps: dict[str, Tensor] = {}
        for name, block in settings.blocks.items():
            maps[name] = tensors[name].to(device)
            if maps[name].dim() != (1 if block.source == "degree" else 2) or maps[name].shape[-1] > block.width:
                raise ValueError(f"block '{name}' has a map of shape {list(maps[name].shape)}")
            if block.source == "positions":
                maps[name + _KEYS] = keys = tensors[name + _KEYS].to(device)
                if keys.dtype != torch.int64 or keys.shape != maps[name].shape[:1]:
                    raise ValueError(f"block '{name}' has keys of shape {list(keys.shape)}")
        if settings.components is not None:
            maps[_COMPONENTS] = directions = tensors[_COMPONENTS].to(device)
            if directions.dim() != 2 or directions.shape[1] > settings.components:
                raise ValueError(f"there are components of shape {list(directions.shape)}")
        return cls(settings, maps)

    def check(self, encoded: int) -> None:
        """ValueError where it was fitted to an encoder that puts out other than ``encoded`` columns."""
        if self.settings.components is not None and len(self.maps[_COMPONENTS]) != encoded:
            raise ValueError(f"components of {len(self.maps[_COMPONENTS])} columns, where there are {encoded}")

    def width(self, encoded: int) -> int:
        """Columns of an embedding where the encoder puts out ``encoded`` columns."""
        blocks = sum(self.maps[name].shape[-1] for name in self.settings.blocks)
        return min(encoded, self.settings.components or encoded) + blocks

    def found(self) -> AssemblySettings:
        """The settings with the widths that the blocks have here, where a graph may hold less than they ask for."""
        blocks = {
            name: block.model_copy(update={"width": self.maps[name].shape[-1]})
            for name, block in self.settings.blocks.items()
        }
        return self.settings.model_copy(update={"blocks": blocks})

    def __call__(self, encoded: Tensor, graph: Graph, placed: DeviceGraph) -> Tensor:
        """The encoder's output float [N, d] for a graph -> embeddings float [N, `width`]."""
        settings = self.settings
        if settings == AssemblySettings():
            return encoded
        maps = {name: fitted.to(placed.device) for name, fitted in self.maps.items()}
        adjacency = normalised(placed.indptr, placed.indices, placed.weights)
        parts = [_diffused(normalize(encoded), adjacency, settings.smoothing)]
        if settings.components is not None:
            parts = [parts[0] @ maps[_COMPONENTS]]
        if not settings.blocks:
            return parts[0]
        for name, block in settings.blocks.items():
            parts.append(_code(name, block, maps, graph, placed, adjacency))
        weights = [1.0, *(block.weight for block in settings.blocks.values())]
        return torch.cat([weight * normalize(part) for weight, part in zip(weights, parts, strict=True)], dim=1)


def _code(
    name: str, block: BlockSettings, maps: Mapping[str, Tensor], graph: Graph, placed: DeviceGraph, adjacency: Csr
) -> Tensor:
    """The block's columns [N, k], rows of any length."""
    fitted = maps[name]
    if block.source == "degree":
        return _histogram(placed, fitted)
    if block.source == "positions":
        if graph.ids is None and graph.num_nodes != len(fitted):
            warnings.warn(
                "the graph has no ids: each node gets the position of the training graph's node of the same number; "
                "where it is another node, give both graphs ids",
                stacklevel=2,
            )
        known = _looked_up(fitted, maps[name + _KEYS], node_keys(graph, placed.device))
        return adjacency.product(known)
    return _diffused(_features(block, graph, placed).times(fitted), adjacency, block.hops)


def node_keys(graph: Graph, device: torch.device | str = "cpu") -> Tensor:
    """int64 [N]: 64 bits of a digest of each node's id."""
    digests = (hashlib.blake2b(text.encode(), digest_size=8).digest() for text in graph.id_array().to_pylist())
    return torch.frombuffer(bytearray(b"".join(digests)), dtype=torch.int64).to(device)


def _looked_up(values: Tensor, keys: Tensor, wanted: Tensor) -> Tensor:
    """The row of ``values`` [N, k] under each of the ``wanted`` keys [M], zeros for a key that is not known."""
    ascending, order = keys.sort()
    place = torch.searchsorted(ascending, wanted).clamp(max=len(keys) - 1)
    known = ascending[place] == wanted
    return torch.where(known[:, None], values[order[place]], 0.0)


def _fitted(block: BlockSettings, graph: Graph, placed: DeviceGraph, adjacency: Csr, seed: int) -> Tensor:
    n = placed.num_nodes
    if block.source == "degree":
        logs = torch.log1p(placed.degrees().double())
        return torch.linspace(float(logs.min()), float(logs.max()), block.width, device=placed.device)
    if block.source == "positions":
        return _right_singular(adjacency.product, adjacency.product, (n, n), block.width, seed, placed.device)

    features = _features(block, graph, placed)

    def forward(v: Tensor) -> Tensor:
        return _diffused(features.times(v), adjacency, block.hops)

    def backward(u: Tensor) -> Tensor:
        return features.transpose_times(_diffused(u, adjacency, block.hops))

    return _right_singular(forward, backward, (n, features.width), block.width, seed, placed.device)


def _features(block: BlockSettings, graph: Graph, placed: DeviceGraph) -> FeatureStore:
    if block.source == "features":
        return placed.features
    features = with_features(graph).features
    assert features is not None
    return place_features(features, FeatureScaling.fit(features, "none"), placed.device)


def _diffused(x: Tensor, adjacency: Csr, hops: int) -> Tensor:
    """A_hat^hops x, [N, k]."""
    for _ in range(hops):
        x = adjacency.product(x)
    return x


def _histogram(placed: DeviceGraph, centres: Tensor) -> Tensor:
    """exp(-((log(1 + degree) - c) / step)^2 / 2) for evenly spaced centres c [k], float [N, k]."""
    step = (centres[-1] - centres[0]) / max(1, len(centres) - 1)
    step = step if step > 0 else torch.ones_like(step)
    logs = torch.log1p(placed.degrees().float()).clamp(centres[0], centres[-1])
    return torch.exp(-0.5 * ((logs[:, None] - centres) / step) ** 2)


def _leading(x: Tensor, k: int) -> Tensor:
    """The k leading right singular vectors [d, k] of x [N, d], from its d x d Gram matrix in float64; their signs make
    the largest entry of each positive."""
    gram = torch.zeros(x.shape[1], x.shape[1], dtype=torch.float64, device=x.device)
    for part in x.split(ROWS):
        part = part.double()
        gram += part.T @ part
    if not gram.isfinite().all():
        return gram[:, :k].float()  # rows that are not finite are told of by those who use them
    vectors = torch.linalg.eigh(gram)[1].flip(1)[:, :k]
    largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))
    return (vectors * torch.where(largest < 0, -1.0, 1.0)).float()


def _right_singular(
    forward: Callable[[Tensor], Tensor],
    backward: Callable[[Tensor], Tensor],
    shape: tuple[int, int],
    k: int,
    seed: int,
    device: torch.device,
) -> Tensor:
    """The k leading right singular vectors [D, k] of an operator [N, D], by subspace iteration from a random start
    (Halko, Martinsson and Tropp, 2011)."""
    n, d = shape
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
