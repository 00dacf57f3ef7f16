import numpy as np
import torch
from sklearn.metrics import normalized_mutual_info_score
from torch.nn import functional as F

from made import generator, make_graph, on_device
from paretognn.downstream import metis_partition
from paretognn.nn import GCN, EncoderSettings
from paretognn.pretext import FeatureClusters, GraphParts


def started(kind, graph, seed=0, **settings):
    prepared = on_device(graph)
    encoder = GCN(prepared.features.width, EncoderSettings(hidden_dims=[6]))
    task = kind(kind.Settings(**settings), prepared.features.width, 6)
    task.start(prepared, encoder, seed)
    return prepared, encoder, task


def test_clusters_are_those_of_the_features_and_repeat():
    graph = make_graph(300, d=40)
    labels = [started(FeatureClusters, graph, classes=3)[2].pseudo_labels.numpy() for _ in range(2)]
    np.testing.assert_array_equal(*labels)
    assert normalized_mutual_info_score(graph.labels, labels[0]) > 0.8


def test_parts_are_those_of_metis():
    graph = make_graph(300, sparse=True)
    task = started(GraphParts, graph, classes=5)[2]
    np.testing.assert_array_equal(task.pseudo_labels, metis_partition(graph, 5))


def test_the_loss_is_taken_on_the_nodes_of_the_sub_graph():
    sampler = {"name": "k-hop", "seeds": 3, "hops": 1}
    prepared, encoder, task = started(GraphParts, make_graph(), classes=4, sampler=sampler)
    view = task.sample(prepared, encoder, generator())
    assert 3 < view.num_rows < 60
    labels = [int(task.pseudo_labels[node]) for node in view.nodes]
    want = F.cross_entropy(task.linear(encoder(view)), torch.tensor(labels))
    torch.testing.assert_close(task.loss(encoder, view), want)


def test_labels_are_made_anew_and_not_kept():
    assert not [name for name in started(GraphParts, make_graph())[2].state_dict() if "labels" in name]


def test_more_clusters_than_nodes():
    for kind in (FeatureClusters, GraphParts):
        prepared, encoder, task = started(kind, make_graph(12, 2, classes=2), classes=50)
        loss = task(prepared, encoder, generator())
        assert torch.isfinite(loss)
        assert len(torch.unique(task.pseudo_labels)) <= 12
