"""What a graph is, and every way of reading, converting, merging, describing and keeping one."""

from paretognn.graph.build import build_graph
from paretognn.graph.convert import as_graph
from paretognn.graph.graph import Counts, FeatureColumn, Features, Graph, Split
from paretognn.graph.merge import merge_graphs
from paretognn.graph.npz import read_npz
from paretognn.graph.read import read_graph
from paretognn.graph.store import load_graph, save_graph
from paretognn.graph.summary import edge_homophily, format_summary, summarise
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
    "as_graph",
    "build_graph",
    "edge_homophily",
    "format_summary",
    "load_graph",
    "merge_graphs",
    "read_graph",
    "read_npz",
    "read_rows",
    "read_tables",
    "save_graph",
    "summarise",
]
