"""Zero rows, constant columns, isolated nodes, equal rows, all temperatures: value and gradient stay in range."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from made import generator, on_device
from paretognn.graph import build_graph
from paretognn.nn import GCN, BranchedGCN, EncoderSettings
from paretognn.nn.unit_rows import unit_rows
from paretognn.pretext import TASKS, info_nce
from paretognn.pretext.reconstruction import cosines

N, D = 12, 6
LIMIT = 1e5
"""Gradient norms of a first step: a zero vector divided by its length would give 1e6 and more."""
rng = np.random.default_rng(0)
FEATURES = {
    "zero": np.zeros((N, D)),
    "constant": np.full((N, D), 2.0),
    "equal rows": np.tile(rng.standard_normal(D), (N, 1)),
    "zero rows": rng.standard_normal((N, D)) * (np.arange(N) % 2)[:, None],
    "constant columns": np.where(np.arange(D) % 2, 1.0, rng.standard_normal((N, D))),
    "one row alone": np.eye(N, D) * (np.arange(N) == 0)[:, None],
    "normal": rng.standard_normal((N, D)),
}
EDGES = {
    "none": np.zeros((0, 2), int),
    "complete": np.array([(a, b) for a in range(N) for b in range(a)]),
    "half isolated": np.array([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]),
}
MORE = {
    "feat_rec": [{}, {"form": "frobenius"}, {"masked_input": "zero", "bridge": True, "replace": 0.3}],
    "topo_rec": [{}, {"sampler": {"name": "full"}, "exclude_targets": True}],
    "rep_decor": [{}, {"form": "cross"}],
    "mi_ng": [{}, {"head": "linear"}],
    "mi_nsg": [{"projection": p, "temperature": t} for p in (0, 4) for t in (0.01, 0.1, 1.0)],
    "bgrl": [{"predictor": 4}],
}
CASES = [(name, settings) for name in TASKS for settings in MORE.get(name, [{}])]


def first_gradients(name, settings, graph, scaling, norm):
    torch.manual_seed(0)
    kind = TASKS[name]
    operators = list(kind.operators)
    shape = EncoderSettings(hidden_dims=[5, 4], norm=norm, operators=operators)
    encoder = GCN(D, shape) if operators == ["adjacency"] else BranchedGCN(D, shape)
    task = kind(kind.Settings(**settings), D, 4)
    prepared = on_device(graph, scaling)
    task.start(prepared, encoder, 0)
    loss = task(prepared, encoder.train(), generator())
    parameters = [p for p in (*encoder.parameters(), *task.parameters()) if p.requires_grad]
    grads = torch.autograd.grad(loss, parameters, allow_unused=True)
    return loss, [grad for grad in grads if grad is not None]


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_first_losses_and_gradients_are_finite_and_bounded(name, settings):
    for place, features in enumerate(FEATURES.values()):
        matrix = sp.csr_array(features.astype(np.float32)) if place % 2 else features
        for ends in EDGES.values():
            graph = build_graph(N, ends[:, 0], ends[:, 1], features=matrix)
            for scaling, norm in (("standardise", "batch"), ("none", "batch"), ("none", "none")):
                loss, grads = first_gradients(name, settings, graph, scaling, norm)
                assert torch.isfinite(loss)
                assert all(torch.isfinite(grad).all() for grad in grads)
                assert sum(float(grad.square().sum()) for grad in grads) ** 0.5 < LIMIT


def test_a_zero_row_of_a_unit_matrix_is_zero_and_has_no_gradient():
    x = torch.tensor([[0.0, 0.0], [3.0, 4.0], [1e-9, 0.0]], requires_grad=True)
    out = unit_rows(x)
    torch.testing.assert_close(out, torch.tensor([[0.0, 0.0], [0.6, 0.8], [0.0, 0.0]]))
    (grad,) = torch.autograd.grad(out.sum(), x)
    assert not grad[[0, 2]].any()
    torch.testing.assert_close(grad[1], torch.tensor([0.032, -0.024]))


@pytest.mark.parametrize("temperature", [0.01, 0.024, 0.026, 0.1, 1.0])
def test_the_contrast_of_zero_and_equal_rows_is_finite_at_every_temperature(temperature):
    first = torch.zeros(6, 3)
    first[3:] = torch.tensor([1.0, 2.0, -1.0])
    first.requires_grad_()
    loss = info_nce(first, first.detach().clone(), temperature)
    (grad,) = torch.autograd.grad(loss, first)
    assert torch.isfinite(loss)
    assert not grad[:3].any()
    assert float(grad.norm()) < LIMIT


def test_the_cosine_of_a_zero_decoding_is_zero_and_has_no_gradient():
    features = on_device(build_graph(3, np.array([0]), np.array([1]), features=np.eye(3)), "none").features
    h = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1e-9, 0.0]], requires_grad=True)
    decoder = torch.tensor([[1.0, 0.5], [0.3, 1.0], [1.0, 1.0]], requires_grad=True)
    found = cosines(h, decoder, features)
    assert found[[0, 2]].tolist() == [0, 0]
    assert float(found[1]) == pytest.approx(0.3 / (1 + 0.09 + 1) ** 0.5, rel=1e-5)
    grad_h, grad_decoder = torch.autograd.grad(found.sum(), (h, decoder))
    assert not grad_h[[0, 2]].any()
    assert float(grad_decoder.norm()) < 10


def test_weights_and_rows_whose_inverse_would_be_infinite_give_finite_features():
    ends = EDGES["complete"]
    graph = build_graph(N, ends[:, 0], ends[:, 1], np.full(len(ends), 1e-41))
    assert graph.weights.min() > 0
    assert torch.isfinite(on_device(graph).features.rows()).all()
    tiny = build_graph(N, ends[:, 0], ends[:, 1], features=np.full((N, D), 1e-42))
    assert tiny.features.min() > 0
    assert torch.isfinite(on_device(tiny, "row").features.rows()).all()
