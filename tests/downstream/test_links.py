import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downstream.graphs import complete, graph_of, path, random_graph, star
from paretognn.downstream import EvaluationWarning, LinkSplit, split_links
from paretognn.downstream import links as links_module
from paretognn.downstream.links import checked_link_split
from paretognn.downstream.splits import exact_counts
from paretognn.errors import InputError


def as_set(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


@settings(max_examples=40, deadline=None)
@given(st.integers(10, 60), st.integers(20, 200), st.integers(0, 1000))
@pytest.mark.filterwarnings("ignore:link split")
def test_sets_are_disjoint_edges_and_the_train_graph_lacks_the_hidden(nodes, edges, seed):
    graph = random_graph(nodes, edges, seed)
    split = split_links(graph, seed)
    sets = [as_set(part) for part in (split.train, split.val, split.test)]
    assert set.union(*sets) == as_set(graph.pairs())
    assert sum(map(len, sets)) == graph.num_edges
    assert tuple(map(len, sets)) == exact_counts(graph.num_edges, (0.7, 0.1, 0.2))
    seen = split.train_graph(graph)
    assert as_set(seen.pairs()) == sets[0]
    dense = seen.adjacency().toarray()
    np.testing.assert_array_equal(dense, dense.T)


def test_the_rest_of_the_graph_stays():
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 3)]
    weights = np.array([1.0, 2, 3, 4, 5, 6])
    graph = graph_of(5, edges, weights=weights, features=np.eye(5), labels=np.arange(5))
    split = LinkSplit(np.array([[0, 1], [1, 2], [0, 4]]), np.array([[1, 3]]), np.array([[2, 3], [3, 4]]))
    seen = split.train_graph(graph)
    expected = graph.adjacency().toarray()
    for low, high in [(1, 3), (2, 3), (3, 4)]:
        expected[low, high] = expected[high, low] = 0
    np.testing.assert_array_equal(seen.adjacency().toarray(), expected)
    assert seen.features is graph.features
    assert seen.labels is graph.labels
    assert split.isolated(graph) == 1


def test_a_test_only_pair_leaves_no_trace():
    edges = random_graph(30, 80).pairs()
    graph, fewer = graph_of(30, edges), graph_of(30, edges[1:])
    split = LinkSplit(edges[10:], np.empty((0, 2), int), edges[:10])
    without = LinkSplit(edges[10:], np.empty((0, 2), int), edges[1:10])
    assert split.train_graph(graph).digest() == without.train_graph(fewer).digest()


def test_a_seed_is_a_split():
    graph = complete(12)
    digests = [split_links(graph, seed).digest() for seed in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]


def test_no_validation_set_still_hides_test_pairs():
    graph = complete(10)
    split = split_links(graph, 0, (0.8, 0.0, 0.2))
    assert (len(split.train), len(split.val), len(split.test)) == (36, 0, 9)
    assert split.train_graph(graph).num_edges == 36


def test_a_fraction_that_rounds_to_nothing_is_one():
    split = split_links(complete(5), 0, (0.97, 0.01, 0.02))
    assert (len(split.train), len(split.val), len(split.test)) == (8, 1, 1)


def test_too_few_edges():
    with pytest.raises(InputError, match="there are 2"):
        split_links(path(3), 0)


def test_isolated_nodes_are_counted():
    with pytest.warns(EvaluationWarning, match=r"3 node\(s\) have no edge left"):
        split = split_links(star(10), 0)
    assert split.isolated(star(10)) == 3


@pytest.mark.filterwarnings("ignore:link split")
def test_large_graphs_are_sampled(monkeypatch):
    monkeypatch.setattr(links_module, "SAMPLE_ABOVE", 100)
    monkeypatch.setattr(links_module, "SAMPLE", (21, 3, 6))
    graph = complete(20)
    split = split_links(graph, 0)
    assert (len(split.train), len(split.val), len(split.test)) == (21, 3, 6)
    seen = as_set(split.train_graph(graph).pairs())
    assert seen == as_set(graph.pairs()) - as_set(split.val) - as_set(split.test)


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ([[0, 1]], [[1, 3]], "1 pair.* not edges .* 1 - 3"),
        ([[0, 1], [1, 2]], [[2, 1]], "named more than once"),
        ([[0, 1]], [[3, 4]], "outside"),
        ([[0, 1]], [], "test set is empty"),
        ([], [[0, 1]], "train set is empty"),
    ],
)
def test_splits_that_do_not_fit(train, test, message):
    empty = np.empty((0, 2), int)
    split = LinkSplit(*(np.array(part, int).reshape(-1, 2) for part in (train, empty, test)))
    with pytest.raises(InputError, match=message):
        checked_link_split(split, path(4))


def test_hiding_what_is_no_edge():
    empty = np.empty((0, 2), int)
    with pytest.raises(InputError, match="not edges"):
        LinkSplit(np.array([[0, 1]]), empty, np.array([[0, 3]])).train_graph(path(4))
