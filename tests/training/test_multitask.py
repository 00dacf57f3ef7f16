import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from made import SMALL, make_graph, on_device, plain_view
from paretognn.errors import NonFiniteError
from paretognn.pretext import TASKS, PretextTask, RepDecor, TaskSettings
from paretognn.reconcile import PseudoHomophily, min_norm_weights
from paretognn.training import MultiTaskModel, MultiTaskStepper, make_config, merge
from paretognn.training.frozen import build_encoder
from paretognn.training.multitask import learning_rate


def stepper(over=None, graph=None):
    config = make_config(merge(SMALL, over or {}))
    prepared = on_device(graph or make_graph(), config.features)
    model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width))
    return MultiTaskStepper(model, prepared, config)


def flat(module):
    return torch.cat([p.detach().flatten() for p in module.parameters()])


@pytest.fixture
def fake_task(monkeypatch):
    """Register a task whose loss is a given function of encoder and head."""

    def register(name, loss_of):
        class Fake(PretextTask):
            Settings = TaskSettings

            def __init__(self, settings, in_dim, width):
                super().__init__(settings, in_dim, width)
                self.head = nn.Parameter(torch.ones(()))

            def sample(self, graph, encoder, generator):
                return plain_view(graph)

            def loss(self, encoder, batch):
                return loss_of(encoder, batch, self.head)

        monkeypatch.setitem(TASKS, name, Fake)
        return {name: {}}

    return register


@pytest.mark.parametrize("normalise", ["none", "l2", "loss", "loss+"])
def test_weights_and_record_agree_with_the_gradients(normalise):
    s = stepper({"reconciler": {"normalise": normalise}})
    record = s.step()
    g = s.gradients.double().numpy()
    norm, loss = np.linalg.norm(g, axis=1), np.array(list(record.losses.values()))
    scale = {"none": np.ones(5), "l2": 1 / norm, "loss": 1 / loss, "loss+": 1 / (norm * loss)}[normalise]
    rows = g * scale[:, None]
    alpha = np.array(list(record.weights.values()))
    np.testing.assert_allclose(alpha, min_norm_weights(rows @ rows.T), atol=1e-6)
    np.testing.assert_allclose(list(record.gradient_norms.values()), norm, rtol=1e-6)
    assert record.combined_norm2 == pytest.approx(((alpha * scale) @ g) @ ((alpha * scale) @ g), rel=1e-4)
    assert record.cosines["feat_rec|topo_rec"] == pytest.approx(g[0] @ g[1] / norm[0] / norm[1], abs=1e-6)


def test_the_gram_matrix_is_that_of_the_gradients_in_float64():
    """Nearly parallel rows and very different norms, over several chunks and a part of one."""
    s = stepper({"encoder": {"hidden_dims": [600, 40]}})
    assert s.gradients.shape[1] > 2 * 4096
    rows = torch.randn(1, s.gradients.shape[1]) + 1e-3 * torch.randn_like(s.gradients)
    s.gradients.copy_(rows * torch.tensor([1e-4, 1.0, 1e3, 1.0, 0.0])[:, None])
    wide = s.gradients.double()
    want = wide @ wide.T
    scale = want.diagonal().sqrt()
    error = (s._gram() - want).abs() / (scale[:, None] * scale).clamp(min=1e-30)
    assert float(error.max()) < 1e-6


def test_stages_add_up_to_the_step():
    s = stepper()
    for record in (s.step(), s.step()):
        stages = {f"{task}/{stage}" for task in s.names for stage in ("sampling", "forward", "backward")}
        assert set(record.stage_seconds) == stages | {"solver", "optimizer"}
        assert min(record.stage_seconds.values()) >= 0
        assert sum(record.stage_seconds.values()) <= record.seconds


