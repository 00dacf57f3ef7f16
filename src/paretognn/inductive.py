"""New nodes: read with the training graph's columns, joined to it where their edges reach it, embedded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from paretognn.graph import TableOptions, merge_graphs, read_rows
from paretognn.sources import GraphSource
from paretognn.training import RunFolder, TrainedEncoder


def embed_new(trained: TrainedEncoder, folder: RunFolder, source: GraphSource) -> tuple[pa.StringArray, np.ndarray]:
    """Ids and embeddings float32 [M, d] of the rows of the new node table, in its order.

    Tables may name nodes of the training graph as neighbours: those, and what lies around them, come from
    the run's copy. Other sources are graphs of their own. Raises InputError where columns do not fit.
    """
    source.check()
    if source.edges is None or source.nodes is None:
        graph = source.load()
        return graph.id_array(), trained.embed(graph)
    base = folder.graph()
    if base is None:
        base = GraphSource(**folder.read_json(folder.graph_json)["source"]).load()
        folder.check_graph(base)
    options = TableOptions.of(**{**_training_options(folder), **source.options})
    rows = read_rows(Path(source.nodes), Path(source.edges), options, schema=base.feature_columns or ())
    merged, new = merge_graphs(base, rows)
    return merged.id_array().take(pa.array(new)), trained.embed(merged)[new]


def _training_options(folder: RunFolder) -> dict[str, object]:
    """Column options of the training tables, which new tables share unless they say otherwise."""
    source = folder.read_json(folder.graph_json).get("source", {})
    options = dict(source.get("options", {}))
    for name in ("label_column", "feature_columns", "drop_columns"):
        options.pop(name, None)
    return options
