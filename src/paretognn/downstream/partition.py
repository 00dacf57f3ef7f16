"""Partition prediction: its labels, a balanced partition with few edges between the parts (METIS)."""

from __future__ import annotations

import hashlib

import numpy as np

from paretognn.downstream.notices import notify
from paretognn.errors import InputError
from paretognn.graph.graph import Graph
from paretognn.graph.metis import metis_parts

PARTS = 10


def metis_partition(graph: Graph, parts: int = PARTS, seed: int = 0) -> np.ndarray:
    """Part of every node, int64 [N]: a function of the graph's structure, ``parts`` and ``seed``.

    Edge weights are ignored, with a warning: METIS takes whole numbers only, the paper's graphs have none.
    More parts than nodes are cut to one a node, with a warning. A graph without edges gets balanced parts at
    random, with a warning.

    Raises InputError for a graph without nodes or fewer than 1 part.
    """
    if graph.num_nodes == 0:
        raise InputError("the graph has no nodes")
    if parts < 1:
        raise InputError(f"a partition needs at least 1 part, not {parts}")
    if parts > graph.num_nodes:
        notify(f"partition: {parts} parts for {graph.num_nodes} nodes, cut to {graph.num_nodes}")
        parts = graph.num_nodes
    elif 1 < parts < graph.num_nodes and graph.num_edges == 0:
        notify("partition: the graph has no edges, so its parts are balanced but arbitrary")
    elif 1 < parts < graph.num_nodes and graph.weights is not None:
        notify("partition: edge weights are ignored")
    return metis_parts(graph.indptr, graph.indices, parts, seed)


def edge_cut(graph: Graph, partition: np.ndarray) -> int:
    """Number of edges whose ends lie in different parts. partition : [N]."""
    ends = partition[graph.pairs()]
    return int((ends[:, 0] != ends[:, 1]).sum())


def partition_digest(partition: np.ndarray) -> str:
    """SHA-256 (hex) of the part of every node."""
    return hashlib.sha256(np.asarray(partition, dtype="<i8").tobytes()).hexdigest()
