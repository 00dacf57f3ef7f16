import pytest
import torch

from made import generator, on_device
from paretognn.nn import GCN, EncoderSettings
from paretognn.pretext import RepDecor
from paretognn.pretext.rep_decor import decorrelation, standardise


@pytest.mark.parametrize("form", ["per-view", "cross"])
def test_equals_its_definition(form):
    z1, z2 = (torch.randn(9, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    a, b = ((z - z.mean(0)) / z.std(0, unbiased=False) for z in (z1, z2))
    eye = torch.eye(4, dtype=torch.float64)
    if form == "cross":
        want = torch.dist(a, b) / 3 + 0.1 * torch.dist(a.T @ b / 9, eye)
    else:
        want = torch.dist(a, b) ** 2 / 9 + 0.1 * sum(torch.dist(z.T @ z / 9, eye) ** 2 for z in (a, b))
    torch.testing.assert_close(decorrelation(standardise(z1), standardise(z2), 0.1, form), want)
    assert torch.autograd.gradcheck(lambda u, v: decorrelation(standardise(u), standardise(v), 0.1, form), (z1, z2))


@pytest.mark.parametrize("form", ["per-view", "cross"])
def test_vanishes_on_equal_whitened_views(form):
    q = torch.linalg.qr(torch.randn(50, 4, dtype=torch.float64) - 0.0)[0]
    q = torch.linalg.qr(q - q.mean(0))[0] * 50**0.5
    assert decorrelation(standardise(q), standardise(q), 1.0, form).item() == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("form", ["per-view", "cross"])
def test_c34_constant_column_and_single_row(form):
    for z in (torch.ones(6, 3), torch.randn(1, 3)):
        z.requires_grad_()
        loss = decorrelation(standardise(z), standardise(z * 1.0), 1e-3, form)
        (grad,) = torch.autograd.grad(loss, z)
        assert torch.isfinite(loss)
        assert torch.isfinite(grad).all()


def test_views_share_their_nodes(graph):
    prepared = on_device(graph)
    task = RepDecor(RepDecor.Settings(sampler={"name": "saint-node", "seeds": 20}), prepared.features.width, 4)
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=[4]))
    first, second = task.sample(prepared, encoder, generator())
    assert torch.equal(first.nodes, second.nodes)
    assert not torch.equal(first.features.column_mask, second.features.column_mask)
    assert torch.isfinite(task.loss(encoder, (first, second)))
