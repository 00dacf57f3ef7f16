import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE

import paretognn
from made import SMALL, make_graph
from paretognn import BGRL, CCASSG, DGI, GRACE, MVGRL, GraphMAE, InputError, ParetoGNN
from paretognn.training import RunFolder, train


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


def test_an_unfitted_model_is_not_judged_and_text_is_no_matrix():
    with pytest.raises(NotFittedError, match="call fit first"):
        paretognn.evaluate(ParetoGNN(), make_graph())
    with pytest.raises(InputError, match=r"fit takes a graph, or a matrix of numbers alone.*read_graph") as error:
        ParetoGNN().fit(np.array([["a", 1.0], ["b", 2.0]], dtype=object))
    assert "\n" not in str(error.value)


def test_a_mistyped_task_is_told_before_anything_is_embedded():
    with pytest.raises(InputError, match="unknown task"):
        paretognn.evaluate(ParetoGNN(), make_graph(), tasks=["node_clasification"])


def test_a_region_stands_for_a_graph():
    graph = make_graph()
    model = ParetoGNN(steps=1, settings=SMALL).fit(graph)
    found = [paretognn.evaluate(each, graph, seeds=1, region=40) for each in (model, model.embedding_)]
    assert found[0]["nodes"] == found[1]["nodes"] <= 40 < graph.num_nodes
    for task in ("node_clustering", "partition_prediction"):
        assert found[0]["tasks"][task] == found[1]["tasks"][task]
    assert all("judged on a region of" in each["warnings"][0] for each in found)
    with pytest.raises(InputError, match=r"embeddings of shape \[7"):
        paretognn.evaluate(model.embedding_[:7], graph, region=40)


def test_a_pyg_encoder_is_trained_in_place_of_ours():
    graph = make_graph()
    model = ParetoGNN(steps=2, settings=SMALL, encoder=GraphSAGE(12, 8, 2, out_channels=4))
    assert model.fit(graph).transform(graph).shape == (60, 4)


def pipeline(**parameters):
    return make_pipeline(ParetoGNN(steps=2, settings=SMALL, **parameters), LogisticRegression())


def test_cross_validation_over_the_nodes_of_a_graph():
    graph = make_graph()
    labelled = np.arange(0, 60, 2)
    model = pipeline(graph=graph)
    scores = cross_val_score(model, labelled, graph.labels[labelled], cv=3)
    # Whichever fold it is, the encoder has seen the whole graph, and no label.
    embedding = ParetoGNN(steps=2, settings=SMALL).fit_transform(graph)
    np.testing.assert_array_equal(
        ParetoGNN(graph=graph, steps=2, settings=SMALL).fit_transform([3, 5]), embedding[[3, 5]]
    )
    want = cross_val_score(LogisticRegression(), embedding[labelled], graph.labels[labelled], cv=3)
    np.testing.assert_allclose(scores, want)
    assert clone(model)[0].graph is graph
    frozen = FrozenEstimator(ParetoGNN(graph=graph, steps=2, settings=SMALL).fit(labelled))
    again = cross_val_score(make_pipeline(frozen, LogisticRegression()), labelled, graph.labels[labelled], cv=3)
    np.testing.assert_allclose(again, want)


def test_nodes_by_the_names_that_they_have_in_the_graph():
    graph = make_graph().replace(ids=pa.array([f"n{i}" for i in range(60)]))
    model = ParetoGNN(graph=graph, steps=1, settings=SMALL).fit(["n4"])
    np.testing.assert_array_equal(model.transform(np.array([["n59"], ["n4"]])), model.embedding_[[59, 4]])
    for wrong, message in (
        (["4"], "X names '4', which is no node"),
        ([["n1", "n2"]], r"\[n\] or \[n, 1\], not \(1, 2\)"),
    ):
        with pytest.raises(InputError, match=message):
            model.transform(wrong)
    with pytest.raises(InputError, match="the graph is a parameter"):
        model.fit(graph)


