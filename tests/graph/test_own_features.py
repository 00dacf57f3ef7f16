"""Traits of nodes that their neighbours do not tell are told from names, and from what neighbours share."""

import numpy as np
import pytest
import scipy.sparse as sp

from paretognn.graph import build_graph
from paretognn.graph.own_features import own_features_tell, told_by_features


def graph_of(features, shared, n=300, seed=0):
    """Random edges, or among nodes of the same of three kinds."""
    r = np.random.default_rng(seed)
    source = r.integers(0, n, 6 * n)
    target = (source + 3 * r.integers(1, n // 3, len(source))) % n if shared else r.integers(0, n, len(source))
    return build_graph(n, source, target, features=features(np.arange(n) % 3, r))


def traits(kinds, r):
    return (r.standard_normal((3, 20))[kinds] + 0.5 * r.standard_normal((len(kinds), 20))).astype(np.float32)


def names(kinds, r):
    return sp.csr_array(sp.eye_array(len(kinds), dtype=np.float32))


def noise(kinds, r):
    return r.standard_normal((len(kinds), 20)).astype(np.float32)


@pytest.mark.parametrize("sparse", [False, True])
def test_traits_that_neighbours_do_not_share(sparse):
    graph = graph_of(lambda *given: sp.csr_array(traits(*given)) if sparse else traits(*given), shared=False)
    own, neighbours = told_by_features(graph)
    assert own > 0.4
    assert neighbours < 0.05
    assert own_features_tell(graph)


@pytest.mark.parametrize("unit", [1e-18, 1e-5, 1e5])
@pytest.mark.parametrize("sparse", [False, True])
def test_units_do_not_matter_and_constant_columns_say_nothing(unit, sparse):
    def measured(kinds, r):
        constant = np.full((len(kinds), 3), 0.1, np.float32)
        columns = np.hstack([traits(kinds, r), constant]) * np.float32(unit)
        return sp.csr_array(columns) if sparse else columns

    first = told_by_features(graph_of(lambda kinds, r: np.hstack([traits(kinds, r), np.zeros((len(kinds), 3))]), False))
    np.testing.assert_allclose(told_by_features(graph_of(measured, shared=False)), first, atol=1e-4)


def test_traits_that_neighbours_share():
    own, neighbours = told_by_features(graph_of(traits, shared=True))
    assert own > 0.4
    assert neighbours > 0.4
    assert not own_features_tell(graph_of(traits, shared=True))


@pytest.mark.parametrize("features", [names, noise])
@pytest.mark.parametrize("shared", [False, True])
def test_names_and_noise_tell_nothing(features, shared):
    assert max(told_by_features(graph_of(features, shared))) < 0.05
    assert not own_features_tell(graph_of(features, shared))


def test_many_nodes_are_sampled(monkeypatch):
    monkeypatch.setattr("paretognn.graph.own_features._NODES", 100)
    own, neighbours = told_by_features(graph_of(traits, shared=False))
    assert own > 0.4
    assert neighbours < 0.1


@pytest.mark.parametrize("width", [0, 1, 2])
def test_graphs_that_are_too_small_to_tell(width):
    for n, ends in ((1, []), (2, [0]), (5, [0]), (5, []), (120, range(60))):
        source = np.array(list(ends), dtype=np.int64)
        graph = build_graph(n, source, (source + 1) % n, features=np.ones((n, width), dtype=np.float32))
        assert told_by_features(graph) == (0.0, 0.0)


def test_numbers_near_the_largest_do_not_overflow():
    own, neighbours = told_by_features(graph_of(lambda *given: traits(*given) * np.float32(4e37), shared=False))
    assert own > 0.4
    assert neighbours < 0.05
