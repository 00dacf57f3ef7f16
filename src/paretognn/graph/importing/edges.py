"""The edge table: joined with the nodes, sorted outside memory, streamed into compressed rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError
from paretognn.graph.edge_table import edge_columns
from paretognn.graph.graph import Counts
from paretognn.graph.ids import listed
from paretognn.graph.importing.scan import IDS, Scan, batches
from paretognn.graph.importing.staging import Writer
from paretognn.graph.numbers import NOT_FINITE
from paretognn.graph.summary import hub_share
from paretognn.graph.table_options import TableOptions

_MOST = 1 << 31
"""Nodes from which on a target does not fit into 32 bits, nor a pair and its direction into 63."""


def write_edges(
    scan: Scan, options: TableOptions, nodes: dict[str, Any], nodes_name: str, folder: Path
) -> dict[str, Any]:
    """The files of the store that are the edges', and what is known of them. ``nodes`` is what `NodeTable.write`
    returned; ``nodes_name`` names their table in an error."""
    n = nodes["nodes"]
    if n >= _MOST:
        raise InputError(f"{nodes_name}: {n:,} nodes; a store has at most {_MOST - 1:,}")
    source, target, weight = edge_columns(scan.head, options)
    for end in (source, target):
        scan.require(end, IDS, "is no end of an edge: text and whole numbers are")
    rows, loops, zero = _join(scan, source, target, weight, n, nodes_name, folder)
    labels = np.fromfile(folder / "labels.bin", np.int64) if "labels" in nodes["parts"] else None
    pairs = _Pairs(n, labels, weight is not None)
    # One number a direction of a row: the pair, and whether it is as it was given. Sorted, equal pairs are neighbours.
    kept = "s <> t" + (" AND w <> 0" if weight else "")
    order = (
        f"SELECT (s * {n} + t) * 2 AS k, w FROM joined WHERE {kept} UNION ALL "
        f"SELECT (t * {n} + s) * 2 + 1 AS k, w FROM joined WHERE {kept} ORDER BY k"
    )
    with Writer(folder / "indices.bin", "int32") as indices, Writer(folder / "weights.bin", "float32") as weights:
        for targets, values in pairs.stream(batches(scan.database, order)):
            indices.write(targets)
            if values is not None:
                weights.write(values)
        parts = {"indices": indices.part()}
        if weight is not None and not pairs.all_one:
            parts["weights"] = weights.part()
    if "weights" not in parts:
        weights.path.unlink()
    with Writer(folder / "indptr.bin", "int64") as indptr:
        indptr.write(np.concatenate([[0], np.cumsum(pairs.degrees)]))
        parts["indptr"] = indptr.part()
    edges = indices.rows // 2
    warnings = [f"{zero} edge rows have weight 0 and are not edges"] if zero else []
    if pairs.conflicting:
        warnings.append(f"{pairs.conflicting // 2} edge(s) were given different weights; their mean is used")
    if not edges:
        warnings.append("the graph has no edges")
    degrees = pairs.degrees
    return {
        "parts": parts,
        "counts": asdict(Counts(rows, loops, rows - loops - zero - edges, pairs.one_way // 2)),
        "warnings": warnings,
        "edges": edges,
        "weighted": "weights" in parts,
        "isolated_nodes": int((degrees == 0).sum()),
        "mean_degree": float(degrees.mean()),
        "median_degree": float(np.median(degrees)),
        "max_degree": int(degrees.max()),
        "hub_share": hub_share(degrees),
        "edge_homophily": pairs.alike / pairs.known if pairs.known else None,
        "edge_homophily_by_chance": pairs.by_chance(),
    }


def _join(
    scan: Scan, source: str, target: str, weight: str | None, n: int, nodes_name: str, folder: Path
) -> tuple[int, int, int]:
    """Make the table ``joined`` of the places s, t of both ends and the weight w; how many rows it has, of those the
    self-loops, and of the others those of weight 0. InputError for an end that is no node, and for a weight that is
    none."""
    database = scan.database
    with pa.ipc.open_file(pa.memory_map(str(folder / "ids.arrow"))) as content:
        places = pa.table({"id": content.read_all()["id"], "place": np.arange(n)})
    database.register("places", places)
    database.execute("CREATE TEMP TABLE ids AS SELECT id, place FROM places")
    database.unregister("places")
    ends = f"{scan.column(source)} AS s, {scan.column(target)} AS t"
    number = "NULL::DOUBLE" if weight is None else f"CAST({scan.number(weight)} AS DOUBLE)"
    database.execute(
        f"CREATE TEMP TABLE joined AS SELECT a.place AS s, b.place AS t, w FROM (SELECT {ends}, {number} AS w "
        f"FROM {scan.sql}) e LEFT JOIN ids a ON e.s = a.id LEFT JOIN ids b ON e.t = b.id"
    )
    [(rows, lost, loops, zero, bad)] = database.execute(
        "SELECT count(*), count(*) FILTER (s IS NULL OR t IS NULL), count(*) FILTER (s = t), "
        "count(*) FILTER (w = 0 AND s <> t), count(*) FILTER (w IS NULL OR NOT isfinite(w) OR w < 0) FROM joined"
    ).fetchall()
    if lost:
        found = database.execute(
            f"WITH ends AS (SELECT {ends} FROM {scan.sql}), "
            "named AS (SELECT s AS id FROM ends UNION SELECT t FROM ends) "
            "SELECT id FROM named ANTI JOIN ids USING (id) ORDER BY id LIMIT 3"
        ).fetchall()
        shown = [each for (each,) in found if each is not None]
        what = f"ends that are not in {nodes_name}: {listed(pa.array(shown))}" if shown else "a blank end"
        raise InputError(f"{scan.where}: {lost} row(s) have {what}")
    if weight is not None and bad:
        raise InputError(f"{scan.where}: {bad} weight(s) in column '{weight}' are negative, blank, {NOT_FINITE}")
    return rows, loops, zero


class _Pairs:
    """Sorted directions of rows, streamed into the entries of a matrix: repeats become one, with the mean weight."""

    def __init__(self, n: int, labels: np.ndarray | None, weighted: bool) -> None:
        self.n, self.labels, self.weighted = n, labels, weighted
        self.degrees = np.zeros(n, dtype=np.int64)
        self.one_way = self.conflicting = self.alike = self.known = 0
        self.all_one = True
        self.ends = None if labels is None else np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int64)

    def stream(self, sorted_batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Targets of entries in order, and their weights. The rows of the last pair wait for the next batch."""
        keys, weights = np.empty(0, np.int64), np.empty(0)
        for batch in sorted_batches:
            keys = np.concatenate([keys, batch.column(0).to_numpy()])
            if self.weighted:
                weights = np.concatenate([weights, batch.column(1).to_numpy(zero_copy_only=False)])
            whole = int(np.searchsorted(keys >> 1, keys[-1] >> 1))
            if whole:
                yield self._entries(keys[:whole], weights[:whole])
                keys, weights = keys[whole:], weights[whole:]
        if len(keys):
            yield self._entries(keys, weights)

    def _entries(self, keys: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        pair, turned = keys >> 1, keys & 1
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        times = np.diff(first, append=len(pair))
        source, target = np.divmod(pair[first], self.n)
        low = int(source[0])
        counts = np.bincount(source - low)
        self.degrees[low : low + len(counts)] += counts
        given = np.add.reduceat(turned, first)
        self.one_way += int(((given == 0) | (given == times)).sum())
        if self.labels is not None and self.ends is not None:
            a, b = self.labels[source], self.labels[target]
            both = (a >= 0) & (b >= 0)
            self.known += int(both.sum())
            self.alike += int((a[both] == b[both]).sum())
            self.ends += np.bincount(a[both], minlength=len(self.ends))
        if not self.weighted:
            return target, None
        mean = np.add.reduceat(weights, first) / times
        spread = np.abs(weights - np.repeat(mean, times)) > 1e-6 * np.maximum(np.repeat(mean, times), 1e-30)
        self.conflicting += int(np.logical_or.reduceat(spread, first).sum())
        self.all_one = self.all_one and bool((mean == 1).all())
        return target, mean

    def by_chance(self) -> float | None:
        """Edge homophily where each end is drawn anew from the ends of all edges."""
        if self.ends is None or not self.known:
            return None
        return float(((self.ends / self.ends.sum()) ** 2).sum())
