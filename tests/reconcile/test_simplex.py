"""Reconcilers that promise a point of the simplex, on Gram matrices as bad as training can make them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretognn.reconcile import StepContext, min_norm, min_norm_weights, reconciler_class

SIMPLEX = ("mgda", "mgda-frank-wolfe", "uniform", "random")


def context(gram, step=0):
    k = len(gram)
    return StepContext(tuple(f"task{i}" for i in range(k)), gram, np.ones(k), step, 0, None)


@st.composite
def gram_matrices(draw):
    """Of 1 to 10 gradients: nearly equal, opposite, of norms from 1e-18 to 1e18, of low rank; rounded to float32, after
    which they need not be positive semi-definite."""
    k, d = draw(st.integers(1, 10)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    spread, noise = draw(st.sampled_from([0, 3, 18])), draw(st.sampled_from([0.0, 1e-7, 1e-3, 1.0]))
    signs = rng.choice([-1, 1], k) if draw(st.booleans()) else np.ones(k)
    rows = (rng.standard_normal(d) + noise * rng.standard_normal((k, d))) * signs[:, None]
    rows = rows * 10 ** rng.uniform(-spread, spread, (k, 1))
    gram = (rows @ rows.T).astype(draw(st.sampled_from([np.float32, np.float64]))).astype(np.float64)
    return 0.5 * (gram + gram.T)


@pytest.mark.parametrize("name", SIMPLEX)
@settings(max_examples=60, deadline=None)
@given(gram=gram_matrices(), step=st.integers(0, 1000))
def test_weights_are_a_point_of_the_simplex(name, gram, step):
    weights = reconciler_class(name)().weights(context(gram, step))
    assert weights.shape == (len(gram),)
    assert weights.min() >= 0
    assert abs(weights.sum() - 1) < 1e-9


@settings(max_examples=200, deadline=None)
@given(gram=gram_matrices())
def test_the_exact_solver_ends_after_a_few_systems_a_task(gram):
    """However near to parallel the gradients are; its own limit, exponential in the tasks, is never near."""
    solved = 0
    plain = min_norm._affine_minimum

    def counted(part):
        nonlocal solved
        solved += 1
        return plain(part)

    min_norm._affine_minimum = counted
    try:
        min_norm_weights(gram)
    finally:
        min_norm._affine_minimum = plain
    assert solved <= 10 * len(gram)


@pytest.mark.parametrize("name", ["mgda", "mgda-frank-wolfe"])
@pytest.mark.parametrize("k", [2, 5, 9])
def test_identical_gradients_give_that_gradient(name, k):
    g = np.tile([3.0, -1.0, 1e-4], (k, 1))
    np.testing.assert_allclose(reconciler_class(name)().weights(context(g @ g.T)) @ g, g[0], rtol=1e-12)
