"""What a graph is, and every way of reading, converting, merging and keeping one."""

from paretognn.graph.build import build_graph
from paretognn.graph.graph import Counts, FeatureColumn, Features, Graph, Split
from paretognn.graph.npz import read_npz
from paretognn.graph.read import read_graph
from paretognn.graph.table_options import TableOptions
from paretognn.graph.tables import TableRows, read_rows, read_tables

__all__ = [
    "Counts",
    "FeatureColumn",
    "Features",
    "Graph",
    "Split",
    "TableOptions",
    "TableRows",
    "build_graph",
    "read_graph",
    "read_npz",
    "read_rows",
    "read_tables",
]
