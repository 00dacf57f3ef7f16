import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from paretognn.downstream.labelling import label_nodes
from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError


def blobs(n=120, k=3, d=6, seed=0):
    random = np.random.default_rng(seed)
    codes = np.arange(n) % k
    return codes, unit_rows(2 * random.standard_normal((k, d))[codes] + random.standard_normal((n, d)), n, "blobs")


@pytest.mark.parametrize("k", [2, 3])
def test_probabilities_are_those_of_scikit_learn_at_the_chosen_c(k):
    codes, units = blobs(k=k)
    known = np.where(np.arange(120) < 60, codes, -1)
    found = label_nodes(units, known)
    peer = LogisticRegression(C=found.C, tol=1e-8, max_iter=5000).fit(units[:60].astype(np.float64), codes[:60])
    np.testing.assert_allclose(found.probabilities, peer.predict_proba(units), atol=2e-3)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, atol=1e-5)
    assert (found.codes[60:] == codes[60:]).mean() > 0.7


def test_the_accuracy_is_that_of_nodes_held_out():
    """Labels that mean nothing are fitted, and not predicted."""
    _, units = blobs(n=200, d=100)
    found = label_nodes(units, np.random.default_rng(1).integers(0, 2, 200))
    assert found.accuracy < 0.65


def test_a_class_of_one_node_has_no_accuracy_and_is_still_predicted():
    codes, units = blobs(k=2)
    known = np.full(120, -1)
    known[[0, 1, 3, 5]] = codes[[0, 1, 3, 5]]
    found = label_nodes(units, known)
    assert (found.accuracy, found.C) == (None, 1.0)
    assert set(found.codes.tolist()) <= {0, 1}


@pytest.mark.parametrize("codes", [np.full(120, -1), np.zeros(120, np.int64)])
def test_fewer_than_two_classes_are_an_error(codes):
    with pytest.raises(InputError, match="at least 2 classes"):
        label_nodes(blobs()[1], codes)
