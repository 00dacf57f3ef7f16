"""What is judged of a graph: all of it, or where it is on disk a region that fits into memory.

The nodes of a region have the embeddings that the whole graph gave them; the link model, the partition and the controls
are of the region.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.graph.region import REGION, induced_graph, walked_nodes

SMALLEST = 10
"""Nodes that a region is asked to have at least."""
_SEED = 0


@dataclass(frozen=True, eq=False)
class Region:
    """What stands for a graph of ``whole`` nodes where it is judged.

    nodes : int64 [M], ascending, those of ``graph``; None where that is the whole graph.
    facts : of a region, under ``region`` its ``nodes``, ``of`` how many, and the ``digest`` by which it is known.
    notes : what a reader of the scores must know.
    """

    graph: Graph
    whole: int
    nodes: np.ndarray | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def rows(self, embeddings: np.ndarray) -> np.ndarray:
        """Of embeddings [N, d] of the whole graph, those of its nodes. InputError for another number of rows."""
        if self.nodes is None:
            return embeddings
        if embeddings.ndim != 2 or len(embeddings) != self.whole:
            raise InputError(f"embeddings of shape {list(embeddings.shape)} for {self.whole} nodes")
        return embeddings[self.nodes]

    def told(self, result: dict[str, Any], notes: Iterable[str] = ()) -> dict[str, Any]:
        """A result of judging its graph, with what a reader must know first among the warnings."""
        return {**result, **self.facts, "warnings": list(dict.fromkeys([*self.notes, *notes, *result["warnings"]]))}


def judged_region(graph: Graph, most: int | None = None) -> Region:
    """The region of a graph that is judged: at most ``most`` nodes, met by walks that begin at labelled nodes
    (`walked_nodes`).

    most : None for `REGION` where the graph is on disk, and for all nodes elsewhere. InputError below `SMALLEST`.
    """
    if most is None:
        most = graph.num_nodes if graph.stored is None else REGION
    elif most < SMALLEST:
        raise InputError(f"a region needs at least {SMALLEST} nodes, not {most}")
    if graph.num_nodes <= most:
        return Region(graph, graph.num_nodes)
    nodes = walked_nodes(graph, _SEED, most, labelled=True)
    judged = induced_graph(graph, nodes)
    facts = {"region": {"nodes": len(nodes), "of": graph.num_nodes, "digest": judged.digest()}}
    note = (
        f"judged on a region of {len(nodes):,} of the {graph.num_nodes:,} nodes, met by random walks; "
        "link model, partition and controls are of the region"
    )
    notes = (note, "a public split is not one of a region: splits are random") if graph.splits else (note,)
    return Region(judged, graph.num_nodes, nodes, facts, notes)
