import numpy as np
import pytest

from paretognn.graph import build_graph
from paretognn.graph.structural import structural_features


@pytest.mark.parametrize("weight", [3e38, 1e-44])
def test_c11_weights_at_the_ends_of_float32_give_the_features_of_their_ratios(weight):
    path = np.arange(6)
    plain, heavy = (build_graph(6, path[:-1], path[1:], np.full(5, w)) for w in (1.0, weight))
    np.testing.assert_allclose(structural_features(heavy), structural_features(plain), rtol=1e-6)


def test_isolated_nodes_have_features_of_zero():
    features = structural_features(build_graph(3, [0], [1]))
    assert features.dtype == np.float32
    assert not features[2].any()
    assert features[:2].any(axis=1).all()
