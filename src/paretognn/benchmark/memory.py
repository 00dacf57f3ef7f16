"""Peak memory of a cell's process, before it starts."""

from __future__ import annotations

import numpy as np

from paretognn.graph import Graph
from paretognn.training import TrainConfig
from paretognn.training.memory import estimate

_PROCESS = 600 << 20
"""The interpreter with its libraries, those of the probes too."""


def cell_memory(graph: Graph, config: TrainConfig, trained: bool) -> int:
    """Bytes: of training, where the cell is trained, or of making and judging embeddings, whichever is more."""
    judging = _judging(graph, config)
    return max(estimate(graph, config), judging) if trained else judging


def _judging(graph: Graph, config: TrainConfig) -> int:
    """Graph and train graph in float64, embeddings of both, and the layers or factors that they come from."""
    n, features = graph.num_nodes, graph.features
    if features is None:
        stored = 0
    else:
        stored = features.nbytes if isinstance(features, np.ndarray) else features.nnz * 12
    structure = 2 * graph.num_edges * 12
    widest = max(config.encoder.hidden_dims)
    return int(_PROCESS + 3 * stored + 4 * structure + 8 * n * widest * 4)
