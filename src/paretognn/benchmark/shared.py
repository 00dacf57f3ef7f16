"""What all rows of a data set share: the METIS partition, and the link split that a foreign model is to train on."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from paretognn.benchmark.cells import Store
from paretognn.downstream import load_link_split, save_link_split, split_links
from paretognn.downstream.notices import EvaluationWarning
from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.methods.judge import kept_partition


class StoreError(InputError):
    """What the store shares is not as it was written, which is no fault of a cell."""


def shared_partition(store: Store, graph: Graph) -> np.ndarray:
    """The partition of this very graph, int [N], kept under the graph's digest."""
    return kept_partition(store.path / "partitions" / f"{graph.name}-{graph.digest()[:12]}.npy", graph)


def link_split_file(store: Store, dataset: str, seed: int = 0) -> Path:
    return store.path / "splits" / f"{dataset}-seed{seed}.parquet"


def write_link_split(store: Store, graph: Graph, seed: int = 0) -> None:
    """The link split of a training seed as a file; none for a graph with too few edges.

    `StoreError` where another one is there, since what was trained on it does not compare, or it cannot be read.
    """
    path = link_split_file(store, graph.name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)  # each cell says it
        try:
            split = split_links(graph, seed)
        except InputError:
            return
    if not path.exists():
        save_link_split(path, split, graph)
        return
    try:
        found = load_link_split(path, graph).digest()
    except InputError as error:
        raise StoreError(f"{error}; remove it, or choose another --out") from None
    if found != split.digest():
        raise StoreError(f"{path}: is not the link split of this graph; remove it, or choose another --out")
