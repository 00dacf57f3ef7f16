"""Small raw files in every layout, made on the spot."""

from __future__ import annotations

import gzip
import json
import pickle
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from paretognn.datasets import dataset_entry

SPLITS = 10


@pytest.fixture(scope="session")
def small_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with a small graph under the name of one data set of each layout. Not to be written to."""
    root = tmp_path_factory.mktemp("small")
    for name, write in WRITERS.items():
        folder = root / dataset_entry(name).folders[0]
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, np.random.default_rng(len(name)))
    return root


def edges_of(rng: np.random.Generator, nodes: int, rows: int) -> np.ndarray:
    """Rows with repeats, both directions and self-loops; every node has one, since PyG infers sizes."""
    some = rng.integers(0, nodes, (rows, 2))
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes], axis=1)
    return np.concatenate([some, some[: rows // 3, ::-1], some[: rows // 4], ring, [[3, 3]]])


def masks_of(rng: np.random.Generator, nodes: int) -> list[np.ndarray]:
    part = rng.integers(0, 4, nodes)
    return [part == i for i in range(3)]


def planetoid(folder: Path, rng: np.random.Generator, prefix: str = "cora", gap: int = 0) -> None:
    known, tested, width, classes, train = 520, 30, 12, 3, 9
    nodes = known + tested + gap
    x = sp.csr_matrix((rng.random((known, width)) < 0.2).astype(np.float32))
    tx = sp.csr_matrix((rng.random((tested, width)) < 0.2).astype(np.float32))
    ally, ty = (np.eye(classes, dtype=np.int32)[rng.integers(0, classes, n)] for n in (known, tested))
    index = known + np.concatenate([[0, nodes - known - 1], 1 + rng.permutation(nodes - known - 2)[: tested - 2]])
    graph: defaultdict[int, list[int]] = defaultdict(list)
    for node in range(nodes):
        graph[node] = []
    for source, target in edges_of(rng, nodes, 900).tolist():
        graph[source].append(target)
        graph[target].append(source)
    parts = {"x": x[:train], "allx": x, "tx": tx, "y": ally[:train], "ally": ally, "ty": ty, "graph": graph}
    for part, value in parts.items():
        (folder / f"ind.{prefix}.{part}").write_bytes(pickle.dumps(value, protocol=2))
    (folder / f"ind.{prefix}.test.index").write_text("".join(f"{i}\n" for i in rng.permutation(index)))


def citeseer(folder: Path, rng: np.random.Generator) -> None:
    planetoid(folder, rng, "citeseer", gap=4)


def gnn_benchmark(folder: Path, rng: np.random.Generator) -> None:
    nodes, edges = 25, edges_of(rng, 25, 40)
    adjacency = sp.csr_matrix((np.ones(len(edges), np.float32), edges.T), (nodes, nodes))
    attributes = sp.csr_matrix(rng.poisson(0.15, (nodes, 30)).astype(np.float32))
    arrays = {"labels": rng.permutation(nodes) % 4, "class_names": np.array([["a"], {}], dtype=object)}
    for kind, matrix in (("adj", adjacency), ("attr", attributes)):
        arrays |= {f"{kind}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(folder / "ms_academic_cs.npz", **arrays)


def geom_gcn(folder: Path, rng: np.random.Generator, prefix: str = "chameleon", indexed: bool = False) -> None:
    nodes, width = 24, 9
    lines = ["node_id\tfeature\tlabel"]
    for node in rng.permutation(nodes) if indexed else range(nodes):
        row = np.flatnonzero(rng.random(width) < 0.4) if indexed else (rng.random(width) < 0.15).astype(int)
        row = row if len(row) else [width - 1]
        lines.append(f"{node}\t{','.join(map(str, row))}\t{node % 3}")
    (folder / "out1_node_feature_label.txt").write_text("\n".join(lines) + "\n")
    edges = "".join(f"{a}\t{b}\n" for a, b in edges_of(rng, nodes, 40))
    (folder / "out1_graph_edges.txt").write_text("node_id\tnode_id\n" + edges)
    for index in range(SPLITS):
        names = ("train_mask", "val_mask", "test_mask")
        masks = dict(zip(names, (m.astype(np.uint8) for m in masks_of(rng, nodes)), strict=True))
        np.savez(folder / f"{prefix}_split_0.6_0.2_{index}.npz", **masks)


def actor(folder: Path, rng: np.random.Generator) -> None:
    geom_gcn(folder, rng, "film", indexed=True)


def texas(folder: Path, rng: np.random.Generator) -> None:
    geom_gcn(folder, rng, "texas")


def minesweeper(folder: Path, rng: np.random.Generator) -> None:
    nodes = 20
    masks = [np.stack(m) for m in zip(*(masks_of(rng, nodes) for _ in range(SPLITS)), strict=True)]
    np.savez(
        folder / "minesweeper.npz",
        node_features=rng.random((nodes, 5)).astype(np.float32),
        node_labels=np.arange(nodes) % 2,
        edges=edges_of(rng, nodes, 30),
        **dict(zip(("train_masks", "val_masks", "test_masks"), masks, strict=True)),
    )


def airports(folder: Path, rng: np.random.Generator) -> None:
    ids = rng.choice(np.arange(10_000, 20_000), 15, replace=False)
    table = "".join(f"{i} {k % 4}\n" for k, i in enumerate(ids))
    (folder / "labels-brazil-airports.txt").write_text("node label\n" + table)
    edges = "".join(f"{a} {b}\n" for a, b in ids[edges_of(rng, 15, 30)])
    (folder / "brazil-airports.edgelist").write_text(edges)


def facebook100(folder: Path, rng: np.random.Generator) -> None:
    nodes, edges = 18, edges_of(rng, 18, 30)
    adjacency = sp.csc_matrix((np.ones(len(edges)), edges.T), (nodes, nodes))
    adjacency = ((adjacency + adjacency.T) > 0).astype(float).tocsc()
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    info = rng.integers(0, 3, (nodes, 7)).astype(np.uint16)
    info[:, 4] *= 1000
    scipy.io.savemat(folder / "data.mat", {"A": adjacency, "local_info": info})


def wikics(folder: Path, rng: np.random.Generator) -> None:
    nodes, edges = 16, edges_of(rng, 16, 30)
    splits = [rng.integers(0, 2, nodes) for _ in range(20)]
    test = rng.random(nodes) < 0.5
    content = {
        "features": rng.normal(size=(nodes, 6)).tolist(),
        "labels": (np.arange(nodes) % 5).tolist(),
        "links": [edges[edges[:, 0] == node, 1].tolist() for node in range(nodes)],
        "train_masks": [((s == 0) & ~test).tolist() for s in splits],
        "val_masks": [((s == 1) & ~test).tolist() for s in splits],
        "stopping_masks": [((s == 1) & ~test).tolist() for s in splits],
        "test_mask": test.tolist(),
    }
    (folder / "data.json").write_text(json.dumps(content))


def ogb(folder: Path, rng: np.random.Generator) -> None:
    nodes = 14
    tables = {
        "raw/edge": edges_of(rng, nodes, 20),
        "raw/node-feat": rng.normal(size=(nodes, 4)).astype(np.float32),
        "raw/node-label": np.arange(nodes)[:, None] % 3,
        "raw/num-node-list": np.array([[nodes]]),
        "split/time/train": np.array([[0], [2], [4]]),
        "split/time/valid": np.array([[1]]),
        "split/time/test": np.array([[3], [5], [13]]),
    }
    for name, table in tables.items():
        path = folder / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("".join(",".join(map(str, row)) + "\n" for row in table).encode()))


WRITERS = {
    "cora": planetoid,
    "citeseer": citeseer,
    "coauthor-cs": gnn_benchmark,
    "chameleon": geom_gcn,
    "actor": actor,
    "texas": texas,
    "minesweeper": minesweeper,
    "airports-brazil": airports,
    "reed98": facebook100,
    "wiki-cs": wikics,
    "ogbn-arxiv": ogb,
}
