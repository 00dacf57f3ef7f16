"""Whether nodes' own features say what their neighbours' do not.

Labels are not needed to see it. The columns are split into two halves: traits of a node let one half be told from the
other, names of nodes do not. Where a node's own half tells much and the mean of its neighbours' half tells little, a
convolution, which mixes a node with its neighbours, loses what the node says of itself.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from paretognn.graph.graph import Features, Graph

TELLS, FEWER = 0.05, 0.2
"""Own features tell something from this share of the other half's variance on, and neighbours' little below that share
of it. Set on graphs outside the paper's tables (docs/does-training-pay.md)."""
_FEWEST, _NODES, _SPLITS, _COMPONENTS = 100, 4000, 3, 32
_RIDGES = (0.03, 0.3, 3.0, 30.0)
"""Over the mean variance of a component."""
_CONSTANT = 1e-12
"""Share of a column's mean square below which its variance is rounding."""
_known: WeakKeyDictionary[Graph, tuple[float, float]] = WeakKeyDictionary()


def own_features_tell(graph: Graph) -> bool:
    """Whether ``graph`` is one where own features tell much, and those of neighbours little."""
    own, neighbours = told_by_features(graph)
    return own >= TELLS and neighbours < FEWER * own


def told_by_features(graph: Graph) -> tuple[float, float]:
    """Share of the variance of one half of the columns, on nodes held out, that a ridge regression tells from the other
    half: the node's own, and the mean of its neighbours'. The ridge is the best of four for the nodes held out. Of at
    most 4,000 nodes, the mean over three splits, never below 0; 0 where there are no features, no edges or
    less than 100 nodes, and for a graph on disk."""
    if graph not in _known:
        few = graph.stored is not None or graph.num_features < 2 or not graph.num_edges or graph.num_nodes < _FEWEST
        with threadpool_limits(1):  # matrices so small that threads wait for each other, for long beside other work
            told = [(0.0, 0.0)] if few else [_told(graph, np.random.default_rng(seed)) for seed in range(_SPLITS)]
        own, neighbours = np.mean(told, axis=0)
        _known[graph] = float(own), float(neighbours)
    return _known[graph]


def _told(graph: Graph, rng: np.random.Generator) -> tuple[float, float]:
    n = graph.num_nodes
    some = np.sort(rng.choice(n, min(n, _NODES), replace=False))
    near = graph.adjacency()[some].astype(np.float64)
    met, near.indices = np.unique(near.indices, return_inverse=True)
    near.resize(len(some), len(met))
    assert graph.features is not None
    own = graph.features[some].astype(np.float64)
    scale = _scale(own)
    total = np.asarray(near.sum(axis=1)).ravel()
    neighbours = sp.diags_array(1 / np.where(total > 0, total, 1)) @ (near @ graph.features[met])
    asked, given = np.array_split(rng.permutation(graph.num_features), 2)
    order = rng.permutation(len(some))
    target = _components((own @ scale)[:, asked])[order]
    by_own, by_neighbours = (_components((each @ scale)[:, given])[order] for each in (own, neighbours))
    return _explained(by_own, target), _explained(by_neighbours, target)


def _scale(features: Features) -> sp.dia_array:
    """Of each column to a variance of 1; 0 where it is constant, up to rounding."""
    mean = np.asarray(features.mean(axis=0)).ravel()
    square = np.asarray((features * features).mean(axis=0)).ravel()
    variance = square - mean**2
    varies = variance > _CONSTANT * square
    return sp.diags_array(np.where(varies, 1 / np.sqrt(np.where(varies, variance, 1)), 0))


def _components(matrix: Features) -> np.ndarray:
    """The leading left singular vectors times their values, float64 [n, <= 32]."""
    from sklearn.utils.extmath import randomized_svd  # takes a second to load

    u, s, _ = randomized_svd(matrix, min(_COMPONENTS, *matrix.shape), n_iter=4, random_state=0)
    return np.asarray(u * s)


def _explained(given: np.ndarray, target: np.ndarray) -> float:
    """R^2, at the best ridge, of the second half of the rows, with the first half to learn from."""
    learnt = len(given) // 2
    given, target = (each - each[:learnt].mean(axis=0) for each in (given, target))
    gram = given[:learnt].T @ given[:learnt]
    if not gram.any() or not target[learnt:].any():
        return 0.0
    unit = np.trace(gram) / len(gram) * np.eye(len(gram))
    rests = (
        target[learnt:] - given[learnt:] @ np.linalg.solve(gram + ridge * unit, given[:learnt].T @ target[:learnt])
        for ridge in _RIDGES
    )
    return max(0.0, 1 - min(np.square(rest).sum() for rest in rests) / np.square(target[learnt:]).sum())
