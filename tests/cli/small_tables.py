"""Small tables, and settings that train on them in moments, for the tests of the commands."""

import pyarrow as pa

from made import make_graph
from paretognn.graph.write_table import write_table

FAST = [
    "--set",
    "encoder.hidden_dims=[8, 4]",
    "--set",
    "tasks.mi_nsg.projection=6",
    "--set",
    "tasks.mi_nsg.contrast=20",
]
IDS = ["007", "7", "NA", "null", "1e5"]


def write_tables(folder):
    """A graph of 80 nodes with four features, as nodes.csv and edges.csv of the folder, which is returned."""
    graph = make_graph(80)
    columns = {f"x{j}": graph.features[:, j] for j in range(4)}
    write_table(folder / "nodes.csv", pa.table({"id": graph.id_array(), **columns}))
    write_table(folder / "edges.csv", pa.table(dict(zip(("source", "target"), graph.pairs().T, strict=True))))
    return folder


def graph_of(folder):
    return ["--nodes", str(folder / "nodes.csv"), "--edges", str(folder / "edges.csv")]


PLAIN = ["--method", "paretognn", "--steps", "2"]
"""The method whose embeddings are the encoder's output, briefly."""
