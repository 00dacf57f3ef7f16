"""Small tables, and settings that train on them in moments, for the tests of the commands."""

FAST = [
    "--set",
    "encoder.hidden_dims=[8, 4]",
    "--set",
    "tasks.mi_nsg.projection=6",
    "--set",
    "tasks.mi_nsg.contrast=20",
]
IDS = ["007", "7", "NA", "null", "1e5"]


def graph_of(folder):
    return ["--nodes", str(folder / "nodes.csv"), "--edges", str(folder / "edges.csv")]


PLAIN = ["--method", "paretognn", "--steps", "2"]
"""The method whose embeddings are the encoder's output, briefly."""
