"""Link splits: which edges a model may see, and which it is tuned and judged on.

Leakage is kept out by the user of a split: the embeddings that it judges must come from a model trained on
`LinkSplit.train_graph`, which lacks the validation and test pairs in both directions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from paretognn.downstream.notices import notify
from paretognn.downstream.splits import PARTS, Fractions, exact_counts
from paretognn.errors import InputError
from paretognn.graph.graph import Graph

PAPER_FRACTIONS: Fractions = (0.7, 0.1, 0.2)
SAMPLE_ABOVE = 1_000_000
"""Edges above which only a sample of them is split."""
SAMPLE = (210_000, 30_000, 60_000)


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """Edges of a graph in three disjoint sets: int64 [., 2], smaller index first, sorted.

    On sampled graphs the three sets are not all edges; the others stay in the train graph.
    """

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray

    def train_graph(self, graph: Graph) -> Graph:
        """The graph without validation and test pairs, in either direction; all else as it was.

        Raises InputError where one of them is no edge of the graph.
        """
        rows = np.repeat(np.arange(graph.num_nodes, dtype=np.int64), graph.degrees)
        keys = rows * graph.num_nodes + graph.indices  # ascending, since rows are sorted
        hidden = np.concatenate([self.val, self.test])
        hidden = np.concatenate([hidden, hidden[:, ::-1]])
        keep = np.ones(len(keys), dtype=bool)
        place, found = _find(_keys(hidden, graph.num_nodes), keys)
        if not found.all():
            raise InputError(f"link split: {int((~found).sum())} pair(s) are not edges of graph '{graph.name}'")
        keep[place] = False
        degrees = np.bincount(rows[keep], minlength=graph.num_nodes)
        return graph.replace(
            indptr=np.concatenate([[0], np.cumsum(degrees)]).astype(graph.indptr.dtype),
            indices=graph.indices[keep],
            weights=None if graph.weights is None else graph.weights[keep],
        )

    def isolated(self, graph: Graph) -> int:
        """Number of nodes with edges in the graph and none in the train graph."""
        return int(((graph.degrees > 0) & (self.train_graph(graph).degrees == 0)).sum())

    def digest(self) -> str:
        """SHA-256 (hex) of the three sets."""
        h = hashlib.sha256()
        for part in PARTS:
            pairs = getattr(self, part)
            h.update(f"{part}:{len(pairs)};".encode())
            h.update(np.ascontiguousarray(pairs, dtype="<i8").tobytes())
        return h.hexdigest()


def split_links(graph: Graph, seed: int, fractions: Fractions = PAPER_FRACTIONS) -> LinkSplit:
    """A random split of the unordered pairs with exact counts (`exact_counts`), a function of its arguments.

    Graphs above 1,000,000 pairs get 210,000/30,000/60,000 of them instead, whatever ``fractions`` says.
    Warns with the number of nodes that the split isolates.

    Raises InputError for fewer pairs than sets.
    """
    pairs = graph.pairs()
    rng = np.random.default_rng(seed)
    if len(pairs) > SAMPLE_ABOVE:
        sizes = SAMPLE
        order = rng.choice(len(pairs), size=sum(sizes), replace=False)
    else:
        sizes = exact_counts(len(pairs), fractions, "edges")
        order = rng.permutation(len(pairs))
    first, second, third = np.cumsum(sizes)
    split = LinkSplit(
        pairs[np.sort(order[:first])],
        pairs[np.sort(order[first:second])],
        pairs[np.sort(order[second:third])],
    )
    isolated = split.isolated(graph)
    if isolated:
        notify(f"link split: {isolated} node(s) have no edge left in the train graph")
    return split


def checked_link_split(split: LinkSplit, graph: Graph) -> LinkSplit:
    """The split in canonical form: smaller index first, sorted.

    Raises InputError where a pair is no edge of the graph, is named twice, or test or train is empty.
    """
    parts = {name: _canonical(getattr(split, name)) for name in PARTS}
    for name in ("train", "test"):
        if not len(parts[name]):
            raise InputError(f"link split: the {name} set is empty")
    every = np.concatenate(list(parts.values()))
    if every.min() < 0 or every.max() >= graph.num_nodes:
        raise InputError(f"link split: a node index lies outside 0..{graph.num_nodes - 1}")
    keys = _keys(every, graph.num_nodes)
    _, known = _find(keys, _keys(graph.pairs(), graph.num_nodes))
    if not known.all():
        ids = graph.id_array()
        low, high = (ids[int(node)].as_py() for node in every[~known][0])
        raise InputError(
            f"link split: {int((~known).sum())} pair(s) are not edges of graph '{graph.name}'; "
            f"the first is {low} - {high}"
        )
    repeated = len(every) - len(np.unique(keys))
    if repeated:
        raise InputError(f"link split: {repeated} pair(s) are named more than once")
    return LinkSplit(**parts)


def _canonical(pairs: np.ndarray) -> np.ndarray:
    pairs = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _keys(pairs: np.ndarray, num_nodes: int) -> np.ndarray:
    return pairs[:, 0] * num_nodes + pairs[:, 1]


def _find(wanted: np.ndarray, ascending: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the wanted keys, and whether each is there."""
    place = np.searchsorted(ascending, wanted)
    found = place < len(ascending)
    found[found] = ascending[place[found]] == wanted[found]
    return place, found
