import pytest

from benchmark.small_cells import NARROW, cells_of, request
from paretognn.benchmark.cells import DONE, Cell
from paretognn.benchmark.plan import BY_SIZE, PROBED, STORED, UNKNOWN, Estimator, span, time_left
from paretognn.errors import InputError


def finished(cell, step=0.5, training=1.0, judging=4.0, peak=123):
    evaluation = {"evaluation_seeds": [0, 1]}
    seconds = {"training": training, "link_training": 0.0, "evaluation": judging}
    return Cell(
        cell.key, DONE, evaluation=evaluation, seconds=seconds, step_seconds=step if cell.key.steps else None,
        peak_memory=peak,
    )  # fmt: skip


def test_a_step_is_probed_once_for_all_seeds_and_steps():
    cells = [*cells_of(request("mi-ng", seeds=2)), *cells_of(request("mi-ng", steps=9))]
    probed = []
    estimator = Estimator([], evaluation_seeds=1)
    times = [estimator.estimate(cell, lambda config: probed.append(config) or 100.0) for cell in cells]
    assert len(probed) == 1
    assert {one.rests_on for one in times} == {PROBED}
    assert times[0].seconds == times[1].seconds
    # Two models of seven steps more.
    assert times[2].seconds - times[0].seconds == pytest.approx(2 * 7 * 100)


def test_stored_cells_come_before_a_probe_where_settings_are_the_same():
    (cell,) = cells_of(request("mi-ng", steps=100))
    (other,) = cells_of(request("mi-ng", steps=100, settings={**NARROW, "features": "none"}))

    def never(config):
        raise AssertionError("probed")

    estimator = Estimator([finished(cells_of(request("mi-ng", seeds=2))[1])], evaluation_seeds=4)
    estimate = estimator.estimate(cell, never)
    assert estimate.rests_on == STORED
    assert estimate.memory == 123
    assert estimate.seconds == pytest.approx(2 * 100 * 0.5 + 4 * 2.0, abs=10)
    assert estimator.estimate(other).rests_on == UNKNOWN
    assert estimator.estimate(other).seconds is None
    assert estimator.estimate(other).memory == other.memory


def test_a_grid_takes_no_less_than_its_longest_cell():
    assert span([99.0], 999) == 99
    assert span([9.0, 2.0, 1.0], 2) == 9
    assert span([3.0, 3.0, 3.0], 2) == 4.5
    assert span([], 2) == 0
    cells = cells_of(request("mi-ng", "mi-ng", steps=100))
    estimator = Estimator([finished(cells[0])], 1)
    one = estimator.estimate(cells[0]).seconds
    assert time_left(estimator, [], cells, 99) == one
    assert time_left(estimator, cells, [], 99) == one / 2


def test_what_cannot_be_probed_has_no_estimate():
    (cell,) = cells_of(request("mi-ng"))

    def refused(config):
        raise InputError("training needs about 99 GiB")

    estimate = Estimator([], 1).estimate(cell, refused)
    assert (estimate.seconds, estimate.rests_on) == (None, UNKNOWN)


def test_controls_go_by_size_and_judging_by_seeds():
    (cell,) = cells_of(request("spectral", settings={}))
    few, many = (Estimator([], seeds).estimate(cell) for seeds in (1, 10))
    assert few.rests_on == BY_SIZE
    assert many.seconds > few.seconds
    assert Estimator([], 10, threads=10).estimate(cell).seconds == few.seconds


def test_time_left_takes_methods_without_a_finished_cell_for_the_mean_of_the_others():
    cells = cells_of(request("mi-ng", "mi-nsg", "feat-rec", steps=100))
    estimator = Estimator([], 1)
    assert time_left(estimator, cells, [], 1) is None
    estimator.add(finished(cells[0]))
    one = estimator.estimate(cells[0]).seconds
    assert time_left(estimator, [], [], 1) == 0
    assert time_left(estimator, [], cells[:1], 1) == pytest.approx(one)
    assert time_left(estimator, [], cells, 1) == pytest.approx(3 * one)
    assert time_left(estimator, cells[:2], cells[2:], 2) == pytest.approx(one)
