import numpy as np
import pytest

from paretognn.downstream.unit_rows import unit_rows
from paretognn.report.by_degree import accuracy_by_degree
from paretognn.report.chart import GREY, colour
from paretognn.report.nodes import _classes
from paretognn.report.projection import SAMPLE, project


def blobs(n, k=3, d=8, seed=0):
    random = np.random.default_rng(seed)
    codes = np.arange(n) % k
    return codes, unit_rows(4 * random.standard_normal((k, d))[codes] + random.standard_normal((n, d)), n, "blobs")


def test_a_projection_keeps_classes_apart():
    codes, units = blobs(150)
    projection = project(units)
    assert projection.method == "t-SNE"
    distances = np.linalg.norm(projection.points[:, None] - projection.points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (codes[distances.argmin(axis=1)] == codes).mean() > 0.95


def test_nodes_without_a_label_are_grey_and_beneath():
    codes = np.array([0, -1, 1, -1, 0])
    (name, member, of), *others = _classes(codes, ("x", "y"))
    assert (name, of, member.tolist()) == ("no label", GREY, [False, True, False, True, False])
    assert [(name, of) for name, _, of in others] == [("x", colour(0)), ("y", colour(1))]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_nodes_and_equal_ones_are_placed_too(n):
    for units in (np.eye(n, 4, dtype=np.float32), np.ones((n, 4), np.float32) / 2, np.zeros((n, 4), np.float32)):
        projection = project(units)
        assert projection.points.shape == (n, 2)
        assert np.isfinite(projection.points).all()


def test_many_nodes_are_a_sample_of_distinct_ones(monkeypatch):
    monkeypatch.setattr("paretognn.report.projection.SAMPLE", 50)
    assert SAMPLE > 50
    _, units = blobs(200)
    projection = project(units)
    assert len(np.unique(projection.nodes)) == len(projection.points) == 50


def test_accuracy_by_degree_adds_up_to_the_accuracy_over_all():
    codes, units = blobs(200)
    codes[:20] = (codes[:20] + 1) % 3  # noise, on the nodes of degree 0
    degrees = np.repeat([0, 1, 5, 9], [20, 60, 60, 60])
    found = accuracy_by_degree(units, codes, degrees)
    assert found.nodes.sum() == 160
    assert found.names[0].startswith("0")
    assert found.accuracy[0] < found.accuracy[-1]


def test_of_many_nodes_a_sample_is_judged(monkeypatch):
    monkeypatch.setattr("paretognn.report.by_degree.SAMPLE", 100)
    codes, units = blobs(200)
    codes[:50] = -1
    found = accuracy_by_degree(units, codes, np.arange(200) % 4)
    assert found.left_out
    assert found.nodes.sum() == 80


def test_one_degree_makes_one_group():
    codes, units = blobs(60)
    found = accuracy_by_degree(units, codes, np.full(60, 4))
    assert found.names == ("4",)
