"""Amazon and Coauthor (Shchur et al., 2018), and other npz of scipy's parts ``adj_*``, ``attr_*``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from paretognn.datasets.raw import check_length, checked, compact, load_npz, number_names, reading
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph

PARTS = ("data", "indices", "indptr", "shape")


def read_gnn_benchmark(folder: Path, file: str, *, binary: bool = True) -> Graph:
    """Read one npz straight to sparse rows.

    binary : set positive feature values to 1, as PyG does; False keeps the counts that the file holds.

    Raises `InputError` for arrays that are missing, pickled or inconsistent.
    """
    path = folder / file
    keys = tuple(f"{kind}_{part}" for kind in ("adj", "attr") for part in PARTS)
    arrays = load_npz(path, (*keys, "labels"), optional=("class_names",))
    with reading(path):
        adjacency, features = (_csr(arrays, kind) for kind in ("adj", "attr"))
        nodes = adjacency.shape[0]
        check_length("features", features.shape[0], nodes)
        check_length("labels", len(arrays["labels"]), nodes)
        labels = arrays["labels"].astype(np.int64)
        names = number_names(labels)
        given = arrays.get("class_names")
        if given is not None and given.shape == (len(names),):
            names = tuple(str(name) for name in given)
        notes = []
        if (features.data > 1).any():
            notes.append(
                "feature counts set to 1 (binary=False keeps them)"
                if binary
                else "features are the file's counts"
            )
        if binary:
            features.data = np.where(features.data > 0, 1, features.data)
        pairs = adjacency.tocoo()
        return build_graph(
            nodes,
            pairs.row,
            pairs.col,
            features=compact(features),
            labels=labels,
            label_names=names,
            notes=notes,
        )


def _csr(arrays: dict[str, np.ndarray], kind: str) -> sp.csr_array:
    data, indices, indptr, shape = (arrays[f"{kind}_{part}"] for part in PARTS)
    return checked(sp.csr_array((data, indices, indptr), shape=tuple(int(n) for n in shape)))
