import numpy as np
import pytest

from paretognn.downstream.nearest import nearest
from paretognn.downstream.unit_rows import unit_rows


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_nearest_are_those_of_the_whole_matrix_of_cosines(monkeypatch, block):
    monkeypatch.setattr("paretognn.downstream.nearest._BLOCK", block)
    units = unit_rows(np.random.default_rng(0).standard_normal((30, 5)), 30, "rows")
    queries = np.array([3, 29, 3])
    found, cosines = nearest(units, queries, 4)
    for row, query in enumerate(queries):
        own = units @ units[query]
        own[query] = -2
        assert found[row].tolist() == np.argsort(-own)[:4].tolist()
        np.testing.assert_allclose(cosines[row], np.sort(own)[::-1][:4], rtol=1e-5)


@pytest.mark.parametrize("k", [1, 5, 17, 38, 39])
def test_of_equal_ones_the_lower_comes_first_and_stays_in(k):
    units = np.eye(3, dtype=np.float32)[np.random.default_rng(0).integers(3, size=40)]
    found, _ = nearest(units, np.arange(40), k)
    for query, row in enumerate(found):
        own = units @ units[query]
        own[query] = -2
        assert row.tolist() == np.argsort(-own, kind="stable")[:k].tolist()


def test_fewer_nodes_than_neighbours_and_rows_of_zeros():
    found, cosines = nearest(np.zeros((3, 2), np.float32), np.array([1]), 10)
    assert found.tolist() == [[0, 2]]
    assert cosines.tolist() == [[0, 0]]
    assert nearest(np.ones((1, 2), np.float32), np.array([0]), 5)[0].shape == (1, 0)