def test_a_matrix_is_the_graph_of_its_nearest_rows_and_new_rows_join_it_one_by_one(tmp_path):
    X, y = make_graph().features, make_graph().labels
    model = ParetoGNN(steps=2, settings=SMALL, n_neighbors=4).fit(X[:40])
    nearest = kneighbors_graph(X[:40], 4).toarray()
    np.testing.assert_array_equal(model._neighbours.graph.adjacency().toarray(), np.maximum(nearest, nearest.T))
    new = model.transform(X)
    np.testing.assert_array_equal(new[:40], model.embedding_)
    np.testing.assert_allclose(model.transform(X[50:51]), new[50:51], atol=1e-6)
    # A new row takes in its neighbours, and they do not take in it.
    joined = model._neighbours._joined(model.encoder_, X[40:])
    assert set(np.diff(joined.indptr)[40:]) == {4}
    np.testing.assert_array_equal(
        joined.indices[: len(model._neighbours.graph.indices)], model._neighbours.graph.indices
    )
    model.save(tmp_path)
    np.testing.assert_array_equal(ParetoGNN.load(tmp_path).transform(X), new)
    assert pipeline().fit(X[:40], y[:40]).score(X[40:], y[40:]) > 0.3
    with pytest.raises(InputError, match="n_neighbors must be at least 1"):
        ParetoGNN(n_neighbors=0).fit(X)
    with pytest.raises(InputError, match="embeds no new rows of a matrix"):
        MVGRL(steps=1, settings={"encoder": {"hidden_dims": [4]}}).fit(X[:40]).transform(X)


def test_an_estimator_is_not_saved_over_anything_else(tmp_path):
    graph = make_graph()
    model = ParetoGNN(steps=1, settings=SMALL).fit(graph)
    for _ in range(2):
        model.save(tmp_path / "saved")
    train(graph, model.config_, folder=RunFolder(tmp_path / "run"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.yaml").write_text("mine: 1")
    for folder in ("run", "own"):
        before = {path: path.read_bytes() for path in (tmp_path / folder).rglob("*") if path.is_file()}
        with pytest.raises(InputError, match=f"{folder}: is not empty, and holds no saved estimator"):
            model.save(tmp_path / folder)
        assert {path: path.read_bytes() for path in before} == before


def test_new_rows_do_not_share_the_positions_of_others_and_nobody_asks(recwarn):
    X = make_graph().features
    model = ParetoGNN("best", steps=2, settings={"encoder": {"hidden_dims": [16, 4]}}).fit(X[:40])
    assert np.isfinite(model.transform(X[40:])).all()
    assert not [each for each in recwarn if "has no ids" in str(each.message)]


def test_saved_with_its_graph_and_loaded(tmp_path):
    graph = make_graph()
    model = DGI(graph=graph, steps=1, settings={"encoder": {"hidden_dims": [4]}}).fit([0])
    model.save(tmp_path)
    loaded = ParetoGNN.load(tmp_path)
    np.testing.assert_array_equal(loaded.transform([7, 3]), model.embedding_[[7, 3]])
    assert loaded.config_.method == "dgi"


@pytest.mark.parametrize("name", ["AutoSSL", "BGRL", "CCASSG", "DGI", "GRACE", "GraphMAE", "MVGRL"])
def test_every_published_method_is_a_class(name):
    kind = getattr(paretognn, name)
    graph, settings = make_graph(), {"encoder": {"hidden_dims": [4]}}
    model = clone(kind(steps=1, settings=settings)).fit(graph)
    assert "method" not in model.get_params()
    named = ParetoGNN(model.method, steps=1, settings=settings).fit(graph)
    np.testing.assert_array_equal(model.embedding_, named.embedding_)
    assert list(model.get_feature_names_out()) == ["e0", "e1", "e2", "e3"]
    pytest.importorskip("pandas")
    framed = clone(model).set_output(transform="pandas").fit_transform(graph)
    assert list(framed.columns) == ["e0", "e1", "e2", "e3"]


NARROW = {"encoder": {"hidden_dims": [4]}}
EXPECTED_FAILURES = {
    "MVGRL": {"check_fit_idempotent": "new rows join a graph by one-way edges, and a diffusion goes both ways"}
}


@parametrize_with_checks(
    # AutoSSL, which clusters at every start, passes them too, in a minute.
    [
        ParetoGNN(steps=1, settings=SMALL, n_neighbors=3),
        *(kind(steps=1, settings=NARROW) for kind in (BGRL, CCASSG, DGI, GRACE, MVGRL, GraphMAE)),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {}),
)
def test_scikit_learn_s_own_checks(estimator, check):
    """A plain matrix is a graph of neighbours, so that they hold."""
    check(estimator)


def test_c45_an_absent_or_unknown_device_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    ParetoGNN(steps=1, settings=SMALL).fit(make_graph()).save(tmp_path)
    with pytest.raises(InputError, match="device cuda: this machine has no CUDA device"):
        ParetoGNN(steps=1, settings=SMALL, device="cuda").fit(make_graph())
    with pytest.raises(InputError, match="device cuda: this machine has no CUDA device"):
        ParetoGNN.load(tmp_path, device="cuda")
    with pytest.raises(InputError, match="device must be one of cpu, cuda, not 'tpu'"):
        ParetoGNN(steps=1, settings=SMALL, device="tpu").fit(make_graph())
