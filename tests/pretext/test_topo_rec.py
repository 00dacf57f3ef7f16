import numpy as np
import pytest
import torch
from torch import nn

from made import generator, make_graph, on_device
from paretognn.graph import build_graph
from paretognn.nn import GCN, EncoderSettings
from paretognn.pretext import TopoRec
from paretognn.pretext.topo_rec import TopoRecSettings, negative_pairs, positive_pairs


@pytest.mark.parametrize("count", [5, 40, 10_000])
def test_positive_pairs_are_distinct_edges(count):
    graph = make_graph()
    prepared = on_device(graph)
    pairs, entries = positive_pairs(prepared, count, False, generator())
    dense = graph.adjacency().toarray() > 0
    assert len(pairs) == min(count, graph.num_edges)
    assert dense[pairs[:, 0], pairs[:, 1]].all()
    assert len(torch.unique(pairs[:, 0] * 60 + pairs[:, 1])) == len(pairs)
    assert set(prepared.indices[entries].tolist()) == set(pairs.flatten().tolist())


def test_negative_pairs_are_no_edges_and_no_loops():
    graph = make_graph(20, 12)
    dense = graph.adjacency().toarray() > 0
    for seed in range(20):
        pairs = negative_pairs(on_device(graph), 30, generator(seed))
        assert not dense[pairs[:, 0], pairs[:, 1]].any()
        assert (pairs[:, 0] != pairs[:, 1]).all()


@pytest.mark.parametrize("sampler", [{"name": "full"}, "sage"])
def test_loss_equals_its_definition(graph, sampler):
    """Eq. 17-18: the mean of both halves' cross-entropies of sigmoid((z_i * z_j) w)."""
    prepared = on_device(graph)
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=[8, 4]))
    task = TopoRec(TopoRec.Settings(sampler=sampler, batch_size=16, fanouts=[50, 50]), prepared.features.width, 4)
    batch = task.sample(prepared, encoder, generator())
    z = encoder(batch.view)
    p = torch.sigmoid(((z[batch.source] * z[batch.target]) * task.weight.weight[0]).sum(1))
    positive, negative = p[batch.label == 1], p[batch.label == 0]
    want = -(positive.log().sum() + (1 - negative).log().sum()) / 32
    got = task.loss(encoder, batch)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
    leaves = [*encoder.parameters(), *task.parameters()]
    for g, w in zip(torch.autograd.grad(got, leaves), torch.autograd.grad(want, leaves), strict=True):
        torch.testing.assert_close(g, w, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("sampler", [{"name": "full"}, "sage"])
def test_excluded_targets_carry_no_message(sampler):
    prepared = on_device(make_graph())
    encoder = GCN(12, EncoderSettings(hidden_dims=[4]))
    task = TopoRec(TopoRec.Settings(sampler=sampler, batch_size=20, fanouts=[50], exclude_targets=True), 12, 4)
    batch = task.sample(prepared, encoder, generator())
    positive = batch.label == 1
    assert 0 < positive.sum() <= prepared.num_entries // 4
    dense = batch.view.adjacencies[0].to_dense()
    for i, j in zip(batch.source[positive], batch.target[positive], strict=True):
        assert dense[i, j] == 0
        assert dense[j, i] == 0


@pytest.mark.parametrize("edges", [([], []), ([0], [1]), (np.repeat(np.arange(5), 5), np.tile(np.arange(5), 5))])
def test_c33_no_edges_and_no_negatives_are_finite(edges):
    graph = build_graph(5, np.array(edges[0], dtype=int), np.array(edges[1], dtype=int), features=np.eye(5))
    prepared = on_device(graph)
    encoder = GCN(5, EncoderSettings(hidden_dims=[4]))
    for sampler in ({"name": "full"}, "sage"):
        task = TopoRec(TopoRec.Settings(sampler=sampler, batch_size=3), 5, 4)
        loss = task(prepared, encoder, generator())
        grads = torch.autograd.grad(loss, list(encoder.parameters()), allow_unused=True)
        assert torch.isfinite(loss)
        assert all(g is None or torch.isfinite(g).all() for g in grads)


def test_learns_to_tell_edges_from_other_pairs():
    prepared = on_device(make_graph(90, 10))
    encoder = GCN(12, EncoderSettings(hidden_dims=[16]))
    task = TopoRec(TopoRec.Settings(sampler={"name": "full"}, batch_size=200), 12, 16)
    parameters = [*encoder.parameters(), *task.parameters()]
    optimizer = torch.optim.Adam(parameters, 0.02)
    losses = []
    for step in range(60):
        loss = task(prepared, encoder, generator(step))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
        losses.append(loss.item())
    assert np.mean(losses[-10:]) < 0.9 * np.mean(losses[:5])


def test_pairs_of_a_sub_graph():
    """Positive pairs are edges of the sub-graph, negatives are not, rows are those of its nodes."""
    graph = make_graph(200, 10)
    prepared = on_device(graph)
    task = TopoRec(TopoRec.Settings(sampler={"name": "saint-node", "seeds": 60}, batch_size=40), 12, 4)
    batch = task.sample(prepared, GCN(12, EncoderSettings(hidden_dims=[4])), generator())
    dense = graph.adjacency().toarray() > 0
    nodes = batch.view.nodes
    edge = dense[nodes[batch.source], nodes[batch.target]]
    np.testing.assert_array_equal(edge, batch.label.numpy() == 1)
    assert batch.view.num_rows == len(nodes) < 200


def test_a_graph_without_edges_is_one_part_without_a_loss(monkeypatch):
    monkeypatch.setattr("paretognn.pretext.topo_rec.SEEN", 2)
    prepared = on_device(build_graph(9, np.empty(0, int), np.empty(0, int), features=np.ones((9, 3), np.float32)))
    task = TopoRec(TopoRecSettings(fanouts=[2, 2]), 3, 4)
    encoder = GCN(3, EncoderSettings(hidden_dims=[6, 4], norm="layer"))
    ((share, batch),) = task.batches(prepared, encoder, generator())
    assert share * float(task.loss(encoder, batch).detach()) == 0


def test_pairs_taken_in_parts_are_the_pairs_of_a_step_and_their_loss_its_loss(graph, monkeypatch):
    """Of full neighbourhoods, where nothing but the pairs is drawn."""
    prepared = on_device(graph)
    task = TopoRec(TopoRecSettings(batch_size=20, fanouts=[1000, 1000]), prepared.features.width, 4)
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=[6, 4], norm="layer"))
    whole = list(task.batches(prepared, encoder, generator()))
    assert [share for share, _ in whole] == [1.0]
    monkeypatch.setattr("paretognn.pretext.topo_rec.SEEN", graph.num_nodes // 3)
    parts = list(task.batches(prepared, encoder, generator()))
    assert len(parts) >= 3
    assert sum(share for share, _ in parts) == pytest.approx(1)
    assert all(0 < batch.label.sum() < len(batch.label) for _, batch in parts)
    parameters = [*encoder.parameters(), *task.parameters()]

    def gradient(batches):
        loss = sum(share * task.loss(encoder, batch) for share, batch in batches)
        return loss.detach(), torch.autograd.grad(loss, parameters)

    (one, first), (other, second) = gradient(whole), gradient(parts)
    assert float(one) == pytest.approx(float(other), rel=1e-5)
    for a, b in zip(first, second, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
