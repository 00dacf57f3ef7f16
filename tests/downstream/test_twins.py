import numpy as np
import pytest
import scipy.sparse as sp

from downstream.graphs import graph_of, star
from paretognn.downstream import EvaluationWarning
from paretognn.downstream.twins import warn_of_twins
from paretognn.graph.graph import Split
from paretognn.graph.twins import twin_groups


def graph(features):
    # 1, 2 and 3 hang on 0 alone; 4 hangs on 5.
    return graph_of(6, [(0, 1), (0, 2), (0, 3), (4, 5)], features=features)


FEATURES = np.array([[1, 0], [0, 2], [0, 2], [0, 3], [0, 2], [0, 0]], dtype=float)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_twins_share_features_and_neighbours(form):
    groups = twin_groups(graph(form(FEATURES)))
    assert groups[1] == groups[2]
    assert len(np.unique(groups)) == 5


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_different_nodes_with_the_same_sum_are_no_twins(form, monkeypatch):
    monkeypatch.setattr("paretognn.graph.twins._words", lambda rng, count: np.ones(count, dtype=np.uint64))
    monkeypatch.setattr("paretognn.graph.twins._BLOCK", 6)
    random = np.random.default_rng(0)
    features = random.integers(2, size=(90, 3)).astype(float)
    made = graph_of(90, np.stack([np.arange(90), random.integers(3, size=90)], axis=1), features=form(features))
    neighbours = np.split(made.indices, made.indptr[1:-1])
    alike = [(row.tobytes(), own.tobytes()) for row, own in zip(features, neighbours, strict=True)]
    assert len(set(alike)) > 20
    groups = twin_groups(made)
    assert len(set(zip(alike, groups.tolist(), strict=True))) == len(set(alike)) == len(set(groups.tolist()))


def test_negative_zero_is_zero():
    features = FEATURES.copy()
    features[1, 0] = -0.0
    groups = twin_groups(graph(features))
    assert groups[1] == groups[2]


def test_without_features_leaves_are_no_twins():
    assert twin_groups(star(5)) is None


def test_the_count_that_crosses_is_told():
    crossing = Split(np.array([0, 1]), np.array([3]), np.array([2, 4, 5]))
    with pytest.warns(EvaluationWarning, match="1 of 3 test nodes.*raw"):
        warn_of_twins(graph(FEATURES), [crossing])


def test_twins_on_one_side_are_no_leak(recwarn):
    warn_of_twins(graph(FEATURES), [Split(np.array([1, 2]), np.array([3]), np.array([0, 4, 5]))])
    assert not recwarn
