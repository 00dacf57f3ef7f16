import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE

from made import SMALL, make_graph
from paretognn import InputError, ParetoGNN


def forms(graph):
    pairs = graph.pairs()
    edge_index = torch.tensor(np.concatenate([pairs, pairs[:, ::-1]]).T.copy())
    nx_graph = nx.Graph()
    nx_graph.add_nodes_from((i, {"x": graph.features[i]}) for i in range(graph.num_nodes))
    nx_graph.add_edges_from(pairs.tolist())
    return {
        "pyg": Data(x=torch.tensor(graph.features), edge_index=edge_index),
        "networkx": nx_graph,
        "scipy": (graph.adjacency(), graph.features),
    }


@pytest.mark.parametrize("form", ["pyg", "networkx", "scipy"])
def test_a_graph_in_any_form_gives_the_same_embeddings(form):
    graph = make_graph()
    want = ParetoGNN(steps=2, settings=SMALL).fit_transform(graph)
    other = forms(graph)[form]
    model = ParetoGNN(steps=2, settings=SMALL).fit(other)
    np.testing.assert_allclose(model.transform(other), want, atol=1e-5)


def test_fit_transform_new_graph_and_save(tmp_path):
    graph, new = make_graph(), make_graph(30, seed=5)
    model = ParetoGNN(steps=2, settings=SMALL).fit(graph)
    assert len(model.history_) == 2
    assert model.transform(graph).tobytes() == model.embedding_.tobytes()
    embedded = model.transform(new)
    assert embedded.shape == (30, 4)
    model.save(tmp_path / "model")
    loaded = ParetoGNN.load(tmp_path / "model")
    assert loaded.transform(new).tobytes() == embedded.tobytes()
    np.testing.assert_array_equal(loaded.transform(graph), model.embedding_)


def test_scikit_learn_s_contract():
    model = ParetoGNN(steps=3, seed=4)
    assert clone(model).get_params()["steps"] == 3
    with pytest.raises(NotFittedError):
        model.transform(make_graph())
    with pytest.raises(InputError, match="graph"):
        model.fit("a string")


def test_a_pyg_encoder_is_trained_in_place_of_ours():
    graph = make_graph()
    model = ParetoGNN(steps=2, settings=SMALL, encoder=GraphSAGE(12, 8, 2, out_channels=4))
    assert model.fit(graph).transform(graph).shape == (60, 4)


def test_c45_an_absent_or_unknown_device_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    ParetoGNN(steps=1, settings=SMALL).fit(make_graph()).save(tmp_path)
    with pytest.raises(InputError, match="device cuda: this machine has no CUDA device"):
        ParetoGNN(steps=1, settings=SMALL, device="cuda").fit(make_graph())
    with pytest.raises(InputError, match="device cuda: this machine has no CUDA device"):
        ParetoGNN.load(tmp_path, device="cuda")
    with pytest.raises(InputError, match="device must be one of cpu, cuda, not 'tpu'"):
        ParetoGNN(steps=1, settings=SMALL, device="tpu").fit(make_graph())
