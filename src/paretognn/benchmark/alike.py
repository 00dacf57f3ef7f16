"""Encoders that a store has already: a run that is finished, or one that was trained alike.

`paretognn`, `auto` and `best` differ only in what is put beside the encoder, so that one is trained for all three. What
training took is told of each as if it had been trained alone.
"""

from __future__ import annotations

import shutil

import numpy as np

from paretognn.atomic import atomic_write
from paretognn.benchmark.cells import Cell, CellKey, Store
from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.training import RunFolder, TrainConfig, TrainedEncoder, reassembled


def trained_alike(
    store: Store, key: CellKey, graph: Graph, config: TrainConfig, device: str
) -> tuple[RunFolder | None, Cell | None]:
    """A finished run of the store on ``graph`` whose encoder is the one that ``config`` would train, and its cell.

    The run of ``key`` itself comes first, and may be without a cell; another's was made on the ``device`` of that name.
    """
    own = store.runs / key.name
    others = sorted(store.runs.glob(f"{key.dataset}__*__{key.preset}-{key.steps}__seed{key.seed}*"))
    for path in (own, *others):
        folder = RunFolder(path)
        try:
            cell = store.named(path.name)
            if path != own and (cell is None or cell.hardware.get("device") != device):
                continue
            if folder.require_finished().config().of_training() == config.of_training():
                folder.check_graph(graph)
                return folder, cell
        except InputError:
            continue
    return None, None


def take_encoder(source: RunFolder, home: RunFolder, graph: Graph, config: TrainConfig, device: str) -> np.ndarray:
    """The encoder of a finished run put together as ``config`` has it, and kept as the run ``home``; embeddings
    float32 [N, d] of ``graph``, on which it was trained."""
    home.write_config(config)
    with atomic_write(home.metrics_file) as aside:
        shutil.copyfile(source.metrics_file, aside)
    return reassembled(TrainedEncoder.load(source, device), graph, config, home)[1]
