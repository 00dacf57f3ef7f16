import pytest
import torch
from torch.nn import functional as F

from made import generator, make_graph, normalised_dense, on_device, scaled_dense
from paretognn.errors import InputError
from paretognn.methods import method_config
from paretognn.nn import BranchedGCN, EncoderSettings
from paretognn.pretext import MVGRL
from paretognn.training import train

SETTINGS = EncoderSettings(
    hidden_dims=[6], operators=["adjacency", "diffusion"], diffusion={"threshold": 0.0}, norm="none"
)


@pytest.mark.parametrize("sampler", [{"name": "full"}, {"name": "k-hop", "seeds": 4, "hops": 1}])
def test_equals_its_definition_by_dense_matrices(graph, sampler):
    prepared = on_device(graph)
    encoder = BranchedGCN(prepared.features.width, SETTINGS)
    task = MVGRL(MVGRL.Settings(sampler=sampler), prepared.features.width, 6)
    torch.nn.init.normal_(task.bias)
    (plain, spread), (shuffled, spread_shuffled) = task.sample(prepared, encoder, generator())
    nodes = torch.arange(graph.num_nodes) if plain.nodes is None else plain.nodes
    ppr = 0.2 * torch.linalg.inv(torch.eye(graph.num_nodes) - 0.8 * torch.tensor(normalised_dense(graph)).float())
    x = torch.tensor(scaled_dense(graph)).float()[nodes]
    y = shuffled.features.dense()
    assert sorted(map(tuple, x.numpy().round(3).tolist())) == sorted(map(tuple, y.numpy().round(3).tolist()))
    torch.testing.assert_close(y, spread_shuffled.features.dense())
    operators = plain.adjacencies[0].to_dense(), ppr[nodes][:, nodes]
    torch.testing.assert_close(spread.adjacencies[0].to_dense(), operators[1], rtol=1e-3, atol=1e-5)

    def encode(number, features):
        gcn = list(encoder.branches.values())[number]
        return gcn.activations[0](operators[number] @ features @ gcn.weights[0] + gcn.biases[0])

    logits, labels = [], []
    for number, other in ((0, 1), (1, 0)):
        summary = torch.sigmoid(encode(other, x).mean(0))
        for features, label in ((x, 1.0), (y, 0.0)):
            logits.append(encode(number, features) @ task.weight @ summary + task.bias)
            labels.append(torch.full((len(nodes),), label))
    want = F.binary_cross_entropy_with_logits(torch.cat(logits), torch.cat(labels))
    got = task.loss(encoder, ((plain, spread), (shuffled, spread_shuffled)))
    torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("norm", ["none", "batch"])
def test_the_embedding_is_the_sum_of_both_branches(norm):
    graph = make_graph()
    own = {"steps": 1, "encoder": {"hidden_dims": [5], "norm": norm}, "features": "standardise"}
    config = method_config(graph, "mvgrl", overrides=own)[0]
    encoder, embeddings = train(graph, config)
    prepared = on_device(graph)
    adjacency = torch.tensor(normalised_dense(graph)).float()
    ppr = 0.2 * torch.linalg.inv(torch.eye(graph.num_nodes) - 0.8 * adjacency)
    x = torch.tensor(scaled_dense(graph)).float()
    want = torch.zeros(graph.num_nodes, 5)
    for (_, branch), operator in zip(encoder.encoder.branches.items(), (adjacency, ppr), strict=True):
        h = operator @ x @ branch.weights[0]
        if norm == "batch":
            h = F.batch_norm(h, None, None, branch.norms[0].weight, branch.norms[0].bias, True)
        else:
            h = h + branch.biases[0]
        want += branch.activations[0](h)
    torch.testing.assert_close(torch.tensor(embeddings), want.detach(), rtol=1e-2, atol=1e-2)
    assert prepared.num_nodes == len(embeddings)


def test_other_tasks_and_other_encoders_are_refused():
    with pytest.raises(InputError, match=r"encoder\.operators"):
        method_config(make_graph(), "mvgrl", overrides={"encoder": {"operators": ["adjacency"]}})
    with pytest.raises(InputError, match="'mi_ng'"):
        method_config(make_graph(), "dgi", overrides={"encoder": {"operators": ["adjacency", "diffusion"]}})
