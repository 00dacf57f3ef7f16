import numpy as np
import pytest
import torch
from torch import nn

from made import generator, make_graph, on_device, plain_view, scaled_dense
from paretognn.graph import build_graph
from paretognn.nn import GCN, EncoderSettings
from paretognn.pretext import FeatRec
from paretognn.pretext import reconstruction as rec


def store_of(graph):
    return on_device(graph).features


@pytest.fixture
def factors():
    torch.manual_seed(0)
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((4, 3), (12, 3))]


def test_squared_residual_equals_the_dense_form(graph, factors):
    h, weight = factors
    nodes = torch.tensor([0, 9, 31, 58])
    x = torch.tensor(scaled_dense(graph))[nodes]
    got = rec.squared_residual(h, weight, store_of(graph).take(nodes))
    want = (h @ weight.T - x).square().sum()
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    for a, b in zip(torch.autograd.grad(got, factors), torch.autograd.grad(want, factors), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
    assert torch.autograd.gradcheck(lambda h, w: rec.squared_residual(h, w, store_of(graph).take(nodes)), factors)


@pytest.mark.parametrize("noise", [1e-1, 1e-2, 1e-3, 3e-4])
def test_near_a_good_fit_float32_stays_right(noise):
    """X is reconstructed up to a little noise: the factored terms cancel, the value must not."""
    torch.manual_seed(0)
    graph = make_graph(200, d=30, sparse=True)
    nodes = torch.arange(200)
    x = torch.tensor(scaled_dense(graph))
    u, s, vt = torch.linalg.svd(x + noise * torch.randn(200, 30, dtype=torch.float64), full_matrices=False)
    h, weight = (u * s).float().requires_grad_(), vt.T.float().requires_grad_()
    got = rec.squared_residual(h, weight, store_of(graph).take(nodes))
    want = (h.double() @ weight.double().T - x).square().sum()
    assert got.item() == pytest.approx(want.item(), rel=1e-4)
    for a, b in zip(torch.autograd.grad(got, (h, weight)), torch.autograd.grad(want, (h, weight)), strict=True):
        assert float((a - b).norm()) < 1e-3 * float(b.norm())


def test_cosines_equal_the_dense_form(graph, factors):
    h, weight = factors
    nodes = torch.tensor([0, 9, 31, 58])
    x = torch.tensor(scaled_dense(graph))[nodes]
    want = nn.functional.cosine_similarity(h @ weight.T, x)
    torch.testing.assert_close(rec.cosines(h, weight, store_of(graph).take(nodes)), want, rtol=1e-5, atol=1e-5)


def test_cosines_near_a_perfect_fit():
    graph = make_graph(100, d=20, sparse=True)
    x = torch.tensor(scaled_dense(graph)).float()
    weight = torch.linalg.qr(torch.randn(20, 20))[0]
    got = rec.cosines(x @ weight, weight, store_of(graph))
    torch.testing.assert_close(got, torch.ones(100), atol=1e-4, rtol=0)


def test_cosines_of_rows_that_the_decoder_nearly_forgets():
    """Singular values of the decoder from 1 to 1e-4, and rows that are largest where it is smallest: their norms
    cancel, value and gradient must not."""
    torch.manual_seed(0)
    graph = make_graph(100, d=20, sparse=True)
    x = torch.tensor(scaled_dense(graph))
    left, right = (torch.linalg.qr(torch.randn(20, 20, dtype=torch.float64))[0] for _ in range(2))
    sizes = torch.logspace(0, -4, 20, dtype=torch.float64)
    weight = ((left * sizes) @ right.T).float().requires_grad_()
    h = ((torch.randn(100, 20, dtype=torch.float64) * sizes.flip(0)) @ right.T).float().requires_grad_()
    got = rec.cosines(h, weight, store_of(graph))
    want = nn.functional.cosine_similarity(h.double() @ weight.double().T, x)
    torch.testing.assert_close(got.double(), want, rtol=0, atol=2e-4)
    found, known = (torch.autograd.grad((1 - c).square().sum(), (h, weight)) for c in (got, want))
    for a, b in zip(found, known, strict=True):
        assert float((a - b).norm()) < 1e-3 * float(b.norm())


def test_gradcheck_of_cosines(graph, factors):
    nodes = torch.tensor([0, 9, 31, 58])
    assert torch.autograd.gradcheck(lambda h, w: rec.cosines(h, w, store_of(graph).take(nodes)), factors)


@pytest.mark.parametrize("masked_input", ["token", "zero"])
@pytest.mark.parametrize("form", ["frobenius", "cosine"])
def test_loss_equals_its_definition(graph, form, masked_input):
    """Eq. 15-16 with the masked rows zeroed before the decoder and the loss on the masked rows."""
    prepared = on_device(graph)
    d = prepared.features.width
    encoder = GCN(d, EncoderSettings(hidden_dims=[8]))
    task = FeatRec(FeatRec.Settings(form=form, masked_input=masked_input), d, 8)
    if task.token is not None:
        nn.init.normal_(task.token)
    batch = task.sample(prepared, encoder, generator())
    got = task.loss(encoder, batch)
    masked, a = batch.masked, batch.view.adjacencies[0].to_dense()
    x = torch.tensor(scaled_dense(graph)).float()
    fill = torch.zeros(d) if task.token is None else task.token
    h = a @ torch.where(masked[:, None], fill, x) @ encoder.weights[0]
    z = encoder.finish(h, 0)
    out = (a @ torch.where(masked[:, None], 0.0, z)) @ task.decoder.T
    if form == "frobenius":
        want = (out - x)[masked].norm() / x[masked].norm()
    else:
        want = (1 - nn.functional.cosine_similarity(out[masked], x[masked])).square().mean()
    torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-4)
    leaves = [*encoder.parameters(), *task.parameters()]
    for g, w in zip(torch.autograd.grad(got, leaves), torch.autograd.grad(want, leaves), strict=True):
        torch.testing.assert_close(g, w, rtol=1e-2, atol=1e-4)


def test_constant_features_give_a_finite_loss():
    graph = build_graph(5, [0, 1], [1, 2], features=np.ones((5, 3)))
    prepared = on_device(graph)
    encoder = GCN(3, EncoderSettings(hidden_dims=[4]))
    for form in ("frobenius", "cosine"):
        task = FeatRec(FeatRec.Settings(form=form), 3, 4)
        loss = task(prepared, encoder, generator())
        grads = torch.autograd.grad(loss, list(task.parameters()), allow_unused=True)
        assert torch.isfinite(loss)
        assert all(g is None or torch.isfinite(g).all() for g in grads)
    assert plain_view(prepared).num_rows == 5
