import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from downstream.graphs import clustered, complete, graph_of
from paretognn.downstream import EvaluationWarning, LinkSplit, hits_at_k, split_links
from paretognn.downstream import link_prediction as module
from paretognn.downstream.link_prediction import predict_links
from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:link split")


@pytest.fixture
def subject():
    graph, embeddings = clustered(noise=0.3)
    return unit_rows(embeddings, graph.num_nodes, "x"), graph, split_links(graph, 0)


def test_embeddings_that_know_the_blocks_score_well(subject):
    score = predict_links(*subject, [0, 1])
    assert min(score.per_seed) > 0.65
    assert set(score.details["C"]) <= set(module.C_GRID)


def test_random_embeddings_score_a_half(subject):
    _, graph, split = subject
    rng = np.random.default_rng(0)
    points = unit_rows(rng.standard_normal((graph.num_nodes, 8)), graph.num_nodes, "x")
    assert predict_links(points, graph, split, range(4)).mean == pytest.approx(0.5, abs=0.05)


def test_constant_embeddings_score_exactly_a_half(subject):
    _, graph, split = subject
    assert predict_links(np.zeros((graph.num_nodes, 4), np.float32), graph, split, [0]).per_seed == (0.5,)


def test_a_seed_draws_its_negatives(subject):
    scores = predict_links(*subject, [0, 1, 0]).per_seed
    assert scores[0] == scores[2] != scores[1]


def test_single_precision_gives_the_same_score(subject, monkeypatch):
    exact = predict_links(*subject, [0])
    monkeypatch.setattr(module, "SINGLE_PRECISION_ABOVE", 0)
    assert predict_links(*subject, [0]).mean == pytest.approx(exact.mean, abs=1e-3)


def test_c_and_fit_never_see_the_test_pairs(subject):
    points, graph, split = subject
    honest = predict_links(points, graph, split, [0])
    half = LinkSplit(split.train, split.val, split.test[::2])
    assert predict_links(points, graph, half, [0]).details["C"] == honest.details["C"]


def test_no_validation_set(subject):
    points, graph, _ = subject
    score = predict_links(points, graph, split_links(graph, 0, (0.8, 0.0, 0.2)), [0])
    assert score.details["C"] == [1.0]


def test_complete_graph_has_no_negatives():
    graph = complete(5)
    with pytest.raises(InputError, match="0 pair"):
        predict_links(np.ones((5, 2), np.float32), graph, split_links(graph, 0), [0])


def test_more_training_links_than_memory_allows_are_drawn_by_the_seed(subject, monkeypatch):
    points, _, split = subject
    whole = predict_links(*subject, [0, 1])
    monkeypatch.setattr(module, "_BLOCK", 7)
    assert predict_links(*subject, [0, 1]).per_seed == pytest.approx(whole.per_seed, abs=1e-6)
    monkeypatch.setattr(module, "FIT_BYTES", 2 * 4 * points.shape[1] * (len(split.train) // 2))
    with pytest.warns(EvaluationWarning, match=f"{len(split.train) // 2} of {len(split.train)} training links"):
        part = predict_links(*subject, [0, 1])
    assert part.per_seed == predict_links(*subject, [0, 1]).per_seed
    assert part.per_seed != whole.per_seed
    assert part.mean == pytest.approx(whole.mean, abs=0.1)


def test_nodes_that_the_split_isolates():
    graph = graph_of(12, [(0, i) for i in range(1, 10)] + [(10, 11)])
    score = predict_links(np.eye(12, dtype=np.float32), graph, split_links(graph, 0), [0])
    assert np.isfinite(score.mean)


def test_hits():
    assert hits_at_k(np.array([3.0, 1.0, 0.5]), np.array([2.0, 1.0, 0.0]), 2) == pytest.approx(1 / 3)
    constant = np.ones(5)
    assert hits_at_k(constant, constant, 3) == 0
    assert roc_auc_score([1] * 5 + [0] * 5, np.ones(10)) == 0.5
    with pytest.warns(EvaluationWarning, match="needs 3 negatives"):
        assert hits_at_k(constant, np.ones(2), 3) is None
