import numpy as np
import pytest

from paretognn.report.curves import conflict_sentence
from paretognn.report.history import POINTS, History


def row(step, cosine):
    return {
        "step": step,
        "losses": {"a": 1.0 / step, "b": 2.0},
        "weights": {"a": 0.25, "b": 0.75},
        "gradient_norms": {"a": 3.0, "b": 4.0},
        "cosines": {"a|b": cosine},
        "combined_norm2": 4.0,
        "seconds": 0.5,
        "stage_seconds": {"a/forward": 0.1, "solver": 0.2},
    }


def test_phases_and_opposed_steps_are_those_of_the_rows():
    history = History.of([row(s, c) for s, c in enumerate([0.5, 0.3, -0.2, -0.4, 0.1, -0.9], 1)])
    np.testing.assert_allclose(history.by_phase[:, 0, 1], [0.4, -0.3, -0.4])
    np.testing.assert_allclose(history.by_phase[:, 0, 0], 1)
    assert history.opposed == pytest.approx([0.5])
    assert history.stage_seconds == {"a/forward": pytest.approx(0.6), "solver": pytest.approx(1.2)}
    assert history.seconds == pytest.approx(3.0)
    np.testing.assert_allclose(history.combined, 2.0)


@pytest.mark.parametrize(
    ("cosines", "said"),
    [
        ([-0.04, -0.03, 0.05, -0.02], "No pair is in clear conflict: even a and b are about at right angles"),
        ([-0.4, -0.3, 0.2, -0.2], "a and b conflict most: they are opposed in 75% of the steps"),
        ([0.4, 0.3, 0.2, 0.2], "Hardly any conflict: the pair that is opposed most often, a and b"),
    ],
)
def test_a_cosine_of_about_0_is_no_conflict(cosines, said):
    assert conflict_sentence(History.of([row(s, c) for s, c in enumerate(cosines, 1)])).startswith(said)


def test_a_long_run_is_thinned_to_means_that_keep_its_own_mean():
    history = History.of([row(s, 0.0) for s in range(1, 10 * POINTS + 1)])
    assert history.losses.shape == (POINTS, 2)
    assert history.losses[:, 0].mean() == pytest.approx(np.mean([1 / s for s in range(1, 10 * POINTS + 1)]))
    assert history.steps[0] == pytest.approx(5.5)


def test_no_rows_are_no_history_and_one_row_has_later_phases_empty():
    assert History.of([]) is None
    assert np.isnan(History.of([row(1, 0.5)]).by_phase[1:, 0, 1]).all()
