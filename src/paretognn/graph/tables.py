"""A graph from tables: one of nodes, one of edges, joined by the ids as they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.edge_table import EdgeRows, read_edge_rows
from paretognn.graph.graph import FeatureColumn, Features, Graph
from paretognn.graph.ids import first_appearance, listed, positions
from paretognn.graph.node_table import NodeRows, read_node_rows
from paretognn.graph.table_options import TableOptions

NO_FEATURES = "no feature columns: structural features will be used"


@dataclass(frozen=True, eq=False)
class TableRows:
    """Tables read and checked, their edges not yet joined to nodes. ``nodes`` is None for edges alone."""

    nodes: NodeRows | None
    edges: EdgeRows
    add_missing: bool
    name: str


def read_rows(
    nodes: Path | None,
    edges: Path,
    options: TableOptions | None = None,
    *,
    schema: Sequence[FeatureColumn] | None = None,
    means: Mapping[str, float] | None = None,
) -> TableRows:
    """Read both tables; with ``schema``, the features are exactly those columns, in that order, and ``means``, by
    column, are what ``impute="mean"`` fills in.

    This is the form in which new nodes are read, since their edges may reach to nodes of the training graph:
    see `merge_graphs`. Raises InputError for whatever is wrong with either file.
    """
    options = options or TableOptions()
    node_rows = None if nodes is None else read_node_rows(Path(nodes), options, schema, means)

    def is_node(text: str) -> bool:
        return node_rows is not None and pc.index(node_rows.ids, text).as_py() >= 0

    edge_rows = read_edge_rows(Path(edges), options, is_node)
    name = Path(edges if nodes is None else nodes).name.split(".")[0]
    return TableRows(node_rows, edge_rows, options.add_missing_nodes, name or "graph")


def read_tables(
    nodes: Path | None,
    edges: Path,
    options: TableOptions | None = None,
    *,
    schema: Sequence[FeatureColumn] | None = None,
) -> Graph:
    """The graph of two tables, or of an edge table alone.

    Its nodes are the rows of the node table in their order, isolated ones included; of edges alone, the ends
    in order of first appearance. Raises InputError for an edge to a node that the node table lacks, unless
    ``options.add_missing_nodes``: such nodes then follow the table's, with zero features.
    """
    rows = read_rows(nodes, edges, options, schema=schema)
    if rows.nodes is None:
        if not len(rows.edges.source):
            raise InputError(f"{rows.edges.where} has a header and no rows")
        ids = first_appearance(rows.edges.source, rows.edges.target)
        return build_graph(
            len(ids),
            positions(rows.edges.source, ids),
            positions(rows.edges.target, ids),
            rows.edges.weights,
            ids=ids,
            name=rows.name,
            notes=(*rows.edges.notes, f"no node table; {NO_FEATURES}"),
        )
    table = rows.nodes
    source, target, added = locate_ends(rows.edges, table.ids, Path(table.where).name, rows.add_missing)
    warnings = table.warnings
    if len(added):
        zeros = "" if table.features is None else "; their features are zero"
        warnings += (f"{len(added)} node(s) that only edges name were added: {listed(added)}{zeros}",)
    labels = table.labels
    notes = (*table.notes, *rows.edges.notes)
    return build_graph(
        len(table.ids) + len(added),
        source,
        target,
        rows.edges.weights,
        features=None if table.features is None else append_zero_rows(table.features, len(added)),
        feature_columns=table.feature_columns,
        labels=None if labels is None else np.append(labels, np.full(len(added), -1)),
        label_names=table.label_names,
        ids=pa.concat_arrays([table.ids, added]),
        name=rows.name,
        notes=notes if table.features is not None else (*notes, NO_FEATURES),
        warnings=warnings,
    )


def locate_ends(
    edges: EdgeRows, ids: pa.StringArray, where: str, add_missing: bool
) -> tuple[np.ndarray, np.ndarray, pa.StringArray]:
    """Positions [R] of both ends in ``ids`` followed by the third result, the ids that only edges name.

    Raises InputError where there are such ids and ``add_missing`` is not set; ``where`` names the ids' home.
    """
    source, target = positions(edges.source, ids), positions(edges.target, ids)
    lost = (source < 0) | (target < 0)
    if not lost.any():
        return source, target, pa.array([], pa.string())
    mask = pa.array(lost)
    ends = first_appearance(edges.source.filter(mask), edges.target.filter(mask))
    missing = ends.filter(pc.invert(pc.is_in(ends, value_set=ids)))
    if not add_missing:
        count = len(missing)
        said = "edge endpoint is" if count == 1 else "edge endpoints are"
        bare = pc.utf8_trim_whitespace(ids)
        trimmed = pc.any(pc.is_in(pc.utf8_trim_whitespace(missing), value_set=bare)).as_py()
        spaces = " (ids keep their spaces, and these differ by them)" if trimmed else ""
        raise InputError(
            f"{edges.where}: {count} {said} not in {where}: {listed(missing)}{spaces}; "
            "use --add-missing-nodes to add such nodes"
        )
    all_ids = pa.concat_arrays([ids, missing])
    return positions(edges.source, all_ids), positions(edges.target, all_ids), missing


def append_zero_rows(features: Features, count: int) -> Features:
    """``features`` [N, D] with ``count`` further rows of zeros."""
    if count == 0:
        return features
    shape = (count, features.shape[1])
    if sp.issparse(features):
        return sp.csr_array(sp.vstack([features, sp.csr_array(shape, dtype=np.float32)]))
    return np.vstack([features, np.zeros(shape, dtype=np.float32)])
