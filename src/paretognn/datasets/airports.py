"""Air traffic networks of struc2vec (Ribeiro et al., 2017): an edge list and a table of activity levels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from paretognn.datasets.raw import number_names, read_table, reading
from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph


def file_names(region: str) -> tuple[str, str]:
    return f"{region}-airports.edgelist", f"labels-{region}-airports.txt"


def read_airports(folder: Path, region: str) -> Graph:
    """Read one region; features are the one-hot node number, as in PyG; ids are the airports' numbers.

    Raises `InputError` for damaged files, repeated airports, and edges to an airport that has no label.
    """
    edge_path, label_path = (folder / name for name in file_names(region))
    table = read_table(label_path, 2, delimiter=" ", skip=1)
    edges = read_table(edge_path, 2, delimiter=" ")
    with reading(label_path):
        ids, labels = table[:, 0], table[:, 1]
        order = np.argsort(ids, kind="stable")
        if not len(ids) or (np.diff(ids[order]) == 0).any():
            raise InputError("no airport, or one that is listed twice")
        names = number_names(labels)
    with reading(edge_path):
        place = np.searchsorted(ids[order], edges).clip(max=len(ids) - 1)
        unknown = edges[ids[order][place] != edges]
        if len(unknown):
            raise InputError(f"airport {unknown[0]} is not in {label_path.name}")
        ends = order[place]
        return build_graph(
            len(ids),
            ends[:, 0],
            ends[:, 1],
            features=sp.csr_array(sp.identity(len(ids), dtype=np.float32, format="csr")),
            labels=labels,
            label_names=names,
            ids=pa.array(ids).cast(pa.string()),
        )
