"""A graph kept in a folder: arrays in npz, ids in Parquet, the rest in JSON. No pickle."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from paretognn.atomic import atomic_write
from paretognn.errors import InputError
from paretognn.graph.graph import Counts, FeatureColumn, Graph, Split
from paretognn.graph.intact import check_intact
from paretognn.graph.write_table import write_parquet

_VERSION = 1
_PARTS = ("train", "val", "test")


def save_graph(graph: Graph, folder: str | os.PathLike[str]) -> None:
    """Write everything in ``graph`` to ``arrays.npz``, ``ids.parquet`` (where it has ids) and ``graph.json``,
    each written aside and renamed, the last one last."""
    folder = Path(folder)
    arrays: dict[str, Any] = {"indptr": graph.indptr, "indices": graph.indices}
    arrays |= {name: getattr(graph, name) for name in ("weights", "labels") if getattr(graph, name) is not None}
    if isinstance(graph.features, np.ndarray):
        arrays["features"] = graph.features
    elif graph.features is not None:
        arrays |= {f"features_{part}": getattr(graph.features, part) for part in ("data", "indices", "indptr")}
    for k, split in enumerate(graph.splits):
        arrays |= {f"split_{k}_{part}": getattr(split, part) for part in _PARTS}
    with atomic_write(folder / "arrays.npz") as aside:
        np.savez(aside, **arrays)
    if graph.ids is not None:
        with atomic_write(folder / "ids.parquet") as aside:
            write_parquet(pa.table({"id": graph.ids}), aside)
    columns = graph.feature_columns
    state = {
        "version": _VERSION,
        "digest": graph.digest(),
        "name": graph.name,
        "num_features": graph.num_features,
        "has_ids": graph.ids is not None,
        "feature_columns": None if columns is None else [[c.source, c.category] for c in columns],
        "label_names": graph.label_names,
        "splits": len(graph.splits),
        "counts": asdict(graph.counts),
        "notes": graph.notes,
        "warnings": graph.warnings,
    }
    with atomic_write(folder / "graph.json") as aside:
        aside.write_text(json.dumps(state, ensure_ascii=False, indent=1), encoding="utf-8")


def load_graph(folder: str | os.PathLike[str]) -> Graph:
    """The graph that `save_graph` wrote, the same to the last bit.

    Raises InputError, with the path, where a file is missing or damaged, where the files do not belong together (by
    their digest) and where they hold no graph (`check_intact`).
    """
    folder = Path(folder)
    for name in ("graph.json", "arrays.npz"):
        if not (folder / name).is_file():
            raise InputError(f"{folder / name} does not exist: there is no stored graph in {folder}")
    try:
        state = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
        graph = _assemble(state, folder)
        check_intact(graph)
        intact = graph.digest() == state["digest"]
    except Exception as error:
        # Damaged bytes raise whatever the JSON, zip, npy and Parquet readers have.
        line = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise InputError(f"{folder}: the stored graph is corrupt: {line}") from None
    if not intact:
        raise InputError(f"{folder}: the stored graph is corrupt: its files do not match their digest")
    return graph


def _assemble(state: dict[str, Any], folder: Path) -> Graph:
    if state["version"] != _VERSION:
        raise InputError(f"version {state['version']} of the format is not known here")
    with np.load(folder / "arrays.npz", allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    nodes = len(arrays["indptr"]) - 1
    features = arrays.get("features")
    if features is None and "features_data" in arrays:
        parts = tuple(arrays[f"features_{part}"] for part in ("data", "indices", "indptr"))
        features = sp.csr_array(parts, shape=(nodes, state["num_features"]))
    ids = None
    if state["has_ids"]:
        with (folder / "ids.parquet").open("rb") as file:
            ids = pq.read_table(file)["id"].combine_chunks()
    columns = state["feature_columns"]
    return Graph(
        indptr=arrays["indptr"],
        indices=arrays["indices"],
        weights=arrays.get("weights"),
        features=features,
        feature_columns=None if columns is None else tuple(FeatureColumn(*column) for column in columns),
        labels=arrays.get("labels"),
        label_names=tuple(state["label_names"]),
        ids=ids,
        splits=tuple(Split(*(arrays[f"split_{k}_{part}"] for part in _PARTS)) for k in range(state["splits"])),
        name=state["name"],
        counts=Counts(**state["counts"]),
        notes=tuple(state["notes"]),
        warnings=tuple(state["warnings"]),
    )
