import tracemalloc

import numpy as np
import pytest

from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError


def test_rows_have_length_one_and_zero_stays():
    rows = unit_rows(np.array([[3, 4], [0, 0], [1e-30, 0], [1e30, 1e30]], dtype=np.float32), 4, "embeddings")
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1, 1], rtol=1e-6)


def test_input_is_not_changed():
    given = np.array([[3.0, 4.0]])
    unit_rows(given, 1, "embeddings")
    assert given.tolist() == [[3, 4]]


@pytest.mark.parametrize("shape", [(3, 2), (4,), (4, 0), (4, 2, 1)])
def test_wrong_shapes(shape):
    with pytest.raises(InputError, match=r"\[4, d\]"):
        unit_rows(np.zeros(shape), 4, "embeddings")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(bad):
    with pytest.raises(InputError, match=r"embeddings: 1 value\(s\) are NaN or infinite; the first is in row 1"):
        unit_rows(np.array([[0, 1], [1, bad]]), 2, "embeddings")


def test_blocks_make_no_difference(monkeypatch):
    given = np.random.default_rng(0).standard_normal((50, 7))
    whole = unit_rows(given, 50, "embeddings")
    monkeypatch.setattr("paretognn.downstream.unit_rows._BLOCK", 30)
    np.testing.assert_allclose(unit_rows(given, 50, "embeddings"), whole, rtol=1e-6)
    given[[20, 31, 31], [3, 0, 6]] = np.nan
    with pytest.raises(InputError, match=r"3 value\(s\) are NaN or infinite; the first is in row 20"):
        unit_rows(given, 50, "embeddings")


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_it_takes_the_rows_it_makes_and_little_more(kind):
    given = np.ones((100_000, 64), kind)
    tracemalloc.start()
    made = unit_rows(given, len(given), "embeddings")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * made.nbytes
