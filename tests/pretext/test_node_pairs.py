import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import shortest_path
from torch.nn import functional as F

from made import generator, make_graph, on_device, scaled_dense
from paretognn.graph import build_graph
from paretognn.nn import GCN, EncoderSettings
from paretognn.pretext import PairDistance, PairSimilarity
from paretognn.pretext import node_pairs as module
from paretognn.sampling import whole


def made(kind, graph, **settings):
    prepared = on_device(graph)
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=[6]))
    return prepared, encoder, kind(kind.Settings(**settings), prepared.features.width, 6)


@pytest.mark.parametrize("block", [7, 1024])
@pytest.mark.parametrize("sparse", [False, True])
def test_nearest_rows_by_the_cosine(monkeypatch, block, sparse):
    monkeypatch.setattr(module, "_BLOCK", block)
    graph = make_graph(d=20, sparse=sparse)
    x = torch.tensor(scaled_dense(graph))
    cosine = F.normalize(x) @ F.normalize(x).T
    cosine.fill_diagonal_(-2)
    found = module.nearest_rows(on_device(graph).features, 4)
    best = cosine.topk(4).values
    torch.testing.assert_close(cosine.gather(1, found), best, rtol=1e-4, atol=1e-5)


def test_similar_pairs_are_neighbours_and_others_are_not():
    prepared, encoder, task = made(PairSimilarity, make_graph(), neighbours=3, pairs=200)
    batch = task.sample(prepared, encoder, generator())
    nearest = module.nearest_rows(prepared.features, 3)
    near = (nearest[batch.source] == batch.target[:, None]).any(1)
    assert torch.equal(near.long(), batch.label)
    assert (batch.label == 1).sum() == 200
    assert (batch.source != batch.target).all()
    assert 100 < (batch.label == 0).sum() <= 200


def test_distances_are_those_of_the_shortest_paths():
    graph = make_graph(80, 3)
    prepared, encoder, task = made(PairDistance, graph, roots=10, pairs=50)
    roots = torch.arange(0, 80, 8)
    hops = shortest_path(graph.adjacency(), unweighted=True)[:, roots]
    want = np.minimum(hops, module.HOPS + 1)
    np.testing.assert_array_equal(module.hop_distances(whole(prepared), roots), want)
    batch = task.sample(prepared, encoder, generator())
    pair = shortest_path(graph.adjacency(), unweighted=True)[batch.source, batch.target]
    np.testing.assert_array_equal(batch.label, np.minimum(pair, module.HOPS + 1) - 1)
    assert (torch.bincount(batch.label, minlength=4) <= 50).all()
    assert (torch.bincount(batch.label, minlength=4) > 0).all()


@pytest.mark.parametrize("kind", [PairSimilarity, PairDistance])
def test_the_loss_is_the_cross_entropy_of_the_absolute_difference(kind):
    prepared, encoder, task = made(kind, make_graph(sparse=True), pairs=30, sampler={"name": "saint-node", "seeds": 40})
    batch = task.sample(prepared, encoder, generator())
    z = encoder(batch.view)
    logits = (z[batch.source] - z[batch.target]).abs() @ task.linear.weight.T + task.linear.bias
    torch.testing.assert_close(task.loss(encoder, batch), F.cross_entropy(logits, batch.label))


@pytest.mark.parametrize("kind", [PairSimilarity, PairDistance])
@pytest.mark.parametrize("n", [1, 2])
def test_hardly_any_node(kind, n):
    prepared, encoder, task = made(kind, build_graph(n, [], [], features=np.ones((n, 2))))
    assert torch.isfinite(task(prepared, encoder, generator()))
