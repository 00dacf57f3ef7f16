"""Copies among the nodes are counted, whatever the order of the nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paretognn.datasets.duplicates import with_duplicates_counted
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Split


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_copies_across_train_and_test_are_counted(sparse: bool, seed: int) -> None:
    # 1, 2 and 3 hang on 0 alike; 4 does with other features, 5 and 6 without any; 7 and 8 are alone.
    order = np.random.default_rng(seed).permutation(9)
    features = np.zeros((9, 3))
    features[[0, 1, 2, 3, 4, 7, 8]] = [
        [1, 1, 1],
        [1, 0, 0],
        [1, 0, 0],
        [1, 0, 0],
        [0, 2, 0],
        [1, 0, 0],
        [1, 0, 0],
    ]
    shuffled = np.empty_like(features)
    shuffled[order] = features
    leaves = order[[1, 2, 3, 4, 5, 6]]
    graph = build_graph(
        9,
        leaves,
        np.full(6, order[0]),
        features=sp.csr_array(shuffled) if sparse else shuffled,
        splits=(
            Split(order[[1, 7]], order[[0]], order[[2, 3, 4, 8]]),
            Split(order[[0]], order[[1]], order[[2, 3]]),
        ),
    )
    (warning,) = with_duplicates_counted(graph).warnings
    assert warning == (
        "3 of 9 nodes have the same features and neighbours as another node (6 the same neighbours); "
        "0 to 2 test nodes of a split have such a copy in its training part (0 to 3 by neighbours)"
    )


def test_no_copies_no_warning() -> None:
    graph = build_graph(3, np.array([0, 1]), np.array([1, 2]), features=np.eye(3))
    assert with_duplicates_counted(graph) is graph
