import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from downstream.graphs import clustered
from paretognn.downstream import EvaluationWarning
from paretognn.downstream.clustering import cluster_nmi, k_means_nmi, nmi
from paretognn.errors import InputError


def test_nmi_takes_the_arithmetic_mean():
    halves, singles = np.array([0, 0, 0, 1, 1, 1]), np.arange(6)
    assert nmi(halves, singles) == pytest.approx(0.5579, abs=1e-4)
    for other, value in (("geometric", 0.6220), ("max", 0.3869)):
        known = normalized_mutual_info_score(halves, singles, average_method=other)
        assert known == pytest.approx(value, abs=1e-4)
        assert abs(known - nmi(halves, singles)) > 0.05


def test_nmi_is_symmetric_and_ignores_names():
    a, b = np.array([0, 0, 1, 1, 2, 2]), np.array([1, 1, 1, 0, 0, 2])
    assert nmi(a, b) == pytest.approx(nmi(b, a))
    assert nmi(a, np.array([7, 7, 7, 3, 3, 9])) == pytest.approx(nmi(a, b))
    assert nmi(a, a) == pytest.approx(1)
    assert nmi(a, np.zeros(6)) == 0


def test_clear_clusters_are_found():
    graph, embeddings = clustered(noise=0.01)
    score = cluster_nmi(embeddings, graph.labels, [0, 1])
    assert score.per_seed == pytest.approx((1, 1))
    assert score.details["average_method"] == "arithmetic"


def test_unlabelled_nodes_take_no_part():
    graph, embeddings = clustered(noise=0.8)
    labels = graph.labels.copy()
    labels[:100] = -1
    expected = cluster_nmi(embeddings[100:], labels[100:], [0])
    assert cluster_nmi(embeddings, labels, [0]).per_seed == expected.per_seed


def test_a_seed_is_a_score():
    graph, embeddings = clustered(noise=1.0)
    first = cluster_nmi(embeddings, graph.labels, [0, 1, 2])
    assert cluster_nmi(embeddings, graph.labels, [2, 0]).per_seed == (first.per_seed[2], first.per_seed[0])


def test_identical_embeddings():
    with pytest.warns(EvaluationWarning, match="identical"):
        assert cluster_nmi(np.ones((6, 2), np.float32), np.arange(6) % 2, [0, 1]).per_seed == (0, 0)


def test_fewer_distinct_embeddings_than_clusters():
    with pytest.warns(EvaluationWarning, match="fewer distinct"):
        scores = k_means_nmi(np.repeat(np.eye(2, dtype=np.float32), 4, axis=0), np.arange(8) % 4, 4, [0])
    assert 0 <= scores[0] < 1


def test_more_clusters_than_nodes():
    with pytest.raises(InputError, match="5 clusters need at least as many labelled nodes, there are 3"):
        k_means_nmi(np.eye(3, dtype=np.float32), np.arange(3), 5, [0])


def test_mini_batches_on_many_nodes(monkeypatch):
    graph, embeddings = clustered(noise=0.01)
    monkeypatch.setattr("paretognn.downstream.clustering.MINI_BATCH_ABOVE", 100)
    assert cluster_nmi(embeddings, graph.labels, [0]).per_seed == pytest.approx((1,))


def test_no_labels():
    with pytest.raises(InputError, match="no node has a label"):
        cluster_nmi(np.eye(3, dtype=np.float32), np.full(3, -1), [0])