def test_c39_the_step_descends_for_every_task():
    """d = sum alpha g satisfies g_i . d >= |d|^2 (1 - 1e-4), and it is what the optimiser gets."""
    s = stepper()
    for _ in range(3):
        record = s.step()
        g = s.gradients.double().numpy()
        d = np.array(list(record.weights.values())) @ g
        assert (g @ d >= d @ d * (1 - 1e-4)).all()
        got = torch.cat([p.grad.flatten() for p in s.shared])
        np.testing.assert_allclose(got, d, rtol=1e-3, atol=1e-6 * np.abs(d).max())


def test_normalised_rows_descend_too_and_raw_rows_are_an_option():
    normal = stepper({"reconciler": {"normalise": "l2", "step_on": "normalised"}})
    raw = stepper({"reconciler": {"normalise": "l2", "step_on": "raw"}})
    a, b = normal.step(), raw.step()
    assert a.weights == b.weights
    alpha = np.array(list(a.weights.values()))
    g = normal.gradients.double().numpy()
    unit = g / np.linalg.norm(g, axis=1, keepdims=True)
    d = alpha @ unit
    assert (unit @ d >= d @ d * (1 - 1e-4)).all()
    np.testing.assert_allclose(torch.cat([p.grad.flatten() for p in raw.shared]), alpha @ g, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["adamw", "adam"])
def test_one_task_is_plain(name):
    """The first step of either optimiser by its definition: both moments are those of one gradient."""
    rate, decay = 0.01, 0.5
    one = {"tasks": dict.fromkeys(["feat_rec", "topo_rec", "rep_decor", "mi_ng"])}
    s = stepper({**one, "optimizer": {"name": name, "learning_rate": rate, "weight_decay": decay}})
    before = [p.detach().clone() for p in s.shared]
    record = s.step()
    assert record.weights == {"mi_nsg": 1.0}
    for p, old in zip(s.shared, before, strict=True):
        g = p.grad if name == "adamw" else p.grad + decay * old
        shrunk = old * (1 - rate * decay) if name == "adamw" else old
        torch.testing.assert_close(p.detach(), shrunk - rate * g / (g.abs() + 1e-8))


def test_heads_own_or_weighted():
    own, weighted = stepper(), stepper({"reconciler": {"heads": "weighted"}})
    record = own.step()
    weighted.step()
    for name, alpha in record.weights.items():
        for p, q in zip(own.model.tasks[name].parameters(), weighted.model.tasks[name].parameters(), strict=True):
            torch.testing.assert_close(q.grad, p.grad * alpha, rtol=1e-4, atol=1e-7)


def test_c38_none_counts_as_zeros_and_a_zero_task_leaves(fake_task):
    part = fake_task("part", lambda enc, view, head: (enc.weights[0] ** 2).sum() * head)
    still = fake_task("still", lambda enc, view, head: head * 2.0)
    s = stepper({"tasks": {**dict.fromkeys(["topo_rec", "rep_decor", "mi_ng", "mi_nsg"]), **part, **still}})
    before = s.model.tasks["still"].head.item()
    record = s.step()
    assert record.weights["still"] == 0
    assert record.gradient_norms["still"] == 0
    assert sum(record.weights.values()) == pytest.approx(1, abs=1e-9)
    assert s.gradients[1, s.shared[0].numel() :].abs().sum() == 0
    assert s.model.tasks["still"].head.item() != before


class Held(nn.Module):
    """An encoder that holds numbers and looks at nothing."""

    out_dim = 1

    def __init__(self, shape):
        super().__init__()
        self.numbers = nn.Parameter(torch.linspace(-1, 1, 24).reshape(shape))


