import numpy as np
import pytest
import scipy.sparse as sp
import torch

from made import make_graph, on_device, plain_view, scaled_dense
from paretognn.nn import FeatureScaling, FeatureStore, FeatureView


def test_standardised_product_never_densifies_yet_equals_the_definition(graph):
    store = on_device(graph).features
    assert (store.sparse is None) == (not sp.issparse(graph.features))
    weight = torch.randn(store.width, 5, dtype=torch.float64, requires_grad=True)
    expected = torch.tensor(scaled_dense(graph)) @ weight
    torch.testing.assert_close(store.times(weight), expected, atol=1e-5, rtol=1e-5)
    nodes = torch.tensor([3, 50, 7])
    torch.testing.assert_close(store.take(nodes).times(weight), expected[nodes], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(
        store.take(nodes).rows().double(), torch.tensor(scaled_dense(graph))[nodes], atol=1e-5, rtol=1e-5
    )
    assert torch.autograd.gradcheck(lambda w: store.take(nodes).times(w), (weight,))


def test_squared_norms(graph):
    expected = (scaled_dense(graph) ** 2).sum(1)
    np.testing.assert_allclose(on_device(graph).features.squared_norms, expected, rtol=1e-4)


def test_c34_a_constant_column_gives_zero():
    x = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
    x[:, 1] = 7.0
    for features in (x, sp.csr_array(x), x[:1]):
        scaling = FeatureScaling.fit(features, "standardise")
        rows = FeatureStore.scaled(features, scaling).rows()
        assert torch.isfinite(rows).all()
        assert not rows[:, 1].any()


def test_row_scaling():
    x = np.array([[1.0, 3.0], [0.0, 0.0]], dtype=np.float32)
    for features in (x, sp.csr_array(x)):
        store = FeatureStore.scaled(features, FeatureScaling.fit(features, "row"))
        torch.testing.assert_close(store.rows(), torch.tensor([[0.25, 0.75], [0, 0]]))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["standardise", "row", "none"])
def test_blocks_of_rows_give_what_all_rows_at_once_do(kind, sparse, monkeypatch):
    features = make_graph(sparse=sparse).features
    given = features.copy()

    def made():
        store = FeatureStore.scaled(features, FeatureScaling.fit(features, kind))
        assert store.dense is not None
        return store

    monkeypatch.setattr("paretognn.nn.features.DENSE_FROM", 0.0)
    once = made()
    monkeypatch.setattr("paretognn.nn.features.BLOCK_ENTRIES", 7 * features.shape[1])
    blocks = made()
    torch.testing.assert_close(blocks.rows(), once.rows())
    torch.testing.assert_close(blocks.squared_norms, once.squared_norms)
    assert (given != features).sum() == 0  # the user's own are not scaled in place


@pytest.mark.parametrize("width", [3, 40])
@pytest.mark.parametrize("token", [False, True])
def test_convolve_equals_the_dense_product_in_either_order(graph, width, token):
    """Column mask, row mask and token, on both orders of products (aggregating first where D <= 2 width)."""
    store = on_device(graph).features
    adjacency = plain_view(on_device(graph)).adjacencies[0]
    n, d = store.num_rows, store.width
    r = torch.Generator().manual_seed(0)
    mask = (torch.rand(d, generator=r) > 0.3).float()
    rows = torch.rand(n, generator=r) < 0.4
    fill = torch.randn(d, requires_grad=True) if token else None
    weight = torch.randn(d, width, requires_grad=True)
    view = FeatureView(store, None, mask, rows, fill) if not token else FeatureView(store, None, None, rows, fill)
    got = view.convolve(adjacency, weight)
    want = adjacency.to_dense() @ view.dense() @ weight
    torch.testing.assert_close(got, want, atol=2e-4, rtol=2e-4)
    leaves = (weight, fill) if token else (weight,)
    loss = lambda out: (out * torch.linspace(-1, 1, out.numel()).view_as(out)).sum()  # noqa: E731
    for a, b in zip(torch.autograd.grad(loss(got), leaves), torch.autograd.grad(loss(want), leaves), strict=True):
        torch.testing.assert_close(a, b, atol=2e-4, rtol=2e-4)


def test_a_shuffled_view_shares_the_product_and_equals_its_own(graph):
    store = on_device(graph).features
    adjacency = plain_view(on_device(graph)).adjacencies[0]
    weight = torch.randn(store.width, 3, requires_grad=True)
    order = torch.randperm(store.num_rows)
    view = FeatureView(store)
    both = view.convolve(adjacency, weight), view.shuffled(order).convolve(adjacency, weight)
    x = store.rows()
    want = adjacency.to_dense() @ x @ weight, adjacency.to_dense() @ x[order] @ weight
    for a, b in zip(both, want, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)
    coefficients = torch.randn_like(want[0])
    losses = [(one * coefficients).sum() + two.square().sum() for one, two in (both, want)]
    grads = [torch.autograd.grad(loss, weight)[0] for loss in losses]
    torch.testing.assert_close(*grads, atol=1e-2, rtol=1e-3)
    changed = weight.detach().clone().requires_grad_()
    with torch.no_grad():
        changed.mul_(2)
    torch.testing.assert_close(view.convolve(adjacency, changed), 2 * both[0], atol=1e-4, rtol=1e-4)


def test_rows_taken_twice_are_those_rows(graph):
    store = on_device(graph).features
    part = store.take(torch.tensor([9, 4, 30])).take(torch.tensor([2, 0]))
    torch.testing.assert_close(part.rows(), store.rows()[[30, 9]])
    torch.testing.assert_close(part.squared_norms, store.squared_norms[[30, 9]])
    h = torch.randn(2, 3)
    torch.testing.assert_close(part.transpose_times(h), part.rows().T @ h, atol=1e-4, rtol=1e-4)


def test_statistics_ignore_the_order_of_rows():
    graph = make_graph()
    order = np.random.default_rng(3).permutation(graph.num_nodes)
    first = FeatureScaling.fit(graph.features, "standardise")
    second = FeatureScaling.fit(graph.features[order], "standardise")
    np.testing.assert_allclose(first.scale, second.scale, rtol=1e-6)


@pytest.mark.density_rule
def test_features_are_stored_dense_where_that_is_faster():
    for density, sparse in ((0.01, True), (0.2, False)):
        x = sp.csr_array(sp.random_array((100, 50), density=density, rng=np.random.default_rng(0)), dtype=np.float32)
        store = FeatureStore.scaled(x, FeatureScaling.fit(x, "standardise"))
        assert (store.sparse is not None) == sparse
        expected = (x.toarray() - x.toarray().mean(0)) * FeatureScaling.fit(x, "standardise").scale
        torch.testing.assert_close(store.rows(), torch.tensor(expected), atol=1e-4, rtol=1e-4)
