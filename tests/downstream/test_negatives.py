import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downstream.graphs import complete, graph_of, path, random_graph
from paretognn.downstream import split_links
from paretognn.downstream.negatives import draw_negatives, sample_non_edges
from paretognn.errors import InputError


def as_list(pairs):
    return [tuple(pair) for pair in pairs.tolist()]


@pytest.mark.filterwarnings("ignore:link split")
@pytest.mark.parametrize("seed", range(50))
def test_path_of_four(seed):
    graph = path(4)
    split = split_links(graph, seed)
    negatives = draw_negatives(graph, split, seed)
    drawn = [as_list(part) for part in (negatives.train, negatives.val, negatives.test)]
    assert [len(part) for part in drawn] == [1, 1, 1]
    assert {pair for part in drawn for pair in part} == {(0, 2), (0, 3), (1, 3)}


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 80), st.integers(0, 400), st.integers(0, 1000), st.floats(0.01, 1))
def test_distinct_true_negatives_in_sparse_and_dense_graphs(nodes, edges, seed, share):
    graph = random_graph(nodes, edges, seed)
    free = nodes * (nodes - 1) // 2 - graph.num_edges
    amount = int(share * free)
    pairs = as_list(sample_non_edges(graph, amount, np.random.default_rng(seed)))
    assert len(pairs) == len(set(pairs)) == amount
    assert all(low < high for low, high in pairs)
    assert not set(pairs) & set(as_list(graph.pairs()))


@pytest.mark.parametrize("amount", [3, 12])
def test_every_free_pair_is_equally_likely(amount):
    graph = graph_of(9, [(0, 1), (2, 3), (4, 5)])
    counts = np.zeros((9, 9))
    draws = 3000
    for seed in range(draws):
        pairs = sample_non_edges(graph, amount, np.random.default_rng(seed))
        np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
    share = counts[np.triu_indices(9, 1)] / draws
    share = share[share > 0]
    assert len(share) == 33
    assert np.abs(share - amount / 33).max() < 5 * np.sqrt(amount / 33 / draws)


def test_two_seeds_differ_and_one_repeats():
    graph = random_graph(50, 100)
    first, again, other = (sample_non_edges(graph, 80, np.random.default_rng(seed)).tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_where_they_run_out():
    with pytest.raises(InputError, match=r"10 negative pairs are needed, the graph has 0 pair"):
        draw_negatives(complete(5), split_links(complete(5), 0), 0)


def test_keys_beyond_32_bits():
    graph = path(100_000)
    pairs = sample_non_edges(graph, 1000, np.random.default_rng(0))
    assert pairs.min() >= 0
    assert pairs.max() > 65_536
