import numpy as np
import pytest

from made import make_graph
from paretognn.graph.homophily import feature_homophily


@pytest.mark.parametrize("sparse", [False, True])
def test_feature_homophily_equals_its_definition(sparse):
    graph = make_graph(sparse=sparse)
    x = graph.features.toarray() if sparse else graph.features
    x = x - x.mean(0)
    x = x if sparse else x / x.std(0)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosines = x @ x.T
    alike = cosines[tuple(graph.pairs().T)].mean()
    # Strangers are drawn, so their mean is near that of all pairs.
    assert feature_homophily(graph) == pytest.approx(alike - cosines.mean(), abs=0.02)
