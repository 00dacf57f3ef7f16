import builtins

import numpy as np
import pytest

from paretognn.errors import InputError
from paretognn.reconcile import TORCHJD, StepContext, reconciler_class

GRADIENTS = np.random.default_rng(1).standard_normal((4, 30))


def context(gradients, step=0):
    return StepContext(("a", "b", "c", "d")[: len(gradients)], gradients @ gradients.T, np.ones(4), step, 0, None)


@pytest.mark.parametrize("kind", TORCHJD, ids=lambda k: k.name)
def test_finite_and_a_function_of_seed_and_step(kind):
    pytest.importorskip("torchjd")
    assert reconciler_class(kind.name) is kind
    first, again = (kind().weights(context(GRADIENTS, 7)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.shape == (4,)
    assert np.isfinite(first).all()
    assert np.abs(first).sum() > 0


def test_pcgrad_projects_conflicts_away():
    """Two gradients in conflict: each is freed of its part against the other."""
    pytest.importorskip("torchjd")
    a, b = np.array([1.0, 0.0]), np.array([-0.5, 1.0])
    weights = reconciler_class("pcgrad")().weights(context(np.stack([a, b])))
    want = (a - (a @ b) / (b @ b) * b) + (b - (a @ b) / (a @ a) * a)
    np.testing.assert_allclose(weights @ np.stack([a, b]), want, rtol=1e-6)


def test_upgrad_s_step_conflicts_with_no_task():
    pytest.importorskip("torchjd")
    rough = np.array([[1.0, 0.1], [-0.9, 0.3]])
    assert (rough @ (reconciler_class("upgrad")().weights(context(rough)) @ rough) >= -1e-2).all()


def test_without_the_package_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name.startswith("torchjd"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match=r"pip install 'paretognn\[torchjd\]'"):
        TORCHJD[0].require()
