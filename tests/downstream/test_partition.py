import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downstream.graphs import complete, graph_of, path, random_graph
from paretognn.downstream import EvaluationWarning, metis_partition
from paretognn.downstream.partition import edge_cut, partition_digest
from paretognn.errors import InputError
from paretognn.graph import Graph


def test_cut_and_balance_of_k16():
    graph = complete(16)
    parts = metis_partition(graph, 4)
    assert np.bincount(parts).tolist() == [4, 4, 4, 4]
    assert edge_cut(graph, parts) == 96


def test_two_cliques_are_two_parts():
    clique = np.argwhere(np.triu(np.ones((8, 8)), 1))
    graph = graph_of(16, np.concatenate([clique, clique + 8, [[0, 8]]]))
    assert edge_cut(graph, metis_partition(graph, 2)) == 1


def test_more_parts_than_nodes_are_cut_down():
    with pytest.warns(EvaluationWarning, match="5 parts for 3 nodes"):
        assert sorted(metis_partition(path(3), 5)) == [0, 1, 2]


def test_one_part_and_none():
    assert metis_partition(path(3), 1).tolist() == [0, 0, 0]
    with pytest.raises(InputError, match="at least 1 part"):
        metis_partition(path(3), 0)
    with pytest.raises(InputError, match="the graph has no nodes"):
        metis_partition(Graph(np.zeros(1, np.int64), np.zeros(0, np.int32)), 5)


def test_no_edges():
    graph = graph_of(10, [])
    with pytest.warns(EvaluationWarning, match="no edges"):
        parts = metis_partition(graph, 2)
    assert np.bincount(parts).tolist() == [5, 5]


def test_weights_are_ignored_and_it_is_said():
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (4, 5), (5, 6), (6, 4), (3, 4)]
    plain = graph_of(7, edges)
    weighted = graph_of(7, edges, weights=np.linspace(0.01, 0.09, len(edges)))
    with pytest.warns(EvaluationWarning, match="weights are ignored"):
        parts = metis_partition(weighted, 2)
    np.testing.assert_array_equal(parts, metis_partition(plain, 2))


@settings(max_examples=25, deadline=None)
@given(st.integers(20, 120), st.integers(1, 300), st.integers(0, 100), st.integers(2, 10))
def test_a_function_of_structure_that_covers_all_parts(nodes, edges, seed, parts):
    graph = random_graph(nodes, edges, seed)
    if not graph.num_edges:
        return
    found = metis_partition(graph, parts)
    assert found.shape == (nodes,)
    assert found.min() >= 0
    assert found.max() < parts
    dressed = graph.replace(labels=np.zeros(nodes, int), features=np.ones((nodes, 2), np.float32), name="other")
    assert partition_digest(found) == partition_digest(metis_partition(dressed, parts))
