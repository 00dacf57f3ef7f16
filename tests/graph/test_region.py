import numpy as np
import pytest

from made import make_graph
from paretognn.graph import build_graph
from paretognn.graph.intact import check_intact
from paretognn.graph.region import induced_graph, walked_nodes, walked_region


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("nodes", [[], [3], list(range(0, 60, 2)), list(range(60))])
def test_an_induced_graph_is_the_sub_matrix(nodes, sparse):
    graph = make_graph(60, sparse=sparse)
    weights = (1 + graph.adjacency().T.tocsr().data).astype(np.float32)
    graph = graph.replace(weights=weights)
    part = induced_graph(graph, np.array(nodes, dtype=np.int64))
    check_intact(part)
    dense = [each.toarray() if sparse else each for each in (graph.features, part.features)]
    np.testing.assert_array_equal(part.adjacency().toarray(), graph.adjacency().toarray()[np.ix_(nodes, nodes)])
    np.testing.assert_array_equal(dense[1], dense[0][nodes])
    assert part.id_array().to_pylist() == [str(node) for node in nodes]
    np.testing.assert_array_equal(part.labels, graph.labels[nodes])


def test_a_region_is_bounded_joined_and_repeats():
    graph = make_graph(400, 6)
    part = walked_region(graph, 1, 100)
    assert 20 < part.num_nodes <= 100
    assert part.degrees.mean() > walked_region(graph, 2, 100).degrees.mean() / 2 > 0.5
    assert part.digest() == walked_region(graph, 1, 100).digest() != walked_region(graph, 2, 100).digest()
    assert walked_region(graph, 1, 400) is graph


def test_walks_of_a_graph_without_edges_stay():
    graph = build_graph(50, np.array([], dtype=int), np.array([], dtype=int))
    assert walked_region(graph, 0, 20).num_nodes == 4


def test_walks_begin_at_labelled_nodes_where_there_are_any():
    graph = make_graph(400, 6)
    labels = np.full(400, -1)
    labels[[7, 90, 301]] = 0
    few = walked_nodes(graph.replace(labels=labels), 3, 100, labelled=True)
    assert {7, 90, 301} <= set(few.tolist())
    assert 20 < len(few) <= 100
    assert not {7, 90, 301} <= set(walked_nodes(graph, 3, 100).tolist())
    unlabelled = walked_nodes(graph.replace(labels=np.full(400, -1)), 3, 100, labelled=True)
    np.testing.assert_array_equal(unlabelled, walked_nodes(graph, 3, 100))
