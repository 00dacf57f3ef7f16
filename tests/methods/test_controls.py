import numpy as np
import pytest

from made import make_graph, normalised_dense
from paretognn.graph import build_graph
from paretognn.methods import CONTROLS, control_embeddings, method_config
from paretognn.methods.controls import raw_features, smoothed_features, spectral_positions


def test_raw_features_are_the_features_or_their_best_approximation(graph):
    dense = np.asarray(graph.features.todense()) if hasattr(graph.features, "todense") else graph.features
    np.testing.assert_allclose(raw_features(graph, 12), dense, atol=1e-6)
    small = raw_features(graph, 4)
    s = np.linalg.svd(dense, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(small), np.linalg.norm(s[:4]), rtol=1e-3)


def test_smoothed_features_are_two_hops(graph):
    dense = np.asarray(graph.features.todense()) if hasattr(graph.features, "todense") else graph.features
    a = normalised_dense(graph)
    want = a @ a @ dense
    np.testing.assert_allclose(smoothed_features(graph, 12), want, atol=1e-5)
    small = smoothed_features(graph, 4)
    gram = small @ small.T
    u, s, _ = np.linalg.svd(want, full_matrices=False)
    np.testing.assert_allclose(gram, (u[:, :4] * s[:4] ** 2) @ u[:, :4].T, atol=2e-2 * s[0] ** 2)


def test_spectral_positions_are_leading_eigenvectors():
    graph = make_graph()
    z = spectral_positions(graph, 5)
    values, vectors = np.linalg.eigh(normalised_dense(graph))
    order = np.argsort(-np.abs(values))[:5]
    want = (vectors[:, order] * values[order] ** 2) @ vectors[:, order].T
    np.testing.assert_allclose(z @ z.T, want, atol=0.05)


@pytest.mark.parametrize("name", CONTROLS)
def test_every_control_is_finite_deterministic_and_no_wider_than_asked(graph, name):
    config, _ = method_config(graph, overrides={"encoder": {"hidden_dims": [8, 6]}})
    first, again = (control_embeddings(name, graph, config) for _ in range(2))
    assert first.tobytes() == again.tobytes()
    assert first.shape[0] == 60
    assert first.shape[1] <= 6
    assert np.isfinite(first).all()


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_tiny_graphs(name, n):
    graph = build_graph(n, np.arange(n - 1), np.arange(1, n), features=np.eye(n, 3))
    config, _ = method_config(graph)
    assert np.isfinite(control_embeddings(name, graph, config)).all()


def test_units_of_a_column_do_not_matter_where_the_encoder_standardises():
    graph = make_graph(60)
    units = graph.replace(features=graph.features * np.geomspace(1, 1e4, graph.num_features, dtype=np.float32) + 5)
    config = method_config(graph, "paretognn")[0]
    assert config.features == "standardise"
    for name in CONTROLS[:2]:
        one, two = (control_embeddings(name, each, config) for each in (graph, units))
        np.testing.assert_allclose(one, two, atol=1e-3)
    plain = config.model_copy(update={"features": "none"})
    np.testing.assert_array_equal(control_embeddings("raw-features", units, plain), units.features)
