"""Partition prediction: its labels, a balanced partition with few edges between the parts (METIS)."""

from __future__ import annotations

import hashlib

import numpy as np
import pymetis

from paretognn.downstream.notices import notify
from paretognn.errors import InputError
from paretognn.graph.graph import Graph

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
    if parts == 1:
        return np.zeros(graph.num_nodes, dtype=np.int64)
    if parts == graph.num_nodes:
        return np.arange(graph.num_nodes, dtype=np.int64)
    if graph.num_edges == 0:
        notify("partition: the graph has no edges, so its parts are balanced but arbitrary")
        return np.random.default_rng(seed).permutation(graph.num_nodes) * parts // graph.num_nodes
    if graph.weights is not None:
        notify("partition: edge weights are ignored")
    index = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(index), graph.indices.astype(index))
    found = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=seed))
    return np.asarray(found.vertex_part, dtype=np.int64)


def edge_cut(graph: Graph, partition: np.ndarray) -> int:
    """Number of edges whose ends lie in different parts. partition : [N]."""
    ends = partition[graph.pairs()]
    return int((ends[:, 0] != ends[:, 1]).sum())


def partition_digest(partition: np.ndarray) -> str:
    """SHA-256 (hex) of the part of every node."""
    return hashlib.sha256(np.asarray(partition, dtype="<i8").tobytes()).hexdigest()
