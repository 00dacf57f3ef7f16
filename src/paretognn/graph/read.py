"""The one door to graphs on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from paretognn.errors import InputError
from paretognn.graph.graph import Graph
from paretognn.graph.mapped import open_store
from paretognn.graph.npz import read_npz
from paretognn.graph.table_options import TableOptions
from paretognn.graph.tables import read_tables

PathLike = str | os.PathLike[str]


def read_graph(
    nodes: PathLike | None = None,
    edges: PathLike | None = None,
    *,
    graph: PathLike | None = None,
    **options: Any,
) -> Graph:
    """Read a graph from a node table and an edge table, from an edge table alone, an npz file, or an imported graph.

    nodes, edges : CSV, TSV (plain or gzip) or Parquet.
    graph : ``.npz`` with scipy's sparse parts, or the folder of an imported graph, instead of tables.
    options : the fields of `TableOptions`, such as ``id_column="user"`` or ``categorical=["country"]``.

    Raises InputError for whatever is wrong with the files or the options.

    >>> read_graph("nodes.csv", "edges.csv", label_column="kind")  # doctest: +SKIP
    """
    for name, value in {"nodes": nodes, "edges": edges, "graph": graph}.items():
        if not isinstance(value, str | os.PathLike | None):
            kind = type(value).__name__
            raise InputError(
                f"{name} must be the path of a file, not a {kind}; paretognn.graph.as_graph takes what is in memory"
            )
    settings = TableOptions.of(**options)
    if graph is not None:
        if nodes is not None or edges is not None or options:
            raise InputError("give an npz graph alone, without tables or options for tables")
        return open_store(graph) if Path(graph).is_dir() else read_npz(graph)
    if edges is None:
        raise InputError("a graph needs an edge table: give --edges FILE, or --graph FILE.npz")
    return read_tables(None if nodes is None else Path(nodes), Path(edges), settings)
