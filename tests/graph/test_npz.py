"""Graphs in npz files: cases C12 and C14."""

import io

import numpy as np
import pytest
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph import read_graph, read_npz


def parts(matrix, prefix):
    matrix = sp.csr_array(matrix)
    return {
        f"{prefix}_data": matrix.data,
        f"{prefix}_indices": matrix.indices,
        f"{prefix}_indptr": matrix.indptr,
        f"{prefix}_shape": np.array(matrix.shape),
    }


ADJ = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
ATTR = np.array([[1, 0], [0, 2], [0, 0]])


@pytest.fixture
def write(tmp_path):
    def write(**arrays):
        path = tmp_path / "tiny.npz"
        np.savez(path, **arrays)
        return path

    return write


def test_everything_is_read(write):
    graph = read_graph(
        graph=write(
            **parts(ADJ, "adj"),
            **parts(ATTR, "attr"),
            labels=np.array([1, 0, -1]),
            node_names=np.array(["007", "x", "y"]),
            attr_names=np.array(["p", "q"]),
            class_names=np.array(["cat", "dog"]),
        )
    )
    assert graph.pairs().tolist() == [[0, 1], [1, 2]]
    assert sp.issparse(graph.features)
    assert graph.features.dtype == np.float32
    assert (graph.features.toarray() == ATTR).all()
    assert graph.labels.tolist() == [1, 0, -1]
    assert graph.label_names == ("cat", "dog")
    assert graph.ids.to_pylist() == ["007", "x", "y"]
    assert [column.name for column in graph.feature_columns] == ["p", "q"]
    assert graph.name == "tiny"


def test_dense_features_and_none(write):
    assert read_npz(write(**parts(ADJ, "adj"), attr_matrix=ATTR)).features.tolist() == ATTR.tolist()
    graph = read_npz(write(**parts(ADJ, "adj")))
    assert (graph.features, graph.labels, graph.ids) == (None, None, None)


def test_c12_explicit_zeros_are_not_edges(write):
    matrix = sp.csr_array(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]]))
    matrix.data[matrix.indices == 2] = 0
    graph = read_npz(write(**parts(matrix, "adj")))
    assert graph.pairs().tolist() == [[0, 1]]


@pytest.mark.parametrize("name", ["adj_data", "attr_data", "labels", "attr_matrix"])
def test_c14_an_object_array_is_refused_by_name(write, name):
    arrays = {**parts(ADJ, "adj"), "labels": np.zeros(3, int)}
    arrays |= {"attr_matrix": ATTR} if name == "attr_matrix" else parts(ATTR, "attr")
    arrays[name] = arrays[name].astype(object)
    with pytest.raises(InputError, match=f"array '{name}' holds Python objects"):
        read_npz(write(**arrays))


def test_c14_names_that_are_objects_are_left_out_and_told(write):
    names = np.array(["a", "b", "c"], dtype=object)
    graph = read_npz(write(**parts(ADJ, "adj"), node_names=names))
    assert graph.ids is None
    assert "'node_names' holds Python objects" in graph.warnings[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"adj_indptr": None}, "has no array 'adj_indptr'"),
        ({"adj_shape": np.array([3, 4])}, "not square"),
        ({"adj_shape": np.array([2, 2])}, r"'adj_\*' is not a sparse matrix"),
        ({"adj_indices": np.array([1, 99])}, r"'adj_\*' is not a sparse matrix"),
        ({"adj_indices": np.array([1, -1])}, r"'adj_\*' is not a sparse matrix"),
        ({"adj_indptr": np.array([0, 9, 1, 2])}, r"'adj_\*' is not a sparse matrix"),
        ({"adj_data": np.array([1.0, -1.0])}, "negative"),
        ({"adj_data": np.array(["a", "b"])}, "not numbers"),
        ({"labels": np.zeros(4)}, "'labels' has shape"),
        ({"attr_matrix": np.zeros((4, 2))}, "3 rows are needed"),
        ({"attr_matrix": np.array([[np.nan], [1], [2]])}, "NaN"),
        ({"adj_data": np.array([1.0, 1e300])}, "1 edge weight.* in edge 2"),
        (
            {
                "attr_matrix": np.array([[1, 1], [1, np.nan], [2, np.inf]]),
                "node_names": np.array(["a", "b", "c"]),
                "attr_names": np.array(["p", "q"]),
            },
            r"2 value\(s\).* column 'q' of node 'b'",
        ),
        ({"node_names": np.array(["a", "", "c"])}, "array 'node_names': an id is blank in row 2"),
        ({"node_names": np.array(["a", "b", "a"])}, r"duplicate node id 'a' \(rows 1 and 3\)"),
    ],
)
def test_arrays_that_do_not_fit(write, change, message):
    arrays = {**parts(ADJ, "adj"), **change}
    with pytest.raises(InputError, match=message) as error:
        read_npz(write(**{name: array for name, array in arrays.items() if array is not None}))
    assert "tiny.npz" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_damaged_file_is_one_line(tmp_path, write):
    whole = write(**parts(ADJ, "adj")).read_bytes()
    path = tmp_path / "broken.npz"
    lone = io.BytesIO()
    np.save(lone, ADJ)
    for content in (whole[:-30], whole[: len(whole) // 2], b"no zip", b"PK\x03\x04", lone.getvalue()):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"broken\.npz is not") as error:
            read_npz(path)
        assert "\n" not in str(error.value)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        read_npz(path)


def test_public_files(data_root):
    graph = read_npz(data_root / "extras_npz" / "facebook_page_page.npz")
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (22_470, 170_823, 4_714)
    assert graph.counts.self_loops == 179
    assert graph.label_names == ("company", "government", "politician", "tvshow")
    assert sp.issparse(graph.features)
    graph = read_npz(data_root / "Amazon" / "Photo" / "raw" / "amazon_electronics_photo.npz")
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (7_650, 119_081, 8)


def test_decreasing_row_pointers_are_refused(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(
        path,
        adj_data=np.ones(3, np.float32),
        adj_indices=np.array([1, 0, 1], np.int32),
        adj_indptr=np.array([0, 3, 2, 0], np.int32),
        adj_shape=np.array([3, 3]),
    )
    with pytest.raises(InputError, match="row pointers decrease"):
        read_npz(path)
