"""The import as a whole: tables in, a store out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paretognn.atomic import atomic_write, writing
from paretognn.errors import InputError, flag, require_utf8
from paretognn.graph.edge_table import open_edge_table
from paretognn.graph.importing.edges import write_edges
from paretognn.graph.importing.nodes import NodeTable
from paretognn.graph.importing.scan import HEAD, Scan, files_of, largest, opened
from paretognn.graph.importing.staging import Stages, Writer
from paretognn.graph.mapped import FACTS, PARTS, VERSION, Part, is_store, store_digest
from paretognn.graph.metis import metis_parts
from paretognn.graph.node_table import open_node_table
from paretognn.graph.table_options import TableOptions
from paretognn.lock import locked

Say = Callable[[str], None]


def import_tables(
    nodes: Path,
    edges: Path,
    out: Path,
    options: TableOptions,
    memory: int = 2 << 30,
    say: Say = lambda line: None,
    parts: int | None = None,
) -> dict[str, Any]:
    """Write the store ``out`` from a node table and an edge table, each a file or a folder of such (Parquet, CSV).

    memory : bytes that DuckDB may take; what does not fit goes to the disk beside ``out``. parts : into how many METIS
    parts, of few edges between them, the nodes are divided, for training with features split over processes; METIS has
    the edges in memory. A stage that an earlier call with the same tables has finished is not made again. Returns the
    facts of the store, with its ``summary``.

    InputError for what is wrong with the tables, an ``out`` that is there already or that another process writes.
    """
    require_utf8(out.absolute())
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        what = "already holds an imported graph" if is_store(out) else "is there already, and no folder for a new store"
        raise InputError(f"{out}: {what}; choose another --out")
    for name in ("categorical", "add_missing_nodes", "impute"):
        if getattr(options, name):
            raise InputError(
                f"{flag(name)} is for graphs in memory: an import takes numeric columns without gaps, "
                "and edges between nodes of the table"
            )
    staging = out.parent / f"{out.name}.importing"
    with locked(staging.with_name(staging.name + ".lock")) as free:
        if not free:
            raise InputError(f"{out}: another process is importing into it")
        with writing(staging):
            facts = _staged(nodes, edges, staging, options, memory, say, parts)
            if out.exists():
                out.rmdir()
            os.replace(staging, out)
    return facts


def _staged(
    nodes: Path, edges: Path, staging: Path, options: TableOptions, memory: int, say: Say, divided: int | None
) -> dict[str, Any]:
    """The store in the folder ``staging``."""
    node_files, edge_files = files_of(nodes), files_of(edges)
    seen = [[str(f.resolve()), f.stat().st_size, f.stat().st_mtime_ns] for f in (*node_files, *edge_files)]
    staging.mkdir(parents=True, exist_ok=True)
    stages = Stages(staging, {"version": VERSION, "options": asdict(options), "files": seen})
    with opened(staging, memory) as database:
        head = open_node_table(largest(node_files), options, most=HEAD)
        table = NodeTable(Scan(database, node_files, nodes, head), options)
        known = stages.done("nodes")
        if known is None:
            say("reading nodes")
            table.require_unique()
            known = stages.finish("nodes", table.write(staging))
        else:
            say("nodes: done before")
        linked = stages.done("edges")
        if linked is None:
            say("joining and sorting edges")
            with pa.ipc.open_file(pa.memory_map(str(staging / "ids.arrow"))) as content:
                ids = content.read_all()["id"]

            def is_node(text: str, ids: pa.ChunkedArray = ids) -> bool:
                return bool(pc.index(ids, text).as_py() >= 0)

            scan = Scan(database, edge_files, edges, open_edge_table(largest(edge_files), options, is_node, HEAD))
            linked = stages.finish("edges", write_edges(scan, options, known, nodes.name, staging))
    found = {**known["parts"], **linked["parts"]}
    if divided is not None:
        name = f"{divided} parts"
        made = stages.done(name)
        if made is None:
            say(f"dividing nodes into {divided} parts")
            made = stages.finish(name, _divided(staging, found, divided))
        found[PARTS] = made
    parts = {name: Part(**part) for name, part in found.items()}
    facts = {
        "version": VERSION,
        "byteorder": sys.byteorder,
        "name": nodes.name.split(".")[0] or "graph",
        "digest": store_digest(parts),
        "feature_columns": None if not known["features"] else [[name, None] for name in known["features"]],
        "label_names": known["label_names"],
        "counts": linked["counts"],
        "warnings": linked["warnings"],
        "parts": {name: asdict(part) for name, part in parts.items()},
    }
    facts["summary"] = _summary(facts, known, linked)
    with atomic_write(staging / FACTS) as aside:
        aside.write_text(json.dumps(facts, ensure_ascii=False, indent=1), encoding="utf-8")
    stages.file.unlink()
    return facts


def _divided(folder: Path, found: dict[str, Any], count: int) -> dict[str, Any]:
    indptr, indices = (
        np.fromfile(folder / found[name]["file"], found[name]["dtype"]) for name in ("indptr", "indices")
    )
    with Writer(folder / f"{PARTS}.bin", "int32") as writer:
        writer.write(metis_parts(indptr, indices, count))
        return writer.part()


def _summary(facts: dict[str, Any], nodes: dict[str, Any], edges: dict[str, Any]) -> dict[str, Any]:
    """As `paretognn.graph.summarise`, but for the components, which would need the whole graph in memory."""
    n, sizes = nodes["nodes"], nodes["class_sizes"]
    pairs = n * (n - 1) // 2
    counts = facts["counts"]
    notes = []
    if counts["one_way"]:
        notes.append(
            f"{counts['one_way']:,} of {edges['edges']:,} pairs are given in one direction only; read as undirected"
        )
    labels = None
    if sizes is not None:
        labels = {
            "classes": len(sizes),
            "labelled": sum(sizes),
            "unlabelled": n - sum(sizes),
            "class_sizes": dict(zip(nodes["label_names"], sizes, strict=True)),
            "edge_homophily": edges["edge_homophily"],
            "edge_homophily_by_chance": edges["edge_homophily_by_chance"],
        }
    return {
        "name": facts["name"],
        "nodes": n,
        "edges": edges["edges"],
        "rows_read": counts["rows"],
        **{name: counts[name] for name in ("self_loops", "duplicates", "one_way")},
        **{name: edges[name] for name in ("weighted", "isolated_nodes")},
        "components": None,
        "largest_component": None,
        "density": edges["edges"] / pairs if pairs else 0.0,
        **{name: edges[name] for name in ("mean_degree", "median_degree", "hub_share", "max_degree")},
        "features": nodes["kind"],
        "labels": labels,
        "splits": 0,
        "notes": notes,
        "warnings": facts["warnings"],
    }
