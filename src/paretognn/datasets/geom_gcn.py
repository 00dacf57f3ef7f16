"""The text layout of Geom-GCN (Pei et al., 2020): chameleon, squirrel, actor, texas, wisconsin, cornell."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import scipy.sparse as sp

from paretognn.datasets.duplicates import with_duplicates_counted
from paretognn.datasets.raw import (
    check_length,
    compact,
    load_npz,
    number_names,
    read_table,
    reading,
    split_of,
)
from paretognn.errors import InputError
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph

NODES, EDGES = "out1_node_feature_label.txt", "out1_graph_edges.txt"


def split_file(prefix: str, index: int) -> str:
    return f"{prefix}_split_0.6_0.2_{index}.npz"


def read_geom_gcn(folder: Path, prefix: str, *, indexed: bool = False) -> Graph:
    """Read the node table, the edges and the ten public splits.

    indexed : the feature column lists the indices of non-zero features (actor) rather than every value.

    Raises `InputError` for files that are damaged or do not fit together.
    """
    path = folder / NODES
    with reading(path):
        ids, features, labels = (_indexed_table if indexed else _full_table)(path)
        nodes = len(ids)
        order = np.argsort(ids, kind="stable")
        if not np.array_equal(ids[order], np.arange(nodes)):
            raise InputError(f"node ids are not 0 to {nodes - 1}, each once")
        features, labels = features[order], labels[order]
        names = number_names(labels)
    edges = read_table(folder / EDGES, 2, delimiter="\t", skip=1)
    splits = []
    for index in range(10):
        file = folder / split_file(prefix, index)
        masks = load_npz(file, ("train_mask", "val_mask", "test_mask"))
        with reading(file):
            check_length("train_mask", len(masks["train_mask"]), nodes)
            splits.append(split_of(masks["train_mask"], masks["val_mask"], masks["test_mask"]))
    with reading(folder):
        graph = build_graph(
            nodes,
            edges[:, 0],
            edges[:, 1],
            features=compact(features),
            labels=labels,
            label_names=names,
            splits=tuple(splits),
        )
    return with_duplicates_counted(graph)


def _full_table(path: Path) -> tuple[np.ndarray, sp.csr_array, np.ndarray]:
    """Ids [N], features [N, D], labels [N] from ``id <tab> v,v,...,v <tab> label``."""
    body = path.read_bytes().partition(b"\n")[2]
    # With one delimiter throughout it is an ordinary table, which Arrow parses far faster than Python.
    body = body.replace(b"\t", b",")
    width = body.partition(b"\n")[0].count(b",") + 1
    if width < 3:
        raise InputError("a row needs an id, features and a label")
    names = [str(i) for i in range(width)]
    kinds = dict.fromkeys(names, pa.float32()) | {names[0]: pa.int64(), names[-1]: pa.int64()}
    table = pacsv.read_csv(
        BytesIO(body),
        read_options=pacsv.ReadOptions(column_names=names, block_size=1 << 24),
        parse_options=pacsv.ParseOptions(quote_char=False),
        convert_options=pacsv.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False),
    )
    columns = [column.to_numpy() for column in table.columns]
    return columns[0], sp.csr_array(np.stack(columns[1:-1], axis=1)), columns[-1]


def _indexed_table(path: Path) -> tuple[np.ndarray, sp.csr_array, np.ndarray]:
    """Ids [N], binary features [N, largest index + 1], labels [N] from ``id <tab> i,i,...,i <tab> label``."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]
    ids = np.array([int(row[0]) for row in rows], dtype=np.int64)
    labels = np.array([int(row[2]) for row in rows], dtype=np.int64)
    lists = [[int(i) for i in row[1].split(",")] for row in rows]
    columns = np.array([i for row in lists for i in row], dtype=np.int64)
    if not len(columns) or columns.min() < 0 or columns.max() > 10_000_000:
        raise InputError("feature indices are missing or out of range")
    owners = np.repeat(np.arange(len(rows)), [len(row) for row in lists])
    shape = (len(rows), int(columns.max()) + 1)
    features = sp.csr_array((np.ones(len(columns), dtype=np.float32), (owners, columns)), shape=shape)
    features.data[:] = 1  # an index named twice is still one word
    return ids, features, labels
