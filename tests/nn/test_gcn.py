import numpy as np
import pytest
import torch
from torch_geometric.nn import GAT, GIN, GraphSAGE

from made import generator, make_graph, normalised_dense, on_device, plain_view, scaled_dense
from paretognn.graph import build_graph
from paretognn.nn import GCN, BatchNorm, BranchedGCN, EncoderSettings, PyGEncoder
from paretognn.nn.norm import EPS, _BatchNorm
from paretognn.nn.prelu import _PReLU
from paretognn.training.inference import embed

NORMS = ("batch", "layer", "none")


def dense_forward(encoder, adjacency, x):
    """The definition, with batch statistics: act(norm(A_hat H W))."""
    h = torch.tensor(x)
    adjacency = torch.tensor(adjacency)
    for weight, norm, act in zip(encoder.weights, encoder.norms, encoder.activations, strict=True):
        h = adjacency @ h @ weight.double()
        h = (h - h.mean(0)) / (h.var(0, unbiased=False) + 1e-5).sqrt()
        h = h * norm.weight.double() + norm.bias.double()
        h = torch.where(h > 0, h, act.slope.double() * h)
    return h


@pytest.mark.parametrize("dims", [[16, 8], [4], [8, 16, 5]])
def test_forward_and_gradient_equal_the_definition(graph, dims):
    prepared = on_device(graph)
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=dims))
    got = encoder(plain_view(prepared))
    want = dense_forward(encoder, normalised_dense(graph), scaled_dense(graph))
    torch.testing.assert_close(got.double(), want, atol=1e-4, rtol=1e-4)
    target = torch.linspace(-1, 1, got.numel()).view_as(got)
    for a, b in zip(
        torch.autograd.grad((got * target).sum(), list(encoder.parameters())),
        torch.autograd.grad((want * target).sum(), list(encoder.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(a, b, atol=2e-3, rtol=2e-3)


def test_weighted_edges_reach_the_normalisation():
    graph = build_graph(4, [0, 1, 2], [1, 2, 3], [0.5, 2.0, 3.0], features=np.eye(4))
    adjacency = plain_view(on_device(graph)).adjacencies[0]
    np.testing.assert_allclose(adjacency.to_dense(), normalised_dense(graph), atol=1e-6)


def test_batch_norm_and_prelu_gradients():
    x = torch.randn(7, 4, dtype=torch.double, requires_grad=True)
    weight, bias = (torch.randn(4, dtype=torch.double, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(_BatchNorm.apply, (x, weight, bias))
    assert torch.autograd.gradcheck(_PReLU.apply, (x, torch.tensor([0.3], dtype=torch.double, requires_grad=True)))


def test_c34_c36_batch_norm_of_one_row_and_of_a_constant_column():
    norm = BatchNorm(3)
    for x in (torch.ones(1, 3), torch.ones(6, 3)):
        x.requires_grad_()
        out = norm(x)
        (grad,) = torch.autograd.grad(out.square().sum(), x)
        assert torch.isfinite(out).all()
        assert not grad.any()


def test_batch_norm_keeps_its_digits_beside_a_large_mean():
    x = torch.randn(50, 3, dtype=torch.double) * 1e-2 + torch.tensor([1e3, -1e4, 0.0])
    norm = BatchNorm(3)
    want = (x - x.mean(0)) / (x.var(0, unbiased=False) + EPS).sqrt()
    single = x.float()
    exact = (single.double() - single.double().mean(0)) / (single.double().var(0, unbiased=False) + EPS).sqrt()
    torch.testing.assert_close(norm(x.float()).double(), exact, atol=2e-2, rtol=1e-3)
    torch.testing.assert_close(norm.double()(x), want)


@pytest.mark.parametrize("norm", NORMS)
def test_embedding_in_batches_equals_one_pass(graph, norm):
    prepared = on_device(graph)
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=[16, 8], norm=norm))
    whole = embed(encoder, prepared, calibrate=True)
    np.testing.assert_allclose(embed(encoder, prepared, rows=7), whole, atol=1e-5)
    encoder.eval()
    np.testing.assert_allclose(encoder(plain_view(prepared)).detach(), whole, atol=1e-5)


def test_c47_embedding_twice_gives_the_same_bytes(graph):
    prepared = on_device(graph)
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=[8]))
    first = embed(encoder, prepared, calibrate=True)
    assert first.numpy().tobytes() == embed(encoder, prepared).numpy().tobytes()


def test_permuting_nodes_permutes_embeddings():
    graph = make_graph()
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    place = np.argsort(order)
    pairs = graph.pairs()
    moved = build_graph(graph.num_nodes, place[pairs[:, 0]], place[pairs[:, 1]], features=graph.features[order])
    encoder = GCN(12, EncoderSettings(hidden_dims=[8]))
    first = embed(encoder, on_device(graph), calibrate=True)
    np.testing.assert_allclose(embed(encoder, on_device(moved), calibrate=True), first[order], atol=1e-4)


ENCODERS = {
    **{norm: lambda norm=norm: GCN(3, EncoderSettings(hidden_dims=[4, 2], norm=norm)) for norm in NORMS},
    "two operators": lambda: BranchedGCN(3, EncoderSettings(hidden_dims=[2], operators=["adjacency", "diffusion"])),
    "mean of neighbours": lambda: PyGEncoder(GraphSAGE(3, 4, 2, out_channels=2), 3),
    "attention": lambda: PyGEncoder(GAT(3, 4, 2, out_channels=2), 3),
    "sum of neighbours": lambda: PyGEncoder(GIN(3, 4, 2, out_channels=2), 3),
}


@pytest.mark.parametrize("make", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("n", [1, 2])
def test_c35_no_edges_and_one_node(make, n):
    prepared = on_device(build_graph(n, [], [], features=np.eye(n, 3)))
    encoder = make()
    if not isinstance(encoder, BranchedGCN):
        assert torch.isfinite(encoder(plain_view(prepared))).all()
    embeddings = embed(encoder, prepared, calibrate=True)
    assert embeddings.shape == (n, 2)
    assert np.isfinite(embeddings).all()


def test_c36_a_last_batch_of_one_row_is_embedded_as_the_others():
    prepared = on_device(build_graph(5, [0, 1, 3], [1, 2, 4], features=np.eye(5)))
    encoder = GCN(5, EncoderSettings(hidden_dims=[4, 2]))
    whole = embed(encoder, prepared, calibrate=True)
    np.testing.assert_allclose(embed(encoder, prepared, calibrate=True, rows=4), whole, atol=1e-6)
    assert np.isfinite(whole).all()


def test_any_pyg_module_can_be_the_encoder(graph):
    from paretognn.sampling import sage_view

    module = GraphSAGE(graph.num_features, 8, 2, out_channels=5)
    encoder = PyGEncoder(module, graph.num_features)
    prepared = on_device(graph)
    assert (encoder.out_dim, encoder(plain_view(prepared)).shape) == (5, (60, 5))
    blocks = sage_view(prepared, torch.tensor([4, 9]), [5, 5], generator())
    assert encoder(blocks).shape == (2, 5)
    assert embed(encoder, prepared).shape == (60, 5)
