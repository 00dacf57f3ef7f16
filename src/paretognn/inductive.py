"""New nodes: read with the training graph's columns, joined to it where their edges reach it, embedded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError, flag
from paretognn.graph import Graph, TableOptions, merge_graphs, read_rows
from paretognn.graph.edge_table import open_edge_table
from paretognn.sources import GraphSource, run_graph
from paretognn.training import RunFolder, TrainedEncoder

CHOICES = ("label_column", "feature_columns", "drop_columns", "categorical")
"""Options of tables that choose what is read beside ids."""


@dataclass(frozen=True, eq=False)
class NewEmbeddings:
    """``embeddings`` float32 [M, d] of the nodes ``ids`` [M], and what a user should know about them."""

    ids: pa.StringArray
    embeddings: np.ndarray
    warnings: tuple[str, ...] = ()


def embed_new(trained: TrainedEncoder, folder: RunFolder, source: GraphSource) -> NewEmbeddings:
    """Embed the rows of a new node table, in its order (of edges alone: their ends).

    Tables may name nodes of the training graph as neighbours: those, and what lies around them, come from
    the run's copy. Other sources are graphs of their own. Raises InputError where columns do not fit, and for options
    that choose among them: those of training are read, and others left out.
    """
    source.check()
    for name in CHOICES:
        if source.options.get(name):
            raise InputError(
                f"{flag(name)}: of new nodes the columns that the run was trained on are read, and no "
                "others; leave the option out"
            )
    if source.edges is None:
        graph = source.load()
        return NewEmbeddings(graph.id_array(), trained.embed(graph), graph.warnings)
    base = run_graph(folder)
    options = TableOptions.of(**{**_training_options(folder), **source.options})
    options, unweighted = _weighed(Path(source.edges), options, source)
    nodes = None if source.nodes is None else Path(source.nodes)
    means = column_means(base) if options.impute == "mean" else None
    rows = read_rows(nodes, Path(source.edges), options, schema=base.feature_columns or (), means=means)
    merged, new = merge_graphs(base, rows)
    said = tuple(w for w in merged.warnings if w not in base.warnings)
    return NewEmbeddings(merged.id_array().take(pa.array(new)), trained.embed(merged)[new], (*unweighted, *said))


def column_means(graph: Graph) -> dict[str, float]:
    """The mean of each numeric column of the graph's table, which is that of its values before gaps were filled with
    it."""
    if graph.features is None or graph.feature_columns is None:
        return {}
    means = np.asarray(graph.features.mean(axis=0, dtype=np.float64)).ravel().tolist()
    pairs = zip(graph.feature_columns, means, strict=True)
    return {column.source: mean for column, mean in pairs if column.category is None}


def _weighed(edges: Path, options: TableOptions, source: GraphSource) -> tuple[TableOptions, tuple[str, ...]]:
    """Without the column of weights where training named it and the new edges have none, and a warning of that."""
    column = options.weight_column
    if column is None or "weight_column" in source.options:
        return options, ()
    if column in open_edge_table(edges, options, lambda _: False).names:
        return options, ()
    return replace(options, weight_column=None), (f"{edges} has no column '{column}': its edges weigh 1",)


def _training_options(folder: RunFolder) -> dict[str, object]:
    """Column options of the training tables, which new tables share unless they say otherwise."""
    origin = folder.read_json(folder.graph_json).get("source")
    options = dict(GraphSource.from_json(origin, folder.graph_json).options) if origin else {}
    return {name: value for name, value in options.items() if name not in CHOICES}
