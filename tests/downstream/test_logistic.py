import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from paretognn.downstream import logistic
from paretognn.downstream.logistic import fit_path
from paretognn.downstream.probe import C_GRID


def problem(rows, width, classes, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    codes = np.arange(rows) % classes
    scales = np.geomspace(1, 0.05, width)
    features = 3 + scales * (rng.standard_normal((rows, width)) + rng.standard_normal((classes, width))[codes])
    return (features / np.linalg.norm(features, axis=1, keepdims=True)).astype(dtype), codes


def converged(features, codes, C):
    return LogisticRegression(C=C, tol=1e-10, max_iter=100_000, solver="newton-cg").fit(
        features.astype(np.float64), codes
    )


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize(("rows", "width"), [(200, 6), (60, 40), (30, 90)])
def test_the_solution_is_scikit_learns(rows, width, classes):
    features, codes = problem(rows, width, classes)
    fresh, _ = problem(500, width, classes, seed=1)
    path = fit_path(features, codes, C_GRID)
    assert path.coef.shape == (len(C_GRID), 1 if classes == 2 else classes, width)
    for i, C in list(enumerate(C_GRID))[::4]:
        exact = converged(features, codes, C)
        np.testing.assert_allclose(path.coef[i], exact.coef_, atol=2e-3 * np.abs(exact.coef_).max())
        scores = exact.decision_function(fresh)
        spread = np.abs(scores - scores.mean(axis=0)).max()
        np.testing.assert_allclose(path.decision(fresh, i)[:, 0].squeeze(), scores, atol=2e-3 * spread)
        assert (path.predict(fresh, i)[:, 0] == exact.predict(fresh)).mean() > 0.995


def test_the_gradient_of_scikit_learns_objective_is_zero():
    features, codes = problem(120, 30, 4)
    path = fit_path(features, codes, C_GRID)
    onehot = np.eye(4)[codes]
    for i, C in enumerate(C_GRID):
        scores = features @ path.coef[i].T + path.intercept[i]
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        residual = chances / chances.sum(axis=1, keepdims=True) - onehot
        gradient = residual.T @ features / len(codes) + path.coef[i] / (C * len(codes))
        assert np.linalg.norm(gradient) < 2e-6
        assert np.abs(residual.mean(axis=0)).max() < 2e-6


def test_a_value_of_c_is_solved_alike_alone_and_among_others():
    features, codes = problem(80, 12, 3)
    together, alone = fit_path(features, codes, C_GRID), fit_path(features, codes, [C_GRID[15]])
    np.testing.assert_allclose(together.coef[15], alone.coef[0], rtol=1e-3, atol=1e-3)


def test_single_precision_is_close():
    features, codes = problem(400, 20, 2)
    exact, single = (fit_path(features.astype(kind), codes, [1.0, 64.0]) for kind in (np.float64, np.float32))
    np.testing.assert_allclose(exact.coef, single.coef, atol=5e-3 * np.abs(exact.coef).max())


def test_input_is_not_changed():
    features, codes = problem(50, 5, 2)
    before = features.copy()
    fit_path(features, codes, [1.0])
    np.testing.assert_array_equal(features, before)


def test_one_class_predicts_it():
    path = fit_path(np.ones((4, 3)), np.full(4, 7), [1.0, 2.0])
    assert path.predict(np.zeros((5, 3))).tolist() == [[7, 7]] * 5


@pytest.mark.parametrize("classes", [2, 3])
def test_constant_and_zero_features_predict_the_most_frequent(classes):
    codes = np.array([0, 1, 1, 2 % classes, 1])
    for features in (np.zeros((5, 4)), np.ones((5, 4))):
        path = fit_path(features, codes, C_GRID)
        assert np.isfinite(path.coef).all()
        assert (path.predict(features) == 1).all()


def test_class_numbers_may_have_gaps():
    features, codes = problem(90, 5, 3)
    names = np.array([4, 9, 30])
    plain, gaps = fit_path(features, codes, [8.0]), fit_path(features, names[codes], [8.0])
    np.testing.assert_array_equal(names[plain.predict(features)], gaps.predict(features))


def test_parts_that_bound_memory_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    features, targets = rng.standard_normal((60, 5)), rng.integers(3, size=60)
    whole = fit_path(features, targets, C_GRID)
    monkeypatch.setattr(logistic, "SCORES", 60 * 3 * 4)
    parts = fit_path(features, targets, C_GRID)
    np.testing.assert_allclose(parts.coef, whole.coef, atol=1e-5)
    fresh = rng.standard_normal((50, 5))
    scores = np.sort(whole.decision(fresh), axis=2)
    clear = scores[:, :, -1] - scores[:, :, -2] > 1e-4
    np.testing.assert_array_equal(parts.predict(fresh)[clear], whole.predict(fresh)[clear])
    assert parts.predict(fresh[:0]).shape == (0, len(C_GRID))
