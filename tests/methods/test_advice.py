"""The advice of ``inspect``: each sentence and warning where it is true, and nowhere else."""

import json
from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp

from made import make_graph
from paretognn.graph import Split, as_graph, build_graph
from paretognn.graph.homophily import feature_homophily
from paretognn.methods import DEFAULT
from paretognn.methods.advice import advise, format_advice


def ring(n):
    return np.array([np.arange(n), (np.arange(n) + 1) % n])


def random_features(n, d=5):
    return np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)


def hurts(graph):
    return " | ".join(advise(graph).warnings)


def test_a_graph_without_flaws_has_no_warning():
    for features in (random_features(40), sp.csr_array(random_features(40))):
        graph = as_graph((ring(40), features, np.arange(40) % 3))
        advice = advise(graph)
        assert advice.warnings == ()
        assert (advice.preset, advice.method, advice.twins) == ("auto", DEFAULT, 0)
        assert advice.feature_homophily == feature_homophily(graph)
        assert "every node can be reached from every other" in advice.words
        assert json.loads(json.dumps(asdict(advice)))["method"] == DEFAULT


def test_alike_neighbours_and_strangers_are_told_apart():
    alike, strange = make_graph(300), as_graph((ring(300), random_features(300)))
    assert any("are more alike than strangers" in word for word in advise(alike).words)
    assert any("are hardly more alike than strangers" in word for word in advise(strange).words)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.arange(40) // 20, "mostly share their label"),
        (np.arange(40) % 2, "less often than by chance"),
        (np.arange(40) // 2 % 2, "about as often as by chance"),
    ],
)
def test_labels_are_compared_with_chance(labels, said):
    graph = as_graph((ring(40), random_features(40), labels))
    assert any(said in word for word in advise(graph).words)
    without = advise(graph.replace(labels=None, label_names=()))
    assert (without.method, without.method_why) == (advise(graph).method, advise(graph).method_why)
    assert not any("label" in word for word in without.words)


def test_twins_are_counted_and_those_across_a_public_split():
    features = random_features(40)
    features[2] = features[0]
    edges = np.concatenate([np.delete(ring(40), [1, 2], axis=1), [[0, 2], [39, 39]], [[0, 2], [1, 1]]], axis=1)
    edges = edges[:, (edges != 3).all(axis=0)]
    graph = as_graph((edges, features, np.arange(40) % 2))
    assert sorted(graph.indices[graph.indptr[0] : graph.indptr[1]]) == sorted(
        graph.indices[graph.indptr[2] : graph.indptr[3]]
    )
    assert advise(graph).twins == 2
    assert "2 nodes have the features and neighbours of another node" in hurts(graph)
    assert "public split" not in hurts(graph)
    split = Split(np.array([0, 1]), np.array([4]), np.array([2, 5]))
    assert "1 test nodes of a public split" in hurts(graph.replace(splits=(split,)))


def test_isolated_nodes_and_components():
    assert "5 nodes (11%) have no edge" in hurts(as_graph((ring(40), random_features(45))))
    halves = np.concatenate([ring(20), ring(20) + 20, ring(20) + 40], axis=1)
    assert "3 components and none with half" in hurts(as_graph((halves, random_features(60))))
    island = np.concatenate([ring(40), [[40], [41]]], axis=1)
    assert "one component holds 95%" in hurts(as_graph((island, random_features(42))))


def test_features_that_say_nothing():
    features = random_features(40)
    features[:4] = 0
    assert "the same for every node" not in hurts(as_graph((ring(40), features)))
    assert "4 nodes (10%) have no feature" in hurts(as_graph((ring(40), features)))
    features[:, 1] = 3
    assert "1 feature column of 5 is the same" in hurts(as_graph((ring(40), features)))


@pytest.mark.parametrize("features", [np.eye(40, dtype=np.float32), sp.csr_array(np.eye(40, dtype=np.float32))])
def test_features_that_name_nodes(features):
    assert "nearly every feature column belongs to a single node" in hurts(as_graph((ring(40), features)))


def test_a_column_of_ids():
    features = random_features(40)
    features[:, 2] = 1000 + np.random.default_rng(0).permutation(40) * 7
    for kind in (features, sp.csr_array(features)):
        assert "a whole number of its own in '2'" in hurts(as_graph((ring(40), kind)))


def test_one_class_has_nearly_all_labels():
    labels = np.where(np.arange(40) < 38, "no", "yes")
    assert "class 'no' has 95% of the labels" in hurts(as_graph((ring(40), random_features(40), labels.tolist())))


def test_nothing_to_train_without_edges():
    advice = advise(as_graph((np.zeros((2, 0), int), random_features(5))))
    assert advice.method is None
    assert "nothing to train" in "\n".join(format_advice(advice))
    single = advise(as_graph((np.zeros((2, 0), int), np.ones((1, 1)), [0])))
    assert single.method is None


def test_a_graph_without_features():
    advice = advise(as_graph((ring(30), None)))
    assert advice.feature_homophily is None
    assert any("no features" in word for word in advice.words)
    assert "positions and degrees" in advice.method_why


def test_weights_with_a_heavy_tail():
    graph = make_graph(100)
    pairs = graph.pairs()
    for weights, said in ((np.ones(len(pairs)), False), (np.linspace(1, 3, len(pairs)), False),
                          (np.exp(4 * np.random.default_rng(0).standard_normal(len(pairs))), True)):  # fmt: skip
        weighted = build_graph(100, *pairs.T, weights, features=graph.features)
        assert ("edge weights are uneven" in hurts(weighted)) == said
