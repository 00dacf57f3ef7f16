import numpy as np
import pytest

from paretognn.downstream.labels import encode_labels
from paretognn.errors import InputError


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["dog", "cat", "dog"], ("cat", "dog")),
        (np.array([[2], [1], [2]]), ("1", "2")),
        (np.array([1.0, 0.0, 1.0]), ("0", "1")),
        (np.array([True, False, True]), ("False", "True")),
        (np.array(["b", "a", "b"], dtype=object), ("a", "b")),
    ],
)
def test_every_kind_gives_the_same_codes(labels, names):
    codes, found = encode_labels(labels)
    assert codes.tolist() == [1, 0, 1]
    assert found == names


@pytest.mark.parametrize(
    "labels",
    [
        [1, -1, 0],
        [1.0, np.nan, 0.0],
        [1.0, -1.0, 0.0],
        ["b", "", "a"],
        ["b", None, "a"],
        ["b", float("nan"), "a"],
        ["b", "nan", "a"],
        ["b", "-1", "a"],
        [2, -1.0, 1],
        np.array([2, -1, 1], dtype=object),
        [2, None, 1],
    ],
)
def test_unknown_labels(labels):
    codes, names = encode_labels(labels)
    assert codes.tolist() == [1, -1, 0]
    assert len(names) == 2


def test_one_value_a_node():
    with pytest.raises(InputError, match="one value a node"):
        encode_labels(np.zeros((3, 2)))
