"""The recipe of the method `best`: the encoder, trained by the five tasks, beside what needs no training.

Every setting was chosen on graphs that are in none of the paper's tables (docs/does-training-pay.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretognn.graph import Features, Graph
from paretognn.training.assembly import AssemblySettings
from paretognn.training.config import merge

WIDTH = 256
SMOOTHING = 2
NEIGHBOURHOOD = {"hops": 2, "width": 64, "weight": 1.0}
POSITION = {"source": "positions", "width": 96, "weight": 0.5}
DEGREE = {"source": "degree", "width": 8, "weight": 0.3}
OWN = {"hops": 0, "width": 32, "weight": 1.0}
"""The node's own features, where its neighbours' say little about them."""
HOMOPHILY = 0.06
"""Feature homophily below which that is so."""
SHARED = 0.1
"""Share of the columns that at least two nodes must have, or features are names and not traits."""
_SAMPLE = 20_000


def assembled(settings: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """Settings of a run whose embeddings have `WIDTH` columns: those of the blocks, and the encoder's in the rest."""
    blocks = {
        "neighbourhood": {**_source(settings), **NEIGHBOURHOOD},
        "position": POSITION,
        "degree": DEGREE,
    }
    if graph.features is not None and says_own(graph):
        blocks["own"] = own_block(settings)
    left = WIDTH - sum(block["width"] for block in blocks.values())
    hidden = [*settings["encoder"]["hidden_dims"][:-1], left]
    return merge(settings, {"encoder": {"hidden_dims": hidden}, "assembly": {"smoothing": SMOOTHING, "blocks": blocks}})


def said_of(assembly: AssemblySettings) -> str:
    """What stands beside the encoder, to be added to a sentence; nothing where nothing does."""
    said = f"; the encoder's output smoothed {assembly.smoothing} times" if assembly.smoothing else ""
    if assembly.blocks:
        blocks = (f"{block.width} columns of {name} ({block.weight:g})" for name, block in assembly.blocks.items())
        said += f"; beside it {', '.join(blocks)}"
    return said


def own_block(settings: dict[str, Any]) -> dict[str, Any]:
    """The node's own features as a block."""
    return {**_source(settings), **OWN}


def _source(settings: dict[str, Any]) -> dict[str, Any]:
    """Words count as often as they are there: an encoder needs rows of one size, a linear code does not."""
    return {"source": "raw-features" if settings["features"] == "row" else "features"}


def says_own(graph: Graph) -> bool:
    """Whether a node's features say something that its neighbourhood's do not: neighbours are not alike, and features
    are shared by nodes that are not neighbours. Labels are not looked at."""
    features = graph.features
    assert features is not None
    owners = np.asarray((features != 0).sum(axis=0)).ravel()
    if (owners > 1).mean() < SHARED:
        return False
    return graph.num_edges > 0 and feature_homophily(graph) < HOMOPHILY


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
