"""Layers whose dense products have bfloat16 operands."""

import pytest
import torch

from made import generator, on_device, plain_view
from paretognn.errors import InputError
from paretognn.methods import method_config
from paretognn.nn import GCN, EncoderSettings
from paretognn.nn.products import half
from paretognn.training import train

HALF = {"encoder": {"settings": {"precision": "bfloat16"}, "hidden_dims": [16, 8]}, "steps": 3}


def rounded(x):
    return x.bfloat16().double()


def test_a_product_and_its_gradients_are_those_of_rounded_operands():
    a, b, up = (torch.randn(shape, generator=generator()) for shape in ((40, 30), (30, 20), (40, 20)))
    a.requires_grad_(), b.requires_grad_()
    got = half(a, b)
    assert got.dtype == torch.float32
    for found, want in zip(
        (got, *torch.autograd.grad(got, (a, b), up)),
        (rounded(a) @ rounded(b), rounded(up) @ rounded(b).T, rounded(a).T @ rounded(up)),
        strict=True,
    ):
        # The sum itself is rounded once more, to 8 bits.
        torch.testing.assert_close(found.double(), want, rtol=2**-8, atol=1e-4)


def test_a_constant_operand_has_no_gradient():
    a, b = torch.randn(4, 3), torch.randn(3, 2, requires_grad=True)
    half(a, b).sum().backward()
    assert a.grad is None
    assert b.grad.dtype == torch.float32


@pytest.mark.parametrize("dims", [[16, 8], [8, 16]])
def test_every_dense_product_of_the_encoder_is_taken_so(graph, dims, monkeypatch):
    prepared = on_device(graph)
    taken = []
    monkeypatch.setattr("paretognn.nn.gcn.product", lambda kind: lambda a, b: taken.append(kind) or a @ b)
    settings = EncoderSettings(hidden_dims=dims, settings={"precision": "bfloat16"})
    GCN(prepared.features.width, settings)(plain_view(prepared))
    sparse = prepared.features.dense is None  # the first layer's product is, too
    assert taken == ["bfloat16"] * (len(dims) - sparse)


def test_training_with_it_differs_repeats_itself_and_gives_float32(graph):
    config, _ = method_config(graph, overrides=HALF)
    plain, _ = method_config(graph, overrides={**HALF, "encoder": {"hidden_dims": [16, 8]}})
    (model, first), (_, again), (_, full) = (train(graph, each) for each in (config, config, plain))
    assert first.dtype == "float32"
    assert all(p.dtype == torch.float32 for p in model.encoder.parameters())
    assert (first == again).all()
    assert (first != full).any()
    torch.testing.assert_close(torch.tensor(first), torch.tensor(full), atol=0.3, rtol=0.1)


def test_another_precision_is_refused(graph):
    with pytest.raises(InputError, match="precision"):
        method_config(graph, overrides={"encoder": {"settings": {"precision": "float8"}}})
