"""Amazon and Coauthor (Shchur et al., 2018), and others in that npz layout of ``adj_*``, ``attr_*``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paretognn.datasets.raw import compact, reading
from paretognn.errors import InputError
from paretognn.graph.graph import Graph
from paretognn.graph.npz import read_npz


def read_gnn_benchmark(folder: Path, file: str, *, binary: bool = True) -> Graph:
    """Read one npz straight to sparse rows.

    binary : set positive feature values to 1, as PyG does; False keeps the counts that the file holds.

    Raises `InputError` for arrays that are missing, pickled or inconsistent.
    """
    path = folder / file
    with reading(path):
        graph = read_npz(path)
        if graph.features is None or graph.labels is None:
            raise InputError("features (attr_*) or labels are missing")
        features = compact(graph.features)
        values = features if isinstance(features, np.ndarray) else features.data
        notes = []
        if (values > 1).any():
            notes.append(
                "feature counts set to 1 (binary=False keeps them)" if binary else "features are the file's counts"
            )
        if binary:
            values[values > 0] = 1
        return graph.replace(features=features, weights=None, notes=(*graph.notes, *notes))
