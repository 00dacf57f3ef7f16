"""Facebook100 networks in the MATLAB files of LINKX (Lim et al., 2021): one university each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from paretognn.datasets.matlab import read_mat
from paretognn.datasets.raw import check_length, checked, compact, reading
from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph

GENDER = 1


def read_facebook100(folder: Path) -> Graph:
    """Read ``data.mat``: labels are the gender (1 or 2; 0 is unknown), features the one-hot of the rest.

    Features [N, D] have one column for each value of a metadata column, in ascending order, as in PyG.
    Raises `InputError` for damaged files.
    """
    path = folder / "data.mat"
    content = read_mat(path)
    with reading(path):
        adjacency, metadata = content.get("A"), content.get("local_info")
        if not isinstance(adjacency, sp.csc_array) or not isinstance(metadata, np.ndarray):
            raise InputError("sparse matrix 'A' or table 'local_info' is missing")
        pairs = adjacency.tocoo()
        metadata = metadata.astype(np.int64)
        nodes = adjacency.shape[0]
        check_length("local_info", len(metadata), nodes)
        labels = metadata[:, GENDER] - 1
        if labels.min() < -1 or labels.max() > 1:
            raise InputError("the gender column holds values other than 0, 1 and 2")
        features = sp.hstack([_one_hot(column) for i, column in enumerate(metadata.T) if i != GENDER], format="csr")
        return build_graph(
            nodes,
            pairs.row,
            pairs.col,
            features=compact(features),
            labels=labels,
            label_names=("gender 1", "gender 2"),
        )


def _one_hot(column: np.ndarray) -> sp.csr_array:
    values, place = np.unique(column, return_inverse=True)
    rows = np.arange(len(column) + 1)
    return checked(sp.csr_array((np.ones(len(column), np.float32), place, rows), (len(column), len(values))))
