import tracemalloc

import numpy as np
import pytest
from scipy.special import expit

from paretognn.downstream.recommendation import LinkRecommender
from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError
from paretognn.graph import build_graph


def cliques():
    """Three cliques of 12, each short of a few edges; embeddings say which clique, with noise."""
    codes = np.repeat([0, 1, 2], 12)
    a, b = np.triu_indices(36, 1)
    inside = codes[a] == codes[b]
    random = np.random.default_rng(0)
    kept = inside & (random.random(len(a)) < 0.8)
    graph = build_graph(36, a[kept], b[kept])
    return codes, graph, unit_rows(np.eye(3)[codes] + 0.1 * random.standard_normal((36, 3)), 36, "made")


def test_partners_are_of_the_own_clique_and_never_neighbours_or_oneself():
    codes, graph, units = cliques()
    recommender = LinkRecommender(units, graph)
    for node in range(36):
        neighbours = set(graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist())
        missing = 11 - len(neighbours)
        found, probability = recommender.partners(node, 40)
        assert not neighbours & set(found.tolist())
        assert node not in found
        assert len(found) == 35 - len(neighbours)
        assert set(codes[found[:missing]].tolist()) <= {codes[node]}
        assert (np.diff(probability) <= 0).all()


def test_a_seed_repeats():
    _, graph, units = cliques()
    first, second = (LinkRecommender(units, graph, seed=3).partners(0, 5) for _ in range(2))
    assert first[0].tolist() == second[0].tolist()
    assert first[1].tobytes() == second[1].tobytes()


def test_probabilities_are_those_of_products():
    _, graph, units = cliques()
    recommender = LinkRecommender(units, graph)
    found, probability = recommender.partners(5, 40)
    products = units[found] * units[5]
    expected = expit(recommender._path.decision(products, recommender._chosen)[:, 0, 0])
    np.testing.assert_allclose(probability, expected, atol=1e-5)


def test_a_query_makes_no_product_of_all_embeddings():
    units = unit_rows(np.random.default_rng(0).standard_normal((50_000, 64)), 50_000, "made")
    recommender = LinkRecommender(units, build_graph(50_000, np.arange(200), np.arange(200, 400)))
    tracemalloc.start()
    recommender.partners(0, 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < units.nbytes / 2


def test_a_graph_of_one_edge_and_a_complete_one_are_errors():
    units = unit_rows(np.random.default_rng(0).standard_normal((5, 4)), 5, "made")
    with pytest.raises(InputError, match="the graph has 1"):
        LinkRecommender(units, build_graph(5, np.array([0]), np.array([1])))
    a, b = np.triu_indices(5, 1)
    with pytest.raises(InputError, match="without an edge"):
        LinkRecommender(units, build_graph(5, a, b))


def test_a_node_joined_to_all_has_no_partner():
    star = build_graph(6, np.zeros(5, np.int64), np.arange(1, 6))
    recommender = LinkRecommender(unit_rows(np.eye(6), 6, "made"), star)
    assert recommender.partners(0, 3)[0].tolist() == []
