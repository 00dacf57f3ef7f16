"""What the readers settle themselves: options, forms, notes, and data that PyG has no class for."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from paretognn.datasets import dataset_entry, dataset_names, load_dataset
from paretognn.errors import InputError


@pytest.fixture
def root(small_root: Path, tmp_path: Path) -> Path:
    """A copy of the small files that a test may spoil."""
    return Path(shutil.copytree(small_root, tmp_path / "root"))


def folder_of(name: str, root: Path) -> Path:
    return root / dataset_entry(name).folders[0]


def change_npz(path: Path, **changes: np.ndarray) -> None:
    with np.load(path, allow_pickle=True) as archive:
        arrays = dict(archive)
    np.savez(path, **(arrays | changes))


def test_digits_need_no_file() -> None:
    graph = load_dataset("digits", "/nowhere")
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (1797, 12340, 64, 10)
    assert isinstance(graph.features, np.ndarray)
    assert int((graph.features.std(axis=0) == 0).sum()) == 3
    assert graph.degrees.min() >= 10
    assert graph.name == "digits"


def test_coauthor_counts_are_an_option(small_root: Path) -> None:
    binary, counts = (
        load_dataset("coauthor-cs", small_root),
        load_dataset("coauthor-cs", small_root, binary=False),
    )
    assert sp.issparse(binary.features)
    assert set(binary.features.data) == {1}
    assert counts.features.data.max() > 1
    np.testing.assert_array_equal(binary.features.indices, counts.features.indices)
    assert any("binary=False" in note for note in binary.notes)
    assert any("counts" in note for note in counts.notes)


def test_a_pickled_array_that_is_needed_is_named(root: Path) -> None:
    path = folder_of("coauthor-cs", root) / "ms_academic_cs.npz"
    change_npz(path, labels=np.array([{}, []] * 12 + [None], dtype=object))
    with pytest.raises(InputError, match=r"ms_academic_cs\.npz: array 'labels' holds Python objects"):
        load_dataset("coauthor-cs", root)


def test_class_names_are_read_where_they_are_text(root: Path) -> None:
    path = folder_of("coauthor-cs", root) / "ms_academic_cs.npz"
    assert load_dataset("coauthor-cs", root).label_names == ("0", "1", "2", "3")
    change_npz(path, class_names=np.array(["w", "x", "y", "z"]))
    assert load_dataset("coauthor-cs", root).label_names == ("w", "x", "y", "z")


def test_an_index_beyond_the_matrix_is_refused(root: Path) -> None:
    path = folder_of("coauthor-cs", root) / "ms_academic_cs.npz"
    with np.load(path, allow_pickle=True) as archive:
        indices = archive["attr_indices"]
    indices[0] = 1_000_000
    change_npz(path, attr_indices=indices)
    with pytest.raises(InputError, match=r"ms_academic_cs\.npz"):
        load_dataset("coauthor-cs", root)


def test_overlapping_masks_are_refused(root: Path) -> None:
    path = folder_of("chameleon", root) / "chameleon_split_0.6_0.2_4.npz"
    with np.load(path) as archive:
        change_npz(path, val_mask=archive["train_mask"])
    with pytest.raises(InputError, match=r"_4\.npz: \d+ node\(s\) are in more than one"):
        load_dataset("chameleon", root)


def test_ogb_layout(small_root: Path) -> None:
    graph = load_dataset("ogbn-arxiv", small_root)
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (14, 4, 3)
    assert graph.features.dtype == np.float32
    np.testing.assert_array_equal(graph.labels, np.arange(14) % 3)
    (split,) = graph.splits
    assert [part.tolist() for part in (split.train, split.val, split.test)] == [[0, 2, 4], [1], [3, 5, 13]]
    edges = np.random.default_rng(len("ogbn-arxiv")).integers(0, 14, (20, 2))
    dense = graph.adjacency().toarray()
    assert all(dense[a, b] == dense[b, a] == (a != b) for a, b in edges)


def test_ogb_tables_must_fit_the_node_count(root: Path) -> None:
    import gzip

    path = folder_of("ogbn-arxiv", root) / "raw/num-node-list.csv.gz"
    path.write_bytes(gzip.compress(b"15\n"))
    with pytest.raises(InputError, match=r"node-feat\.csv\.gz: 14 rows for 15 nodes"):
        load_dataset("ogbn-arxiv", root)


def test_wikics_states_both_counts(small_root: Path) -> None:
    notes = load_dataset("wiki-cs", small_root).notes
    assert any("directed or" in note and "undirected edges, with self-loops" in note for note in notes)
    assert any("297,110 directed, 216,123 undirected" in note for note in notes)
    assert any("20 public split(s)" in note for note in notes)


def test_citeseer_states_its_absent_nodes(small_root: Path) -> None:
    graph = load_dataset("citeseer", small_root)
    assert any(note.startswith("4 isolated nodes are in no file") for note in graph.notes)


def test_airports_keep_their_ids(small_root: Path) -> None:
    graph = load_dataset("airports-brazil", small_root)
    table = (folder_of("airports-brazil", small_root) / "labels-brazil-airports.txt").read_text().split("\n")[1:-1]
    assert graph.id_array().to_pylist() == [row.split()[0] for row in table]


def test_an_airport_without_a_label_is_named(root: Path) -> None:
    path = folder_of("airports-brazil", root) / "brazil-airports.edgelist"
    path.write_text(path.read_text() + "1 2\n")
    with pytest.raises(InputError, match=r"airport 1 is not in labels-brazil-airports\.txt"):
        load_dataset("airports-brazil", root)


def test_unused_nodes_of_the_splits_are_reported(small_root: Path) -> None:
    assert any("are in no part" in note for note in load_dataset("cora", small_root).notes)


def test_nothing_is_written_into_a_named_root(root: Path) -> None:
    before = sorted(root.rglob("*"))
    for name in ("cora", "chameleon", "ogbn-arxiv"):
        load_dataset(name, root)
    with pytest.raises(InputError, match="are missing"):
        load_dataset("pubmed", root)
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize("name", [n for n in dataset_names() if n not in ("wiki-cs", "ogbn-arxiv", "ogbn-products")])
def test_real_sizes(name: str, data_root: Path) -> None:
    entry = dataset_entry(name)
    graph = load_dataset(name, data_root)
    assert graph.num_nodes == entry.published.nodes
    assert graph.num_features == entry.published.features + (name == "actor")
    assert graph.num_classes == entry.published.classes
    density = (graph.features != 0).sum() / (graph.num_nodes * graph.num_features)
    assert sp.issparse(graph.features) == (density < 0.25)


def test_real_actor_keeps_its_published_pairs(data_root: Path) -> None:
    pairs = {name: load_dataset(name, data_root).num_edges for name in ("actor", "amazon-photo", "coauthor-physics")}
    assert pairs == {"actor": 26659, "amazon-photo": 119081, "coauthor-physics": 247962}


def test_real_partial_arxiv_names_what_is_missing(data_root: Path) -> None:
    with pytest.raises(InputError, match=r"2 of 7 files are missing .*raw/edge\.csv\.gz, raw/node-feat\.csv\.gz"):
        load_dataset("ogbn-arxiv", data_root)


def test_real_chameleon_warns_of_copies_and_names_its_form(data_root: Path) -> None:
    raw, filtered = (load_dataset(name, data_root) for name in ("chameleon", "chameleon-filtered"))
    assert raw.warnings[0].startswith("57 of 2277 nodes have the same features and neighbours")
    assert any(note.startswith("the raw form") for note in raw.notes)
    assert filtered.warnings == ()
    assert any(note.startswith("the filtered form") for note in filtered.notes)
