"""Graphs of other libraries: cases C04 to C07, C12, C13, C50, C51 and C56 as they arrive here."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from paretognn.errors import InputError
from paretognn.graph import Graph, as_graph

EDGES = np.array([[0, 1], [1, 2]])


def test_a_graph_is_returned_as_it_is():
    graph = as_graph((EDGES, None))
    assert as_graph(graph) is graph


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_pyg_data(dtype):
    data = Data(
        x=torch.arange(6, dtype=torch.float64).reshape(3, 2),
        edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]], dtype=dtype),
        edge_weight=torch.tensor([2.0, 2.0, 3.0]),
        y=torch.tensor([5, 7, -1]),
        train_mask=torch.tensor([True, False, False]),
        test_mask=torch.tensor([False, True, False]),
    )
    before = data.clone()
    graph = as_graph(data)
    assert graph.features.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert graph.features.dtype == np.float32
    assert graph.adjacency().toarray().tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]
    assert (graph.labels.tolist(), graph.label_names) == ([0, 1, -1], ("5", "7"))
    (split,) = graph.splits
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0], [], [1])
    assert "1 of 3 nodes are in no mask" in graph.notes[0]
    for key in before.keys():  # noqa: SIM118 - Data is no mapping
        assert torch.equal(data[key], before[key])
    graph.features[:] = 9
    assert data.x[0, 0] == 0


def test_pyg_data_with_gradients_sparse_features_and_half_precision():
    x = torch.eye(3, requires_grad=True)
    edge_index = torch.tensor(EDGES)
    assert as_graph(Data(x=x, edge_index=edge_index)).features.tolist() == np.eye(3).tolist()
    for sparse in (torch.eye(3).to_sparse(), torch.eye(3).to_sparse_csr()):
        features = as_graph((edge_index, sparse)).features
        assert sp.issparse(features)
        assert (features.toarray() == np.eye(3)).all()
    assert as_graph((edge_index, torch.eye(3, dtype=torch.bfloat16))).num_features == 3


def test_pyg_data_without_features_keeps_isolated_nodes():
    graph = as_graph(Data(edge_index=torch.tensor(EDGES), num_nodes=5))
    assert (graph.num_nodes, graph.features) == (5, None)


def test_masks_of_several_columns_are_several_splits():
    train = torch.tensor([[1, 0], [0, 1], [0, 0]]).bool()
    test = torch.tensor([0, 0, 1]).bool()
    graph = as_graph(Data(x=torch.eye(3), edge_index=torch.tensor(EDGES), train_mask=train, test_mask=test))
    assert [split.train.tolist() for split in graph.splits] == [[0], [1]]
    assert [split.test.tolist() for split in graph.splits] == [[2], [2]]


def test_c56_overlapping_masks_are_rejected():
    mask = torch.tensor([True, True, False])
    data = Data(x=torch.eye(3), edge_index=torch.tensor(EDGES), train_mask=mask, test_mask=mask)
    with pytest.raises(InputError, match=r"train_mask and test_mask overlap in 2 node\(s\) of split 0: row 0"):
        as_graph(data)
    data.test_mask = torch.tensor([True])
    with pytest.raises(InputError, match="test_mask has shape"):
        as_graph(data)


def test_c04_int32_edge_index_does_not_overflow():
    n = 50_000
    path = np.stack([np.arange(n - 1), np.arange(1, n)]).astype(np.int32)
    graph = as_graph((torch.from_numpy(path), None))
    assert graph.num_edges == n - 1
    assert graph.pairs()[-1].tolist() == [n - 2, n - 1]


def test_c06_networkx_joins_by_node():
    source = nx.Graph([("b", "a")])
    source.add_node("c")
    for name, x in zip("abc", (1, 2, 3), strict=True):
        source.nodes[name]["x"] = x
    graph = as_graph(source)
    ids = graph.ids.to_pylist()
    assert sorted(ids) == ["a", "b", "c"]
    assert {name: row[0] for name, row in zip(ids, graph.features.tolist(), strict=True)} == {
        "a": 1,
        "b": 2,
        "c": 3,
    }
    assert {ids[k] for k in graph.pairs()[0]} == {"a", "b"}


def test_networkx_of_every_kind():
    for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        source = kind()
        source.add_edge(1000, 2000, weight=2)
        source.add_edge(2000, 3000)
        source.add_edge(2000, 3000)
        source.nodes[1000]["label"] = torch.tensor(3)
        graph = as_graph(source)
        assert graph.ids.to_pylist() == ["1000", "2000", "3000"]
        assert graph.adjacency().toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
        assert (graph.labels.tolist(), graph.label_names) == ([0, -1, -1], ("3",))
        assert "have no weight: 1 is used" in graph.notes[0]


def test_c05_networkx_nodes_without_a_vector():
    source = nx.path_graph(3)
    for k in (0, 1):
        source.nodes[k]["x"] = [1.0, 2.0]
    with pytest.raises(InputError, match=r"1 of 3 nodes have no feature vector 'x': 2"):
        as_graph(source)
    graph = as_graph(source, fill_missing=True)
    assert graph.features[2].tolist() == [0, 0]
    assert graph.warnings == ("1 node(s) without 'x' have zero features: 2",)
    source.nodes[2]["x"] = [1.0]
    with pytest.raises(InputError, match="differs in length"):
        as_graph(source)
    for value in (["a", "b"], [1j, 0]):
        source.nodes[2]["x"] = value
        with pytest.raises(InputError, match=r"'x' is not numeric: \[.*\] at node '2'"):
            as_graph(source)


def test_networkx_graphs_that_cannot_be_read():
    with pytest.raises(InputError, match="no nodes"):
        as_graph(nx.Graph())
    with pytest.raises(InputError, match="duplicate node id '1'"):
        as_graph(nx.Graph([(1, "1")]))
    with pytest.raises(InputError, match="not a number"):
        as_graph(nx.Graph([(1, 2, {"weight": "heavy"})]))


@pytest.mark.parametrize("blank", ["", " "])
def test_c02_a_blank_node_of_networkx_is_an_error(blank):
    with pytest.raises(InputError, match="networkx graph: an id is blank in row 2"):
        as_graph(nx.Graph([("a", blank), ("b", "a")]))


def test_c02_nodes_of_networkx_that_a_gap_has_turned_into_floats_are_an_error():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, None]})
    with pytest.raises(InputError, match=r"text or integers, not the float 2\.0: is there a blank"):
        as_graph(nx.from_pandas_edgelist(frame))


def test_c03_huge_ids_of_networkx_stay_distinct_and_exact():
    source = nx.Graph([(9007199254740993, 9007199254740992), (123456789012345678901, -1)])
    graph = as_graph(source)
    assert graph.ids.to_pylist() == ["9007199254740993", "9007199254740992", "123456789012345678901", "-1"]
    assert graph.num_edges == 2


ROWS = [("a", "b", 2), ("b", "a", 2), ("b", "c", 1), ("c", "b", 3)]


@pytest.mark.parametrize(
    "source",
    [
        nx.MultiDiGraph([(u, v, {"weight": w}) for u, v, w in ROWS]),
        Data(
            x=torch.eye(3),
            edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
            edge_weight=torch.tensor([2.0, 2, 1, 3]),
        ),
        sp.coo_array(([2, 2, 1, 3], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3)),
    ],
    ids=["networkx", "pyg", "scipy"],
)
def test_c10_both_directions_mean_one_weight_and_conflicts_are_told(source):
    graph = as_graph(source)
    assert graph.adjacency().toarray().tolist() == [[0, 2, 0], [2, 0, 2], [0, 2, 0]]
    assert graph.warnings == ("1 edge(s) were given different weights; their mean is used",)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), 1e300])
def test_c11_bad_weights_name_count_and_first_edge(weight):
    data = Data(x=torch.eye(3), edge_index=torch.tensor(EDGES), edge_weight=torch.tensor([1, weight]).double())
    matrix = sp.coo_array(([1, weight], tuple(EDGES)), shape=(3, 3))
    for source in (data, matrix, nx.Graph([(0, 1, {"weight": 1}), (1, 2, {"weight": weight})])):
        with pytest.raises(InputError, match=r"1 edge weight\(s\) are negative, NaN, infinite or above.*in edge 2"):
            as_graph(source)


def test_a_weight_that_vanishes_in_single_precision_is_no_edge_and_told():
    graph = as_graph(nx.Graph([("a", "b", {"weight": 1}), ("b", "c", {"weight": 1e-300})]))
    assert graph.pairs().tolist() == [[0, 1]]
    assert graph.warnings == ("1 edge rows have weight 0 and are not edges",)


def test_c12_explicit_zeros_are_not_edges():
    matrix = sp.csr_array(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]]))
    matrix[0, 2] = 0
    assert matrix.nnz == 2
    graph = as_graph((matrix, None))
    torch_matrix = torch.sparse_csr_tensor([0, 2, 2, 2], [1, 2], [1.0, 0.0], (3, 3))
    for structure in (matrix, matrix.tocoo(), torch_matrix):
        graph = as_graph((structure, None))
        assert graph.pairs().tolist() == [[0, 1]]
        assert graph.warnings == ()


def test_c13_every_scipy_format_gives_the_same_graph():
    dense = np.diag([1, 1, 1], k=1)
    kinds = [
        sp.csr_matrix,
        sp.csr_array,
        sp.csc_matrix,
        sp.csc_array,
        sp.coo_matrix,
        sp.coo_array,
        sp.lil_array,
        sp.dia_array,
        sp.bsr_array,
        sp.dok_matrix,
    ]
    graphs = [as_graph((kind(dense), np.eye(4))) for kind in kinds] + [as_graph(sp.csr_array(dense))]
    assert {graph.replace(features=None).digest() for graph in graphs} == {graphs[-1].digest()}
    assert graphs[0].num_edges == 3


def test_c13_a_place_that_is_stored_twice_has_the_sum_in_every_format():
    twice = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    rows = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    for matrix in (twice, twice.tocsr(), twice.tocsc(), rows):
        assert as_graph(matrix).adjacency().toarray().tolist() == [[0, 3], [3, 0]]
    assert (twice.nnz, rows.nnz) == (2, 2)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e39])
def test_c15_gaps_name_column_count_and_first_node(value):
    source = nx.path_graph(["a", "b", "c"])
    for name in source.nodes:
        source.nodes[name]["x"] = [1.0, 1.0 if name == "a" else value]
    with pytest.raises(InputError, match=r"2 value\(s\) are NaN, infinite or above .* in column 1 of node 'b'"):
        as_graph(source)
    x = torch.tensor([[1, 1], [1, value], [1, value]], dtype=torch.float64)
    with pytest.raises(InputError, match=r"2 value\(s\) .* column 1 of node '1'"):
        as_graph(Data(x=x, edge_index=torch.tensor(EDGES)))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.bool, torch.float16, torch.float64])
def test_c16_numbers_of_every_kind_become_float32(dtype):
    features = as_graph(Data(x=torch.eye(3).to(dtype), edge_index=torch.tensor(EDGES))).features
    assert features.dtype == np.float32
    assert features.tolist() == np.eye(3).tolist()


def test_inputs_are_not_changed():
    adjacency = sp.csr_matrix(np.array([[0.0, 2.0], [0.0, 0.0]]))
    features = sp.csr_matrix(np.array([[1.0, 0.0], [0.0, 1.0]]))
    graph = as_graph((adjacency, features, ["cat", "dog"]))
    graph.features.data[:] = 7
    assert (adjacency.toarray() == [[0, 2], [0, 0]]).all()
    assert (features.toarray() == np.eye(2)).all()
    assert features.dtype == np.float64


@pytest.mark.parametrize(
    ("labels", "codes", "names"),
    [
        ([1, 2, 1], [0, 1, 0], ("1", "2")),
        (["dog", "cat", "dog"], [1, 0, 1], ("cat", "dog")),
        (np.array([[1], [2], [1]]), [0, 1, 0], ("1", "2")),
        ([0.0, 1.0, 0.0], [0, 1, 0], ("0.0", "1.0")),
        ([0.0, float("nan"), 1.0], [0, -1, 1], ("0.0", "1.0")),
        (np.array(["a", None, "b"], dtype=object), [0, -1, 1], ("a", "b")),
        ([True, False, True], [1, 0, 1], ("False", "True")),
        ([10, 9, -1], [1, 0, -1], ("9", "10")),
    ],
)
def test_c50_c51_labels_of_every_kind(labels, codes, names):
    graph = as_graph((EDGES, np.eye(3), labels))
    assert graph.labels.tolist() == codes
    assert graph.label_names == names


def test_several_labels_a_node_are_left_out_and_told():
    graph = as_graph((EDGES, np.eye(3), np.eye(3)))
    assert graph.labels is None
    assert "several a node" in graph.warnings[0]


def test_c18_small_graphs_have_a_defined_result():
    graph = as_graph((np.zeros((2, 0), int), np.eye(1)))
    assert (graph.num_nodes, graph.num_edges) == (1, 0)
    assert graph.warnings == ("the graph has no edges",)
    for empty in [
        (np.zeros((2, 0), int), None),
        sp.csr_array((0, 0)),
        Data(edge_index=torch.zeros(2, 0).long()),
    ]:
        with pytest.raises(InputError, match="no nodes"):
            as_graph(empty)


@pytest.mark.parametrize(
    "source",
    [None, 3, "graph.npz", [EDGES, None], (EDGES,), HeteroData(), np.eye(3), {"x": 1}],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_says_what_is_accepted(source):
    with pytest.raises(InputError, match="PyG Data, a networkx graph, or a tuple"):
        as_graph(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ((EDGES.astype(float), np.eye(3)), "must be integers"),
        ((EDGES.T[:1], np.eye(3)), r"\[2, E\]"),
        ((EDGES, np.eye(2)), r"1 edge endpoint\(s\) outside 0\.\.1: 2$"),
        ((EDGES - 1, np.eye(3)), r"1 edge endpoint\(s\) outside 0\.\.2: -1$"),
        (Data(x=torch.eye(2), edge_index=torch.tensor(EDGES)), r"1 edge endpoint\(s\) outside 0\.\.1: 2$"),
        ((EDGES, np.eye(3), [0, 1]), "2 labels, where 3 are needed"),
        ((EDGES, np.array([["a"], ["b"], ["c"]])), "not a matrix of numbers"),
        ((EDGES, np.array([[1], [np.inf], [2]])), "1 value.*column 0 of node '1'"),
        ((EDGES, np.zeros(3)), "two dimensions"),
        ((sp.eye_array(3, 4), None), "not square"),
        ((sp.csr_array(np.eye(3, k=1)), np.eye(4)), "4 rows of features for 3 nodes"),
        ((sp.csr_array(-np.eye(3, k=1)), None), "negative"),
        ((sp.csr_array(1j * np.eye(3, k=1)), None), "weights must be numbers, not complex128"),
        ((EDGES, 1j * np.eye(3)), "not a matrix of numbers: complex128"),
        ((EDGES, sp.csr_array(1j * np.eye(3))), "not a matrix of numbers: complex128"),
        ((EDGES, np.full((3, 1), np.datetime64("2020-01-01"))), "not a matrix of numbers: datetime64"),
        (Data(x=torch.eye(3)), "no edge_index"),
        (Data(x=torch.eye(3), edge_index=torch.tensor(EDGES), edge_weight=torch.ones(3)), "3 edge weights"),
    ],
)
def test_parts_that_do_not_fit(source, message):
    with pytest.raises(InputError, match=message):
        as_graph(source)


def test_numbered_nodes_have_their_number_as_id():
    graph = as_graph((EDGES, None))
    assert isinstance(graph, Graph)
    assert graph.id_array().to_pylist() == ["0", "1", "2"]


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series(["a", pd.NA, "b"], dtype=object),
        pd.to_datetime(pd.Series(["2020-01-01", None, "2021-01-01"])),
        np.array([1.0, np.nan, 2.0]),
    ],
)
def test_missing_labels_of_pandas_are_none(labels):
    graph = as_graph((np.array([[0, 1], [1, 2]]), np.eye(3), labels))
    assert graph.labels.tolist()[1] == -1
    assert len(graph.label_names) == 2


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_what_is_masked_is_missing(kind):
    features = np.ma.masked_array(np.array([[1, 2], [3, 99], [5, 6]], dtype=kind), [[0, 0], [0, 1], [0, 0]])
    with pytest.raises(InputError, match=r"1 value\(s\) are NaN.* in column 1 of node '1'"):
        as_graph((np.array([[0, 1], [1, 2]]), features))
