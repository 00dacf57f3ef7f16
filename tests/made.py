"""Graphs made here for the tests: none outside tests/datasets needs a file from elsewhere."""

import numpy as np
import scipy.sparse as sp
import torch

from paretognn.graph import Graph, build_graph
from paretognn.nn import View
from paretognn.sampling import Augmentation, DeviceGraph, augment, whole
from paretognn.training.prepare import prepare


def make_graph(
    n: int = 60, degree: int = 6, d: int = 12, classes: int = 3, *, sparse: bool = False, seed: int = 0
) -> Graph:
    """A small homophilous graph: ``classes`` blocks, features around a centre a class."""
    r = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    source = r.integers(0, n, n * degree // 2)
    same = r.random(len(source)) < 0.8
    target = np.where(
        same, (source + classes * r.integers(1, n // classes, len(source))) % n, r.integers(0, n, len(source))
    )
    features = (r.standard_normal((classes, d))[labels] + r.standard_normal((n, d))).astype(np.float32)
    if sparse:
        features = np.where(r.random((n, d)) < 0.2, np.abs(features), 0).astype(np.float32)
        features[:, 0] = 1.0
    return build_graph(
        n,
        source,
        target,
        features=sp.csr_array(features) if sparse else features,
        labels=labels.astype(np.int64),
        label_names=tuple("abcdefgh"[:classes]),
        name="made",
    )


def on_device(graph: Graph, kind: str = "standardise") -> DeviceGraph:
    return prepare(graph, kind, "cpu")[0]


def plain_view(graph: DeviceGraph) -> View:
    """The whole graph, nothing dropped or masked."""
    return augment(whole(graph), Augmentation(), torch.Generator())


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def scaled_dense(graph: Graph) -> np.ndarray:
    """Standardised features by their definition, float64 [N, D]; constant columns 0."""
    x = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    x = x.astype(np.float64)
    deviation = x.std(0)
    return np.where(deviation > 1e-6, (x - x.mean(0)) / np.where(deviation > 1e-6, deviation, 1), 0)


def normalised_dense(graph: Graph) -> np.ndarray:
    """D^-1/2 (A + I) D^-1/2 by its definition, float64 [N, N]."""
    a = graph.adjacency().toarray().astype(np.float64) + np.eye(graph.num_nodes)
    root = 1 / np.sqrt(a.sum(1))
    return root[:, None] * a * root[None, :]


SMALL = {
    "steps": 4,
    "encoder": {"hidden_dims": [8, 4]},
    "tasks": {
        "feat_rec": {},
        "topo_rec": {"sampler": "sage", "batch_size": 30, "fanouts": [4, 3]},
        "rep_decor": {"sampler": {"name": "saint-node", "seeds": 30}},
        "mi_ng": {"sampler": {"name": "k-hop", "seeds": 5, "hops": 1}},
        "mi_nsg": {"contrast": 20, "projection": 6},
    },
}
"""Settings under which every task makes a step in milliseconds."""
