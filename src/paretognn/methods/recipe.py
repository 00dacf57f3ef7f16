"""The recipe of the methods `best` and `auto`: the encoder of ParetoGNN beside what needs no training.

Every setting was chosen on graphs that are in none of the paper's tables (docs/does-training-pay.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretognn.graph import Features, Graph
from paretognn.training.assembly import AssemblySettings

SMOOTHING, POSITION = 2, 0.5
"""Of `best`: steps of smoothing, and the length of the rows of positions."""
NEIGHBOURHOOD_WIDTH, POSITION_WIDTH, DEGREE_WIDTH = 64, 96, 8
BESIDE = NEIGHBOURHOOD_WIDTH + POSITION_WIDTH + DEGREE_WIDTH
"""Columns that are not the encoder's."""
SMOOTHINGS, POSITIONS = (0, 2, 8), (0.5, 1.0, 2.0)
"""Among which `auto` chooses."""
_SAMPLE = 20_000


def recipe(settings: dict[str, Any], smoothing: int = SMOOTHING, position: float = POSITION) -> dict[str, Any]:
    """The assembly: blocks, and the first columns of the encoder's output, in as many columns as that has."""
    # Words count as often as they are there: an encoder needs rows of one size, a linear code does not.
    source = "raw-features" if settings["features"] == "row" else "features"
    blocks = {
        "neighbourhood": {"source": source, "hops": 2, "width": NEIGHBOURHOOD_WIDTH, "weight": 1.0},
        "position": {"source": "positions", "width": POSITION_WIDTH, "weight": position},
        "degree": {"source": "degree", "width": DEGREE_WIDTH, "weight": 0.3},
    }
    left = settings["encoder"]["hidden_dims"][-1] - BESIDE
    return {"columns": max(1, left), "smoothing": smoothing, "blocks": blocks}


def alternatives(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """To the encoder's output as it is: that output smoothed, and the recipe, from little to much."""
    alone = [{"smoothing": k} for k in SMOOTHINGS if k]
    return [*alone, *(recipe(settings, k, weight) for weight in POSITIONS for k in SMOOTHINGS)]


def said_of(assembly: AssemblySettings) -> str:
    """What an embedding is put together of, in words."""
    columns = "" if assembly.columns is None else f"{assembly.columns} columns of "
    said = f"{columns}the encoder's output"
    if assembly.smoothing:
        said += f", smoothed {assembly.smoothing} times"
    if assembly.blocks:
        blocks = (f"{block.width} of {name} ({block.weight:g})" for name, block in assembly.blocks.items())
        said += f"; beside it {', '.join(blocks)}"
    return said


def feature_homophily(graph: Graph, seed: int = 0) -> float:
    """Mean cosine of the features of two neighbours, less that of two nodes drawn at random; over at most 20,000 pairs
    each. Columns are centred, and those of dense features scaled to variance 1."""
    assert graph.features is not None
    rng = np.random.default_rng(seed)
    pairs = graph.pairs()
    if len(pairs) > _SAMPLE:
        pairs = pairs[rng.choice(len(pairs), _SAMPLE, replace=False)]
    strangers = rng.integers(0, graph.num_nodes, (_SAMPLE, 2))
    return _mean_cosine(graph.features, pairs) - _mean_cosine(graph.features, strangers)


def _mean_cosine(features: Features, pairs: np.ndarray) -> float:
    mean = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
    if sp.issparse(features):
        scale = np.ones_like(mean)
    else:
        deviation = features.std(axis=0, dtype=np.float64)
        scale = np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1), 0)
    total = 0.0
    for block in np.array_split(pairs, max(1, len(pairs) * len(mean) // 2**24)):
        a, b = (_dense(features[block[:, end]]) for end in (0, 1))
        a, b = (a - mean) * scale, (b - mean) * scale
        norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        total += float((np.einsum("ij,ij->i", a, b) / np.where(norms > 0, norms, 1)).sum())
    return total / len(pairs)


def _dense(features: Features) -> np.ndarray:
    return np.asarray(features.toarray() if not isinstance(features, np.ndarray) else features, dtype=np.float64)
