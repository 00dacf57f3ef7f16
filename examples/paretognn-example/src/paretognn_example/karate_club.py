"""Zachary's karate club (1977): 34 members, their ties outside the club, and the side each took."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np

from paretognn import Graph
from paretognn.datasets import DataSet, Published
from paretognn.graph import build_graph


def read_karate_club(folder: Path) -> Graph:
    """Edges weigh as many contexts as two members met in. ``folder`` is for readers of files; networkx has this one."""
    club = nx.karate_club_graph()
    source, target, weight = zip(*club.edges(data="weight"), strict=True)
    sides = ("Mr. Hi", "Officer")
    return build_graph(
        club.number_of_nodes(),
        np.array(source),
        np.array(target),
        np.array(weight, dtype=np.float32),
        labels=np.array([sides.index(side) for _, side in club.nodes(data="club")]),
        label_names=sides,
    )


KARATE_CLUB = DataSet(
    "karate-club",
    read_karate_club,
    Published(nodes=34, edges=78, features=0, classes=2),
    homophilous=True,
    licence="BSD-3-Clause",
    source="networkx (bundled)",
)
