"""The npz layout of heterophilous-graphs (Platonov et al., 2023): minesweeper, filtered Wikipedia."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paretognn.datasets.duplicates import with_duplicates_counted
from paretognn.datasets.raw import check_length, compact, load_npz, number_names, reading, split_of
from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph

MASKS = ("train_masks", "val_masks", "test_masks")


def read_heterophilous(folder: Path, file: str) -> Graph:
    """Read ``node_features`` [N, D], ``node_labels`` [N], ``edges`` [R, 2] and the ten masks [10, N].

    Raises `InputError` for arrays that are missing, pickled or inconsistent.
    """
    path = folder / file
    arrays = load_npz(path, ("node_features", "node_labels", "edges", *MASKS))
    with reading(path):
        labels = arrays["node_labels"].astype(np.int64)
        nodes = len(labels)
        check_length("node_features", len(arrays["node_features"]), nodes)
        edges = arrays["edges"]
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise InputError(f"edges are not integer pairs [R, 2] but {edges.dtype} {list(edges.shape)}")
        for name in MASKS:
            check_length(name, arrays[name].shape[-1], nodes)
        splits = [split_of(*masks) for masks in zip(*(arrays[name] for name in MASKS), strict=True)]
        graph = build_graph(
            nodes,
            edges[:, 0],
            edges[:, 1],
            features=compact(arrays["node_features"]),
            labels=labels,
            label_names=number_names(labels),
            splits=tuple(splits),
        )
    return with_duplicates_counted(graph)
