"""Each reader holds the values of PyG's own class on the same raw files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric import datasets as pyg
from torch_geometric.data import Data
from torch_geometric.utils import remove_self_loops, to_undirected

from paretognn.datasets import dataset_entry, load_dataset
from paretognn.graph.graph import Graph

CLASSES: dict[str, Callable[[Path], object]] = {
    "cora": lambda root: pyg.Planetoid(root / "Planetoid", "Cora"),
    "citeseer": lambda root: pyg.Planetoid(root / "Planetoid", "CiteSeer"),
    "pubmed": lambda root: pyg.Planetoid(root / "Planetoid", "PubMed"),
    "amazon-photo": lambda root: pyg.Amazon(root / "Amazon", "Photo"),
    "amazon-computers": lambda root: pyg.Amazon(root / "Amazon", "Computers"),
    "coauthor-cs": lambda root: pyg.Coauthor(root / "Coauthor", "CS"),
    "chameleon": lambda root: pyg.WikipediaNetwork(root / "WikipediaNetwork", "chameleon"),
    "squirrel": lambda root: pyg.WikipediaNetwork(root / "WikipediaNetwork", "squirrel"),
    "actor": lambda root: pyg.Actor(root / "Actor"),
    "texas": lambda root: pyg.WebKB(root / "WebKB", "texas"),
    "wisconsin": lambda root: pyg.WebKB(root / "WebKB", "wisconsin"),
    "cornell": lambda root: pyg.WebKB(root / "WebKB", "cornell"),
    "minesweeper": lambda root: pyg.HeterophilousGraphDataset(root / "HeterophilousGraphDataset", "minesweeper"),
    "airports-usa": lambda root: pyg.Airports(root / "Airports", "usa"),
    "airports-europe": lambda root: pyg.Airports(root / "Airports", "europe"),
    "airports-brazil": lambda root: pyg.Airports(root / "Airports", "brazil"),
    "reed98": lambda root: pyg.LINKXDataset(root / "LINKX", "reed98"),
    "amherst41": lambda root: pyg.LINKXDataset(root / "LINKX", "amherst41"),
    "johnshopkins55": lambda root: pyg.LINKXDataset(root / "LINKX", "johnshopkins55"),
    "wiki-cs": lambda root: pyg.WikiCS(root / "WikiCS"),
}
SMALL = [
    "cora", "citeseer", "coauthor-cs", "chameleon", "actor", "texas", "minesweeper", "airports-brazil",
    "reed98", "wiki-cs",
]  # fmt: skip


def pyg_data(name: str, root: Path, tmp_path: Path) -> Data:
    """PyG's own reading of linked raw files: it writes its cache beside them."""
    folder = dataset_entry(name).folders[0]
    link = tmp_path / folder
    link.parent.mkdir(parents=True)
    link.symlink_to(root / folder, target_is_directory=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CLASSES[name](tmp_path)[0]  # type: ignore[index]


def assert_same(graph: Graph, data: Data) -> None:
    assert graph.num_nodes == data.num_nodes
    features = data.x.numpy().astype(np.float32)
    if sp.issparse(graph.features):
        assert graph.features.nnz == np.count_nonzero(features)
        assert (graph.features != sp.csr_array(features)).nnz == 0
    else:
        np.testing.assert_array_equal(graph.features, features)
    np.testing.assert_array_equal(graph.labels, data.y.numpy())
    edges = to_undirected(remove_self_loops(data.edge_index)[0], num_nodes=data.num_nodes)
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    np.testing.assert_array_equal(np.stack([rows, graph.indices]), edges.numpy())
    assert_same_splits(graph, data)


def assert_same_splits(graph: Graph, data: Data) -> None:
    if "train_mask" not in data:
        assert graph.splits == ()
        return
    columns = {name: data[name].reshape(data.num_nodes, -1) for name in ("train_mask", "val_mask", "test_mask")}
    assert len(graph.splits) == columns["train_mask"].shape[1]
    for index, split in enumerate(graph.splits):
        for part, mask in zip((split.train, split.val, split.test), columns.values(), strict=True):
            column = mask[:, index] if mask.shape[1] > 1 else mask[:, 0]
            np.testing.assert_array_equal(part, torch.nonzero(column)[:, 0].numpy())


@pytest.mark.parametrize("name", SMALL)
def test_small_files(name: str, small_root: Path, tmp_path: Path) -> None:
    assert_same(load_dataset(name, small_root), pyg_data(name, small_root, tmp_path))


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "wiki-cs"])
def test_real_files(name: str, data_root: Path, tmp_path: Path) -> None:
    if dataset_entry(name).missing(data_root / dataset_entry(name).folders[0]):
        pytest.skip(f"{name} is not in PARETOGNN_DATA")
    assert_same(load_dataset(name, data_root), pyg_data(name, data_root, tmp_path))
