import numpy as np
import pytest
import torch

from made import SMALL, make_graph, on_device
from paretognn.reconcile import PseudoHomophily, StepContext, pseudo_homophily
from paretognn.reconcile.pseudo_homophily import soft_heterophily
from paretognn.sampling import SamplerSettings
from paretognn.training import MultiTaskModel, MultiTaskStepper, make_config, merge
from paretognn.training.frozen import build_encoder


def context(slopes, step=0):
    alignment = lambda criterion, sampler: np.array(slopes, float)  # noqa: E731
    return StepContext(("a", "b"), np.eye(2), np.ones(2), step, 0, alignment)


def test_a_task_whose_step_lowers_the_criterion_gains_weight():
    own = PseudoHomophily(PseudoHomophily.Settings(every=1, rate=0.05))
    first = own.weights(context([3.0, -2.0]))
    np.testing.assert_allclose(first, [0.55, 0.45])
    for step in range(1, 40):
        last = own.weights(context([3.0, -2.0], step))
    np.testing.assert_allclose(last, [1.0, 0.0])


def test_between_updates_the_weights_stand_and_embeddings_are_not_looked_at():
    own = PseudoHomophily(PseudoHomophily.Settings(every=3))
    first = own.weights(context([1.0, -1.0]))
    blind = StepContext(("a", "b"), np.eye(2), np.ones(2), 1, 0, None)
    np.testing.assert_array_equal(own.weights(blind), first)
    other = PseudoHomophily(PseudoHomophily.Settings(every=3))
    other.restore(own.state())
    np.testing.assert_array_equal(own.weights(context([1, 1], 3)), other.weights(context([1, 1], 3)))


def test_the_criterion_is_the_mean_difference_of_soft_assignments():
    z = torch.tensor([[0.0, 0], [0.1, 0], [5, 5], [5.1, 5]], requires_grad=True)
    source, target = torch.tensor([0, 2, 0]), torch.tensor([1, 3, 2])
    value = soft_heterophily(z, source, target, 2, 0.5, np.random.default_rng(0))
    assert value.item() == pytest.approx(1 / 3, abs=1e-3)
    inside = soft_heterophily(z, source[:2], target[:2], 2, 0.5, np.random.default_rng(0))
    assert inside.item() == pytest.approx(0, abs=1e-3)
    assert torch.isfinite(torch.autograd.grad(value, z)[0]).all()


def test_pseudo_homophily_is_the_share_of_edges_within_clusters():
    points = np.array([[0, 0], [0.1, 0], [5, 5], [5.1, 5]], dtype=np.float32)
    assert pseudo_homophily(points, np.array([[0, 1], [2, 3], [0, 2]]), 2, 0) == pytest.approx(2 / 3)
    assert pseudo_homophily(points, np.empty((0, 2), dtype=int), 2, 0) == 0


def test_the_alignment_is_the_inner_product_with_each_task_s_gradient():
    """Against a step of the criterion along each gradient, by differences."""
    config = make_config(merge(SMALL, {"encoder": {"norm": "none", "activation": "elu"}}))
    prepared = on_device(make_graph())
    model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width))
    stepper = MultiTaskStepper(model, prepared, config)
    for row, name in enumerate(stepper.names):
        stepper._task_gradient(row, name, 1)
    values = []

    def criterion(z, source, target):
        value = (z[source] * z[target]).sum(1).tanh().mean() + z.square().mean()
        values.append(value.item())
        return value

    found = stepper._alignment(criterion, SamplerSettings())
    for row in range(len(stepper.names)):
        change = stepper.gradients[row] / stepper.gradients[row].norm()
        ends = []
        for sign in (1, -1):
            place = 0
            for p in stepper.shared:
                p.data += sign * 1e-3 * change[place : place + p.numel()].view_as(p)
                place += p.numel()
            stepper._alignment(criterion, SamplerSettings())
            ends.append(values[-1])
            place = 0
            for p in stepper.shared:
                p.data -= sign * 1e-3 * change[place : place + p.numel()].view_as(p)
                place += p.numel()
        slope = (ends[0] - ends[1]) / 2e-3 * float(stepper.gradients[row].norm())
        assert found[row] == pytest.approx(slope, rel=2e-2, abs=1e-4)
