from concurrent.futures import ThreadPoolExecutor

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
from paretognn import BGRL, CCASSG, DGI, GRACE, MVGRL, GraphMAE, InputError, ParetoGNN, Tracker
from paretognn.graph import as_graph
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
    settings = {"tasks": SMALL["tasks"]}
    model = ParetoGNN(steps=2, settings=settings, encoder=GraphSAGE(12, 8, 2, out_channels=4))
    assert model.fit(graph).transform(graph).shape == (60, 4)
    with pytest.raises(InputError, match=r"settings\['encoder'\] is of the built-in encoder"):
        model.set_params(settings=SMALL).fit(graph)
    weighted = as_graph((graph.adjacency() * 2.5, graph.features))
    with pytest.warns(UserWarning, match="sees edges without their weights"):
        model.set_params(settings=settings).fit(weighted)


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ("gcn", "encoder must be a module"),
        (GraphSAGE, "not GraphSAGE; built-in"),
        (torch.nn.Linear(12, 4), r"cannot map x \[N, 12\] .* and edge_index"),
        (GraphSAGE(5, 8, 2, out_channels=4), r"cannot map x \[N, 12\]"),
        (GraphSAGE(12, 8, 2, out_channels=4).double(), r"cannot map x \[N, 12\]"),
        (GraphSAGE(12, 8, 2, out_channels=4).requires_grad_(False), "no parameters that can be trained"),
    ],
)
def test_what_is_no_encoder_is_said_to_be_none(encoder, message):
    with pytest.raises(InputError, match=message):
        ParetoGNN(steps=1, settings={"tasks": SMALL["tasks"]}, encoder=encoder).fit(make_graph())


def test_fits_in_threads_are_those_of_their_seeds():
    """Torch's streams are shared by all threads."""
    graph = make_graph()

    def fitted(seed):
        return ParetoGNN(steps=3, seed=seed, settings=SMALL).fit_transform(graph)

    want = [fitted(0), fitted(1)]
    with ThreadPoolExecutor(4) as threads:
        for place, found in enumerate(threads.map(fitted, [0, 1] * 4)):
            np.testing.assert_array_equal(found, want[place % 2])


def test_numbers_of_numpy_are_numbers():
    """Presets lay a schedule out over the steps, and blocks over the width."""
    graph = make_graph()
    plain, steps = GRACE(steps=4).fit(graph), GRACE(steps=np.int64(4)).fit(graph)
    assert steps.config_ == plain.config_
    for widths in ([16, 8], (16, 8), np.array([16, 8]), [16.0, 8.0]):
        made = ParetoGNN("best", steps=1, settings={"encoder": {"hidden_dims": widths}}).fit(graph)
        assert made.transform(graph).shape == (60, 8)


class _Stop(Tracker):
    def stepped(self, record):
        raise KeyboardInterrupt


def test_a_fit_that_fails_leaves_the_one_before(tmp_path):
    graph, X = make_graph(), make_graph().features
    model = ParetoGNN(steps=2, settings=SMALL).fit(graph)
    want = model.transform(graph)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(seed=7).fit(graph, trackers=[_Stop()])
    with pytest.raises(InputError):
        model.fit("no graph")
    np.testing.assert_array_equal(model.transform(graph), want)
    model.save(tmp_path / "saved")
    assert ParetoGNN.load(tmp_path / "saved").config_.seed == 0
    rows = ParetoGNN(steps=2, settings=SMALL).fit(X)
    with pytest.raises(InputError):
        rows.fit("no graph")
    assert rows.transform(X).shape == (60, 4)


def test_names_are_those_of_the_graph_that_was_fitted():
    graph = nx.path_graph(list("abcdefgh"))
    model = ParetoGNN(graph=graph, steps=1, settings=SMALL).fit(["a"])
    want = model.transform(["c"])
    graph.remove_node("a")
    graph.add_edge("h", "new")
    np.testing.assert_array_equal(model.transform(["c"]), want)
    with pytest.raises(InputError, match="names 'new'"):
        model.transform(["new"])


def test_a_setting_and_a_parameter_that_say_two_things():
    graph = make_graph()
    for settings in ({"seed": 7}, {"method": "dgi"}, {"preset": "quick"}):
        with pytest.raises(InputError, match="say it by the parameter alone"):
            ParetoGNN(steps=1, settings=SMALL | settings).fit(graph)
    assert ParetoGNN(steps=1, seed=7, settings=SMALL | {"seed": 7}).fit(graph).config_.seed == 7
    with pytest.raises(InputError, match="settings must be a tree"):
        ParetoGNN(steps=1, settings=[1]).fit(graph)


def test_what_torch_is_set_to_does_not_matter():
    graph = make_graph()
    model = ParetoGNN(steps=2, settings=SMALL)
    want = model.fit_transform(graph)
    torch.set_default_dtype(torch.float64)
    try:
        np.testing.assert_array_equal(model.fit_transform(graph), want)
        assert torch.get_default_dtype() is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    for context in (torch.no_grad(), torch.inference_mode()):
        with context:
            np.testing.assert_array_equal(model.fit_transform(graph), want)


def test_units_of_features_do_not_matter():
    graph = make_graph()
    model = ParetoGNN(steps=2, settings=SMALL)
    small = as_graph((graph.adjacency(), graph.features * 2.0**-60))
    np.testing.assert_allclose(model.fit_transform(small), model.fit_transform(graph), atol=1e-5)


def test_a_device_by_torch_and_auto():
    graph = make_graph()
    for device in (torch.device("cpu"), "auto"):
        assert ParetoGNN(steps=1, settings=SMALL, device=device).fit(graph).encoder_.device in ("cpu", "cuda")


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
