"""All nodes embedded on the machines of a Ray cluster: the rows of each layer in parts, a Ray task a part.

Parts lie in files beside the run until all layers are done, so that memory is bounded on every machine; a task whose
machine is lost is begun again on another.
"""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch
from ray.exceptions import RayError
from torch import Tensor, nn

from paretognn.atomic import PARTIAL, atomic_write, writing
from paretognn.cluster.connection import RETRIES, said, share
from paretognn.errors import InputError, WorkLostError
from paretognn.graph import Graph
from paretognn.nn import GCN
from paretognn.sampling import DeviceGraph
from paretognn.sources import run_graph
from paretognn.training import RunFolder, TrainedEncoder
from paretognn.training.inference import Near, near_rows, row_matrix
from paretognn.training.prepare import prepare

ROWS = 1 << 16
"""Rows of a part."""
_BATCH = 4096
"""Rows of a part that are made at once."""


def embed_on_cluster(folder: RunFolder, trained: TrainedEncoder, graph: Graph, device: str) -> np.ndarray:
    """float32 [N, d] of the run's graph, that of `TrainedEncoder.embed` but for rounding.

    ``trained`` is the run's, on the CPU. InputError for an encoder other than the built-in one, and where a machine
    does not see the run.
    """

    def encode(encoder: nn.Module, placed: DeviceGraph) -> Tensor:
        if not isinstance(encoder, GCN):
            raise InputError(f"--ray: the encoder of the method '{trained.config.method}' embeds on one machine only")
        with writing(folder.path):
            staging = tempfile.TemporaryDirectory(prefix=PARTIAL, dir=folder.path.resolve())
        with staging as home:
            below: Parts | None = None
            for layer in range(encoder.num_layers):
                below = _layer(folder, placed.num_nodes, layer, below, Path(home), device)
            assert below is not None
            whole = row_matrix(placed.num_nodes, below.width, placed)
            for place, start in enumerate(below.starts):
                part = below.part(place)
                whole[start : start + len(part)] = torch.from_numpy(part)
            return whole

    return trained.embed(graph, encode)


@dataclass(frozen=True)
class Parts:
    """A float32 matrix [N, width] in raw files of some rows each, the first of which is the part's start."""

    starts: tuple[int, ...]
    files: tuple[str, ...]
    width: int

    def part(self, place: int) -> np.ndarray:
        """Mapped from its file, [rows, width]."""
        return np.memmap(self.files[place], np.float32, "c").reshape(-1, self.width)

    def take(self, nodes: Tensor) -> Tensor:
        """float32 [M, width] of ascending ``nodes`` [M]."""
        out = np.empty((len(nodes), self.width), np.float32)
        wanted = nodes.cpu().numpy()
        bounds = np.searchsorted(wanted, [*self.starts, np.iinfo(np.int64).max])
        for place, (start, first, stop) in enumerate(zip(self.starts, bounds, bounds[1:], strict=False)):
            if stop > first:
                out[first:stop] = self.part(place)[wanted[first:stop] - start]
        return torch.from_numpy(out)


def _layer(folder: RunFolder, n: int, layer: int, below: Parts | None, home: Path, device: str) -> Parts:
    task = ray.remote(_rows).options(max_retries=RETRIES, **share(device))
    starts = tuple(range(0, n, ROWS))
    files = tuple(str(home / f"{layer}-{start}.f32") for start in starts)
    asked = str(folder.path.resolve()), device, layer, below
    tasks = [task.remote(*asked, start, min(start + ROWS, n), file) for start, file in zip(starts, files, strict=True)]
    try:
        widths = ray.get(tasks)
    except InputError as error:
        raise InputError(str(getattr(error, "cause", error))) from None
    except RayError as error:
        raise WorkLostError(
            f"a part was lost {RETRIES + 1} times on the Ray cluster, the last: {said(error)}"
        ) from None
    return Parts(starts, files, widths[0])


@torch.no_grad()
def _rows(path: str, device: str, layer: int, below: Parts | None, start: int, stop: int, file: str) -> int:
    """On one of the machines: the rows of a part into its file; their width."""
    if not RunFolder(path).exists():
        raise InputError(
            f"{path}: machine {ray.util.get_node_ip_address()} does not see it; the run must be on storage that all "
            "machines of the cluster share"
        )
    encoder, near = _opened(path, device)
    batches = []
    for first in range(start, stop, _BATCH):
        take = None if below is None else lambda nodes: below.take(nodes).to(device)
        batches.append(near_rows(encoder, layer, near, take, first, min(first + _BATCH, stop)).cpu().numpy())
    with atomic_write(Path(file)) as aside:
        np.concatenate(batches).tofile(aside)
    return int(batches[0].shape[1])


@functools.lru_cache(maxsize=1)
def _opened(path: str, device: str) -> tuple[Any, Near]:
    """The encoder of a run and its graph, kept by the process for the next part."""
    folder = RunFolder(path)
    trained = TrainedEncoder.load(folder, device)
    placed, _ = prepare(run_graph(folder), trained.config.features, device, trained.scaling)
    trained.encoder.eval()
    return trained.encoder, Near.of(placed)