def test_c37_a_gradient_of_four_dimensions_equals_its_flattened_form(fake_task):
    shape = (2, 3, 2, 2)
    towards = [torch.randn(shape, generator=torch.Generator().manual_seed(k)).transpose(0, 3) for k in range(3)]
    tasks = dict.fromkeys(SMALL["tasks"])
    for k, direction in enumerate(towards):
        value = lambda enc, _, head, d=direction: (enc.numbers.flatten() * d.transpose(0, 3).flatten()).sum() * head  # noqa: E731
        tasks |= fake_task(f"task{k}", value)
    config = make_config(merge(SMALL, {"tasks": tasks}))
    steppers = [
        MultiTaskStepper(MultiTaskModel(config, 12, Held(form)), on_device(make_graph()), config)
        for form in (shape, (24,))
    ]
    first, second = (s.step() for s in steppers)
    assert first.weights == second.weights
    assert torch.equal(steppers[0].gradients, steppers[1].gradients)
    flat_rows = torch.stack([d.transpose(0, 3).flatten() for d in towards])
    torch.testing.assert_close(steppers[0].gradients, flat_rows)


def test_all_tasks_zero_changes_no_shared_weight(fake_task):
    still = fake_task("still", lambda enc, view, head: head * 2.0)
    s = stepper({"tasks": {**dict.fromkeys(SMALL["tasks"]), **still}, "optimizer": {"weight_decay": 0}})
    before = flat(s.model.encoder)
    assert s.step().weights == {"still": 0.0}
    assert torch.equal(flat(s.model.encoder), before)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("first", [True, False])
def test_a_loss_that_is_not_finite_names_its_task_and_step_among_others(fake_task, value, first):
    """In the second step, with other tasks before or behind it; nothing of the model or the optimiser moves."""
    steps = []

    def breaks(enc, view, head):
        steps.append(None)
        return (enc.weights[0] ** 2).sum() * head * (value if len(steps) == 2 else 1.0)

    own = fake_task("breaks", breaks)
    tasks = {"mi_ng": {}, **own} if not first else {**own, "mi_ng": {}}
    s = stepper({"tasks": {**dict.fromkeys(["feat_rec", "topo_rec", "rep_decor", "mi_nsg", "mi_ng"]), **tasks}})
    s.step()
    before = flat(s.model)
    moments = [state["exp_avg"].clone() for state in s.optimizer.state.values()]
    with pytest.raises(NonFiniteError, match="step 2: the loss of task 'breaks'") as caught:
        s.step()
    assert (caught.value.task, caught.value.step) == ("breaks", 2)
    assert torch.equal(flat(s.model), before)
    assert all(torch.equal(a, b["exp_avg"]) for a, b in zip(moments, s.optimizer.state.values(), strict=True))


def test_a_head_gradient_that_is_not_finite_stops_the_step(fake_task):
    own = fake_task("broken", lambda enc, view, head: (enc.weights[0] ** 2).sum() + (head - 1).abs().sqrt())
    s = stepper({"tasks": own})
    before = flat(s.model)
    with pytest.raises(NonFiniteError, match="step 1: the gradient of task 'broken'"):
        s.step()
    assert torch.equal(flat(s.model), before)


def test_two_copies_of_a_task_step_as_that_task(fake_task):
    """Identical gradients are combined into that gradient."""
    one = fake_task("one", lambda enc, view, head: (enc.weights[0] ** 2).sum() + 0 * head)
    two = fake_task("two", lambda enc, view, head: (enc.weights[0] ** 2).sum() + 0 * head)
    none = dict.fromkeys(SMALL["tasks"])
    alone, both = stepper({"tasks": {**none, **one}}), stepper({"tasks": {**none, **one, **two}})
    record = alone.step(), both.step()
    assert sum(record[1].weights.values()) == pytest.approx(1, abs=1e-9)
    assert record[1].combined_norm2 == pytest.approx(record[0].combined_norm2, rel=1e-6)
    torch.testing.assert_close(flat(both.model.encoder), flat(alone.model.encoder))


def test_a_weight_that_is_not_finite_stops_the_step():
    s = stepper()
    s.reconciler.weights = lambda context: np.array([*np.ones(len(context.tasks) - 1), np.nan])
    before = flat(s.model)
    with pytest.raises(NonFiniteError, match=f"step 1: the weight of task '{s.names[-1]}'"):
        s.step()
    assert torch.equal(flat(s.model), before)


