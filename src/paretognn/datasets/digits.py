"""The handwritten digits that ship with scikit-learn, as a graph: needs no file and no network."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paretognn.datasets.raw import compact
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph

NEIGHBOURS = 10


def read_digits(folder: Path | None = None) -> Graph:
    """1,797 images [64 pixels], each joined to its 10 nearest (Euclidean, raw pixels); 12,340 pairs.

    A pair is an edge when either end counts the other among its nearest. ``folder`` is not used: the
    registry calls every reader with one.
    """
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    pixels, labels = load_digits(return_X_y=True)
    nearest = kneighbors_graph(pixels, NEIGHBOURS, include_self=False).tocoo()
    return build_graph(
        len(pixels),
        nearest.row,
        nearest.col,
        features=compact(pixels),
        labels=labels.astype(np.int64),
        label_names=tuple("0123456789"),
    )
