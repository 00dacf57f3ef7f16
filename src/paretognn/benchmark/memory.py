"""Peak memory of a cell's process, before it starts."""

from __future__ import annotations

import numpy as np

from paretognn.downstream.link_prediction import FIT_BYTES
from paretognn.downstream.links import PAPER_FRACTIONS
from paretognn.graph import Graph
from paretognn.training import TrainConfig
from paretognn.training.memory import PROCESS, estimate

_PROCESS = 560 << 20
"""The interpreter with its libraries, those of the probes too."""
_FITTED = 4
"""Copies of the pairs that a link probe is fitted on, as features [pairs, width]. From the controls' stored peaks."""


def cell_memory(graph: Graph, config: TrainConfig, trained: bool) -> int:
    """Bytes of making and judging embeddings, and of training, where the cell is trained, whose memory stays with the
    process."""
    judging = _judging(graph, config)
    return judging + estimate(graph, config) - PROCESS if trained else judging


def _judging(graph: Graph, config: TrainConfig) -> int:
    """Graph and train graph in float64, embeddings of both, the layers or factors that they come from, and the pairs
    that the link probe is fitted on."""
    n, features = graph.num_nodes, graph.features
    if features is None:
        stored = 0
    else:
        stored = features.nbytes if isinstance(features, np.ndarray) else features.nnz * 12
    structure = 2 * graph.num_edges * 12
    widest = max(config.encoder.hidden_dims)
    pairs = min(FIT_BYTES, 2 * PAPER_FRACTIONS[0] * graph.num_edges * config.width * 4)
    return int(_PROCESS + 3 * stored + 4 * structure + 8 * n * widest * 4 + _FITTED * pairs)
