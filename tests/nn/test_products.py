"""Layers whose dense products are of bfloat16."""

import pytest
import torch

from made import generator, make_graph, on_device, plain_view
from paretognn.errors import InputError
from paretognn.methods import method_config
from paretognn.nn import GCN, EncoderSettings
from paretognn.nn.off_device import HostStore
from paretognn.nn.products import ROWS, bfloat16_matmul
from paretognn.sampling import Augmentation, augment, whole
from paretognn.training import train
from paretognn.training.frozen import build_encoder
from paretognn.training.inference import embed

CPU = torch.device("cpu")


def settings(precision, dims=(16, 8), activation="prelu"):
    return EncoderSettings(hidden_dims=list(dims), activation=activation, settings={"precision": precision})


def rounded(x):
    return x.detach().bfloat16().double()


@pytest.mark.parametrize("rows", [0, 1, ROWS - 1, ROWS, ROWS + 40])
def test_a_product_and_its_gradients_are_those_of_rounded_operands(rows):
    a, b, up = (torch.randn(shape, generator=generator()) for shape in ((rows, 30), (30, 20), (rows, 20)))
    a.requires_grad_(), b.requires_grad_()
    got = bfloat16_matmul(a, b)
    assert got.dtype == torch.float32
    for found, want in zip(
        (got, *torch.autograd.grad(got, (a, b), up)),
        (rounded(a) @ rounded(b), rounded(up) @ rounded(b).T, rounded(a).T @ rounded(up)),
        strict=True,
    ):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.double(), want, rtol=2**-8, atol=1e-4)  # the result is rounded too, to 8 bits


def test_rows_of_a_product_come_in_few_numbers(monkeypatch):
    seen = set()
    product = torch.Tensor.__matmul__
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda a, b: seen.add(len(a)) or product(a, b))
    for rows in range(1, 2 * ROWS + 1, 7):
        bfloat16_matmul(torch.ones(rows, 3), torch.ones(3, 2))
    assert seen == {ROWS, 2 * ROWS}


@pytest.mark.parametrize("width", [4, 16], ids=["multiplied first", "aggregated first"])
@pytest.mark.parametrize("kind", ["plain", "shuffled", "masked"])
def test_the_first_layer_is_taken_so_in_every_view(kind, width):
    prepared = on_device(make_graph(sparse=False))
    masks = Augmentation(feature_mask=0.3, node_drop=0.3) if kind == "masked" else Augmentation()
    weight = torch.randn(prepared.features.width, width, generator=generator())
    images = []
    for product in (torch.matmul, bfloat16_matmul):  # a view keeps its image, so each has its own
        view = augment(whole(prepared), masks, generator())
        order = torch.randperm(view.num_rows, generator=generator())
        features = view.features.shuffled(order) if kind == "shuffled" else view.features
        images.append(features.convolve(view.adjacency(0), weight, product))
    full, reduced = images
    assert not torch.equal(full, reduced)
    torch.testing.assert_close(full, reduced, rtol=0.05, atol=0.05)


def test_features_off_the_device_are_taken_so():
    there = on_device(make_graph(sparse=False)).features
    weight = torch.randn(there.width, 5, generator=generator())
    off = HostStore(there, CPU).times(weight, None, bfloat16_matmul)
    assert not torch.equal(off, there.times(weight))
    torch.testing.assert_close(off, there.times(weight, None, bfloat16_matmul))


@pytest.mark.parametrize("dims", [[16, 8], [8, 16]])
def test_the_gradients_of_an_encoder_are_near_those_of_float32(graph, dims):
    prepared = on_device(graph)
    gradients = []
    for precision in ("float32", "bfloat16"):
        torch.manual_seed(0)
        encoder = GCN(prepared.features.width, settings(precision, dims, "elu"))  # no kink, at which signs change
        out = encoder(plain_view(prepared))
        target = torch.linspace(-1, 1, out.numel()).view_as(out)
        gradients.append(torch.autograd.grad((out * target).sum(), list(encoder.parameters())))
    assert any(not torch.equal(a, b) for a, b in zip(*gradients, strict=True))
    for full, reduced in zip(*gradients, strict=True):
        assert (full - reduced).norm() <= 0.05 * full.norm()


def test_nodes_are_embedded_in_float32(graph):
    prepared = on_device(graph)
    full, reduced = (GCN(prepared.features.width, settings(precision)) for precision in ("float32", "bfloat16"))
    reduced.load_state_dict(full.state_dict())
    assert torch.equal(embed(full, prepared), embed(reduced, prepared))


def test_training_in_it_has_an_effect_and_repeats_itself(graph):
    def trained(precision):
        tree = {"encoder": settings(precision).model_dump(), "steps": 3}
        return train(graph, method_config(graph, overrides=tree)[0])[1]

    assert (trained("bfloat16") == trained("bfloat16")).all()
    assert (trained("bfloat16") != trained("float32")).any()


def test_it_is_of_the_built_in_encoder_alone(graph):
    config, _ = method_config(graph, overrides={"encoder": {"settings": {"precision": "bfloat16"}}})
    with pytest.raises(InputError, match=r"encoder\.settings are those of 'gcn', and an encoder of your own is given"):
        build_encoder(config, 12, torch.nn.Linear(12, 4))
    with pytest.raises(InputError, match="precision"):
        method_config(graph, overrides={"encoder": {"settings": {"precision": "float8"}}})
