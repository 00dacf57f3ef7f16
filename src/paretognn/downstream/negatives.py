"""Node pairs that are no edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretognn.downstream.links import LinkSplit
from paretognn.errors import InputError
from paretognn.graph.graph import Graph

LIST_BELOW = 4
"""All pairs are listed where they are fewer than this many times those in use; else most draws are good."""


@dataclass(frozen=True, eq=False)
class Negatives:
    """As many pairs as each set of a link split, int64 [., 2] with the smaller index first.

    None is an edge of the whole graph, none is a loop, and none comes twice, in one set or across sets.
    """

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray


def draw_negatives(graph: Graph, split: LinkSplit, seed: int) -> Negatives:
    """Negatives for every set of the split. ``graph`` is the whole graph, never the train graph.

    Raises InputError where the graph has too few unlinked pairs.
    """
    sizes = [len(split.train), len(split.val), len(split.test)]
    pairs = sample_non_edges(graph, sum(sizes), np.random.default_rng(seed))
    first, second = np.cumsum(sizes)[:2]
    return Negatives(pairs[:first], pairs[first:second], pairs[second:])


def sample_non_edges(graph: Graph, amount: int, rng: np.random.Generator) -> np.ndarray:
    """``amount`` distinct unordered pairs without an edge, uniformly and in random order: int64 [amount, 2].

    Rejection sampling, or on small and dense graphs a draw from the list of all; memory grows with the
    edges and ``amount``, never with the square of the nodes.

    Raises InputError where there are fewer; the message says how many there are.
    """
    nodes = graph.num_nodes
    pairs = graph.pairs()
    edges = pairs[:, 0] * nodes + pairs[:, 1]
    total = nodes * (nodes - 1) // 2
    if amount > total - len(edges):
        raise InputError(
            f"{amount} negative pairs are needed, the graph has {total - len(edges)} pair(s) without an edge"
        )
    if total <= LIST_BELOW * (len(edges) + amount):
        low, high = np.triu_indices(nodes, k=1)
        free = np.setdiff1d(low * nodes + high, edges, assume_unique=True)
        chosen = rng.choice(free, size=amount, replace=False)
    else:
        chosen = np.empty(0, dtype=np.int64)
        while len(chosen) < amount:
            ends = rng.integers(nodes, size=(2 * (amount - len(chosen)) + 16, 2))
            ends = ends[ends[:, 0] != ends[:, 1]]
            keys = ends.min(axis=1) * nodes + ends.max(axis=1)
            place = np.minimum(np.searchsorted(edges, keys), max(len(edges) - 1, 0))
            if len(edges):
                keys = keys[edges[place] != keys]
            keys = np.concatenate([chosen, keys])
            _, first = np.unique(keys, return_index=True)
            chosen = keys[np.sort(first)][:amount]
    return np.stack([chosen // nodes, chosen % nodes], axis=1)
