import math

import pytest
import torch
from torch.nn import functional as F

from made import SMALL, generator, make_graph, on_device
from paretognn.nn import GCN, EncoderSettings
from paretognn.pretext import BGRL
from paretognn.training import MultiTaskModel, MultiTaskStepper, make_config, merge
from paretognn.training.frozen import build_encoder

ROW = {"tasks": {**dict.fromkeys(SMALL["tasks"]), "bgrl": {"predictor": 7, "horizon_steps": 10}}}


def parts(**settings):
    prepared = on_device(make_graph())
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=[6]))
    task = BGRL(BGRL.Settings(**settings), prepared.features.width, 6)
    task.start(prepared, encoder, 0)
    return prepared, encoder, task


def test_equals_its_definition():
    prepared, encoder, task = parts(edge_drop=(0.5, 0.1), feature_mask=(0.0, 0.4))
    for own in task.target.parameters():
        torch.nn.init.normal_(own)
    first, second = task.sample(prepared, encoder, generator())
    want = 2.0
    for online, target in ((first, second), (second, first)):
        p, t = task.predictor(encoder(online)), task.target(target)
        want = want - (F.normalize(p) * F.normalize(t)).sum(1).mean()
    torch.testing.assert_close(task.loss(encoder, (first, second)), want)


def test_the_two_views_have_rates_of_their_own():
    prepared, encoder, task = parts(edge_drop=(0.0, 0.9), feature_mask=(0.9, 0.0))
    first, second = task.sample(prepared, encoder, generator())
    assert first.adjacencies[0].nnz == prepared.num_entries + prepared.num_nodes > 2 * second.adjacencies[0].nnz
    assert first.features.column_mask.sum() < prepared.features.width
    assert second.features.column_mask is None


def test_the_target_gets_no_gradient_and_follows_as_a_moving_average():
    config = make_config(merge(SMALL, ROW))
    prepared = on_device(make_graph())
    model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width))
    stepper = MultiTaskStepper(model, prepared, config)
    task = model.tasks["bgrl"]
    assert all(not p.requires_grad for p in task.target.parameters())
    assert all(torch.equal(a, b) for a, b in zip(task.target.parameters(), model.encoder.parameters(), strict=True))
    before = [p.clone() for p in task.target.parameters()]
    stepper.step()
    assert all(p.grad is None for p in task.target.parameters())
    for old, new, online in zip(before, task.target.parameters(), model.encoder.parameters(), strict=True):
        torch.testing.assert_close(new, 0.99 * old + 0.01 * online.detach())


@pytest.mark.parametrize(("done", "want"), [(1, 0.99), (6, 0.995), (11, 1.0), (50, 1.0)])
def test_the_momentum_rises_as_a_cosine(done, want):
    assert parts(horizon_steps=10)[2].momentum(done) == pytest.approx(want)
    assert math.isclose(parts(horizon_steps=10, momentum=0.5)[2].momentum(1), 0.5)
