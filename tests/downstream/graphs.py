"""Small graphs that the cases of the evaluation name."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph


def graph_of(num_nodes: int, edges: Any, **attributes: Any) -> Graph:
    ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    return build_graph(num_nodes, ends[:, 0], ends[:, 1], **attributes)


def path(num_nodes: int, **attributes: Any) -> Graph:
    return graph_of(num_nodes, [(i, i + 1) for i in range(num_nodes - 1)], **attributes)


def star(num_nodes: int) -> Graph:
    return graph_of(num_nodes, [(0, i) for i in range(1, num_nodes)])


def complete(num_nodes: int) -> Graph:
    return graph_of(num_nodes, np.argwhere(np.triu(np.ones((num_nodes, num_nodes)), 1)))


def random_graph(num_nodes: int, num_edges: int, seed: int = 0, **attributes: Any) -> Graph:
    rng = np.random.default_rng(seed)
    return graph_of(num_nodes, rng.integers(num_nodes, size=(num_edges, 2)), **attributes)


def clustered(
    num_nodes: int = 300, classes: int = 3, width: int = 8, noise: float = 0.6, seed: int = 0, **attributes: Any
) -> tuple[Graph, np.ndarray]:
    """A graph whose edges mostly stay inside a class, and embeddings around a centre for each class."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(num_nodes) % classes)
    embeddings = np.eye(classes, width)[labels] + noise * rng.standard_normal((num_nodes, width))
    ends = rng.integers(num_nodes, size=(8 * num_nodes, 2))
    inside = labels[ends[:, 0]] == labels[ends[:, 1]]
    ends = ends[inside | (rng.random(len(ends)) < 0.1)]
    attributes = {"labels": labels, "label_names": tuple(f"class {i}" for i in range(classes))} | attributes
    return graph_of(num_nodes, ends, **attributes), embeddings.astype(np.float32)
