import numpy as np
import pytest

from paretognn.errors import InputError
from paretognn.reconcile import RandomWeights, StepContext, Uniform, WeightedSum, reconciler_class


def no_alignment(criterion, sampler):
    raise AssertionError("these look at no embeddings")


def context(step=0, seed=0):
    return StepContext(("a", "b", "c"), np.eye(3), np.ones(3), step, seed, no_alignment)


def test_weighted_sum_uses_the_given_weights():
    own = WeightedSum(WeightedSum.Settings(weights={"b": 0.5}))
    np.testing.assert_array_equal(own.weights(context()), [1, 0.5, 1])
    with pytest.raises(InputError, match="'x'"):
        WeightedSum(WeightedSum.Settings(weights={"x": 1})).check_tasks(("a", "b"))


def test_uniform():
    np.testing.assert_allclose(Uniform().weights(context()), 1 / 3)


def test_random_weights_are_a_function_of_seed_and_step():
    first, again, later = (RandomWeights().weights(context(step)) for step in (4, 4, 5))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, later)
    assert first.sum() == pytest.approx(1)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'mgda'"):
        reconciler_class("mgdaa")
