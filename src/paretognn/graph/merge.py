"""New nodes joined to a training graph by their ids."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.edge_table import EdgeRows
from paretognn.graph.graph import Counts, Features, Graph
from paretognn.graph.ids import first_appearance, listed, positions
from paretognn.graph.labels import encode_labels
from paretognn.graph.node_table import NodeRows
from paretognn.graph.tables import TableRows, append_zero_rows, locate_ends


def merge_graphs(base: Graph, new: TableRows | Graph) -> tuple[Graph, np.ndarray]:
    """``base`` with the nodes and edges of ``new``, and the rows [M] of the new nodes in it.

    Nodes are the same where their ids are. The merged graph keeps the nodes of ``base`` in their places,
    followed by those that only ``new`` has; a node that both have takes its features (and its label, where
    there is one) from ``new``. Edges of ``new`` may reach to any node of either. The returned rows follow the
    order of ``new``'s node table, or of first appearance for edges alone.

    Raises InputError for an edge to an unknown node, and for features that do not match those of ``base``.
    """
    rows = _rows_of(new) if isinstance(new, Graph) else new
    nodes, edges = rows.nodes, rows.edges
    base_ids, n = base.id_array(), base.num_nodes
    own = first_appearance(edges.source, edges.target) if nodes is None else nodes.ids
    where = f"{Path(nodes.where).name} or the training graph" if nodes else "the training graph"
    if nodes is None and base.features is not None:
        unknown = own.filter(pc.invert(pc.is_in(own, value_set=base_ids)))
        if len(unknown) and not rows.add_missing:
            raise InputError(
                f"{edges.where}: {len(unknown)} node(s) are not in the training graph and need features: "
                f"{listed(unknown)}; give a node table for them"
            )
    at = positions(own, base_ids)
    fresh = at < 0
    at[fresh] = n + np.arange(fresh.sum())
    ids = pa.concat_arrays([base_ids, own.filter(pa.array(fresh))])
    source, target, added = locate_ends(edges, ids, where, rows.add_missing)
    ids = pa.concat_arrays([ids, added])

    notes, warnings = [*edges.notes], list(nodes.warnings if nodes else ())
    if nodes is None and base.features is not None:
        added = ids[n:]
    if nodes is not None:
        notes = [*nodes.notes, *notes]
        again = len(at) - int(fresh.sum())
        if again:
            notes.append(f"{again} node(s) of the training graph are given again; their new features are used")
    if len(added):
        zeros = "" if base.features is None else "; their features are zero"
        warnings.append(f"{len(added)} node(s) that only edges name were added: {listed(added)}{zeros}")
    features = base.features
    if features is not None:
        features = append_zero_rows(_merge_features(base, nodes, at), len(added))
    elif nodes is not None and nodes.features is not None:
        notes.append("the training graph has no feature columns; those of the new nodes are not used")
    pairs = base.pairs()
    labels, label_names = _merge_labels(base, nodes, at, len(ids))
    merged = build_graph(
        len(ids),
        np.concatenate([pairs[:, 0], source]),
        np.concatenate([pairs[:, 1], target]),
        _merge_weights(base, edges),
        features=features,
        feature_columns=base.feature_columns,
        labels=labels,
        label_names=label_names,
        ids=ids,
        splits=base.splits,
        name=base.name,
        notes=notes,
        warnings=warnings,
    )
    added_counts = build_graph(len(ids), source, target).counts
    counts = Counts(*(a + b for a, b in zip(astuple(base.counts), astuple(added_counts), strict=True)))
    return merged.replace(counts=counts), at


def _rows_of(graph: Graph) -> TableRows:
    """A graph in the form of tables that were read."""
    ids, pairs = graph.id_array(), graph.pairs()
    ends = [pa.chunked_array([ids.take(pa.array(pairs[:, k]))]) for k in (0, 1)]
    weights = None if graph.weights is None else graph.weights[_upper(graph)]
    nodes = NodeRows(
        ids, graph.features, graph.feature_columns, graph.labels, graph.label_names, graph.name, graph.notes
    )
    return TableRows(nodes, EdgeRows(ends[0], ends[1], weights, graph.name), False, graph.name)


def _upper(graph: Graph) -> np.ndarray:
    """bool [2E]: the stored entries that `Graph.pairs` lists."""
    return np.repeat(np.arange(graph.num_nodes), graph.degrees) < graph.indices


def _merge_weights(base: Graph, edges: EdgeRows) -> np.ndarray | None:
    if base.weights is None and edges.weights is None:
        return None
    old = np.ones(base.num_edges) if base.weights is None else base.weights[_upper(base)]
    new = np.ones(len(edges.source)) if edges.weights is None else edges.weights
    return np.concatenate([old, new])


def _merge_features(base: Graph, nodes: NodeRows | None, at: np.ndarray) -> Features:
    """Rows of the base with those of the new table put in their places, then those that follow."""
    assert base.features is not None
    if nodes is None:
        return base.features
    if nodes.features is None:
        raise InputError(f"{nodes.where} has no feature columns, where the training graph has some")
    given, needed = nodes.features.shape[1], base.num_features
    if given != needed:
        raise InputError(f"{nodes.where} has {given} feature columns, where the training graph has {needed}")
    take = np.arange(max(base.num_nodes, int(at.max()) + 1))
    take[at] = base.num_nodes + np.arange(len(at))
    if sp.issparse(base.features):
        return sp.csr_array(sp.vstack([base.features, sp.csr_array(nodes.features)]).tocsr()[take])
    new = nodes.features if isinstance(nodes.features, np.ndarray) else nodes.features.toarray()
    return np.concatenate([base.features, new])[take]


def _merge_labels(
    base: Graph, nodes: NodeRows | None, at: np.ndarray, total: int
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    if nodes is None or nodes.labels is None:
        if base.labels is None:
            return None, ()
        return np.append(base.labels, np.full(total - base.num_nodes, -1)), base.label_names
    names = np.array([*base.label_names, *nodes.label_names, None], dtype=object)
    codes = np.full(total, -1)
    if base.labels is not None:
        codes[: base.num_nodes] = base.labels
    known = nodes.labels >= 0
    codes[at[known]] = nodes.labels[known] + len(base.label_names)
    return encode_labels(pa.array(names[codes], pa.string()))
