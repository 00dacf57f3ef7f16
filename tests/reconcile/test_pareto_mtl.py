import numpy as np
import pytest

from paretognn.errors import InputError
from paretognn.reconcile import ParetoMTL, StepContext, min_norm_weights


def context(gradients, losses, step=0):
    return StepContext(("a", "b", "c"), gradients @ gradients.T, np.array(losses, float), step, 0, None)


@pytest.fixture
def gradients():
    return np.random.default_rng(0).standard_normal((3, 40))


def reconciler(prefer):
    return ParetoMTL(ParetoMTL.Settings(prefer=prefer))


def test_inside_its_region_it_is_mgda(gradients):
    own = reconciler("b")
    own.weights(context(gradients, [1, 1, 1]))
    weights = own.weights(context(gradients, [0.9, 0.2, 0.8]))
    np.testing.assert_allclose(weights, 3 * min_norm_weights(gradients @ gradients.T))


def test_outside_it_the_step_descends_along_every_broken_constraint_and_task(gradients):
    own = reconciler("b")
    own.weights(context(gradients, [1, 1, 1]))
    weights = own.weights(context(gradients, [0.2, 0.9, 0.8]))
    assert own.raw_only
    direction = weights @ gradients
    assert np.abs(weights).sum() == pytest.approx(3)
    u = (1 - np.eye(3)) / 2**0.5
    losses = np.array([0.2, 0.9, 0.8])
    broken = [k for k in (0, 2) if (u[k] - u[1]) @ losses > 0]
    assert broken
    for row in [*gradients, *((u[k] - u[1]) @ gradients for k in broken)]:
        assert row @ direction >= -1e-9


@pytest.mark.parametrize(("size", "rate"), [((1, 1, 1), 1e-3), ((10, 1, 0.1), 1e-3)])
def test_each_preference_ends_where_its_task_is_lowest(size, rate):
    """Three parabolas whose minima are corners of a triangle, all points of which are Pareto-optimal; the losses may
    differ in size."""
    size = np.array(size, dtype=float)
    minima = {"a": np.array([1.0, 0.0, 0.0]), "b": np.array([0.0, 1.0, 0.0]), "c": np.array([0.0, 0.0, 1.0])}
    ends = {}
    for prefer in (*minima, None):
        own, x = reconciler(prefer), np.array([3.0, 2.9, 3.1])
        for step in range(3000):
            differences = np.array([x - m for m in minima.values()]) * size[:, None]
            losses = (differences**2 / size[:, None]).sum(1)
            x = x - rate * own.weights(context(2 * differences, losses, step)) @ (2 * differences)
        relative = losses / np.array(list(own.first.values()))
        ends[prefer] = dict(zip(minima, relative, strict=True))
    assert max(ends[None].values()) - min(ends[None].values()) < 0.02
    for task in minima:
        assert ends[task][task] == min(ends[task].values())
        assert ends[task][task] < ends[None][task]


def test_state_comes_back(gradients):
    own, other = reconciler("a"), reconciler("a")
    own.weights(context(gradients, [1, 2, 3]))
    other.restore(own.state())
    later = context(gradients, [1, 1, 1], 3)
    np.testing.assert_array_equal(own.weights(later), other.weights(later))


def test_an_unknown_preference_is_refused():
    with pytest.raises(InputError, match="'x'"):
        reconciler("x").check_tasks(("a", "b"))
