"""A warning where duplicate nodes leak: one in train, another in test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretognn.downstream.notices import notify
from paretognn.graph.graph import Graph, Split
from paretognn.graph.twins import twin_groups


def warn_of_twins(graph: Graph, splits: Sequence[Split]) -> None:
    """Warn with the number of test nodes that have a duplicate among the training nodes."""
    groups = twin_groups(graph)
    if groups is None or not splits:
        return
    crossing = [int(np.isin(groups[split.test], groups[split.train]).sum()) for split in splits]
    worst = int(np.argmax(crossing))
    if crossing[worst]:
        notify(
            f"duplicate nodes: in the worst split {crossing[worst]} of {len(splits[worst].test)} test nodes have "
            "the features and neighbours of a training node; the graph is used raw, not filtered"
        )