def test_an_alignment_that_is_not_finite_moves_no_weight(monkeypatch):
    home = sys.modules[PseudoHomophily.__module__]
    monkeypatch.setattr(home, "soft_heterophily", lambda z, *rest: (z - z.detach()).square().sum().sqrt())
    s = stepper({"reconciler": {"name": "pseudo-homophily", "settings": {"every": 1}}})
    with pytest.raises(NonFiniteError, match=f"step 1: the alignment of task '{s.names[0]}'"):
        s.step()
    assert all(weight == 1 / len(s.names) for weight, *_ in s.reconciler.learnt.values())


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_not_finite_stops_before_any_weight_changes(fake_task, where):
    def broken(enc, view, head):
        if where == "loss":
            return enc.weights[0].sum() * float("inf") * head
        # sqrt at 0 has a finite value and an infinite slope.
        return (enc.weights[0] - enc.weights[0].detach()).square().sum().sqrt() + 0 * head

    s = stepper({"tasks": fake_task("broken", broken)})
    before = flat(s.model)
    with pytest.raises(NonFiniteError, match=f"step 1: the {where} of task 'broken'"):
        s.step()
    assert torch.equal(flat(s.model), before)
    assert s.done == 0


def test_a_task_has_its_own_random_stream():
    """Taking one task away changes no other task's first loss."""
    full, less = stepper(), stepper({"tasks": {"mi_ng": None}})
    a, b = full.step().losses, less.step().losses
    assert {k: v for k, v in a.items() if k != "mi_ng"} == b


def test_c43_same_seed_same_losses_other_seed_others():
    first, again, other = ([s.step().losses for _ in range(3)] for s in (stepper(), stepper(), stepper({"seed": 1})))
    assert first == again
    assert first != other


def test_c44_every_step_draws_other_augmentations_and_a_rerun_repeats_them(monkeypatch):
    sound, drawn = RepDecor.sample, []

    def sample(self, graph, encoder, generator):
        views = sound(self, graph, encoder, generator)
        drawn.append([(v.nodes, v.adjacencies[0].indices, v.features.column_mask) for v in views])
        return views

    def equal(one, other):
        pairs = [(a, b) for v, w in zip(one, other, strict=True) for a, b in zip(v, w, strict=True)]
        return all(torch.equal(a, b) for a, b in pairs)

    monkeypatch.setattr(RepDecor, "sample", sample)
    for s in (stepper(), stepper()):
        s.step()
        s.step()
    first, second, again, second_again = drawn
    assert equal(first, again)
    assert equal(second, second_again)
    assert not equal(first, second)


@pytest.mark.parametrize("reconciler", ["mgda", "mgda-frank-wolfe", "weighted-sum", "uniform", "random"])
def test_every_reconciler_makes_steps(reconciler):
    s = stepper({"reconciler": {"name": reconciler}})
    losses = [s.step().losses for _ in range(3)]
    assert all(np.isfinite(list(row.values())).all() for row in losses)


def test_labels_are_never_seen():
    graph = make_graph()
    shuffled = graph.replace(labels=np.random.default_rng(0).permutation(graph.labels))
    assert stepper(graph=graph).step().losses == stepper(graph=shuffled).step().losses


def test_schedule():
    schedule = make_config(
        merge(
            SMALL,
            {"schedule": {"name": "cosine", "warmup_steps": 2, "horizon_steps": 10, "final_fraction": 0.1}},
        )
    ).schedule
    rates = [learning_rate(schedule, 1.0, done) for done in range(15)]
    assert rates[:3] == [0.5, 1.0, 1.0]
    assert rates[10:] == pytest.approx([0.1] * 5)
    assert all(a >= b for a, b in pairwise(rates[2:]))
