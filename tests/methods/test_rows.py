import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv

from made import SMALL, make_graph
from paretognn import ParetoGNN
from paretognn.errors import InputError
from paretognn.graph import build_graph
from paretognn.methods import METHODS, Method, method_config, searched, searched_in
from paretognn.methods.published import published_table
from paretognn.training import RunFolder, train

FAST = {"steps": 2, "encoder": {"hidden_dims": [8, 4]}}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_whole_and_on_sub_graphs(method):
    graph = make_graph(40, 4)
    search = {"search": {"population": 3, "generations": 1, "steps": 1}} if method == "autossl-es" else {}
    for sampler in (None, {"name": "saint-node", "seeds": 15}):
        config, _ = method_config(graph, method, "quick", {**FAST, **search, "sampler": sampler})
        if sampler is not None:
            if method == "autossl":
                assert config.reconciler.settings.sampler.name == "saint-node"
            assert {s.sampler.name for s in config.tasks.values()} == {"saint-node"}
        embeddings = train(graph, searched(graph, config))[1]
        assert len(embeddings) == 40
        assert embeddings.shape[1] == config.width == 4
        assert np.isfinite(embeddings).all()
        assert embeddings.std() > 0


def tiny(nodes, edges, features=True):
    ends = np.array(edges, dtype=int).reshape(-1, 2)
    return build_graph(nodes, ends[:, 0], ends[:, 1], features=np.eye(nodes, 5) if features else None)


TINY = {
    "one node": tiny(1, []),
    "no edges": tiny(2, [], features=False),
    "isolated nodes": tiny(5, [(0, 1)]),
    "complete": tiny(4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
}


@pytest.mark.parametrize("method", [name for name in METHODS if name != "autossl-es"])
@pytest.mark.parametrize("graph", TINY.values(), ids=TINY)
def test_c18_c33_every_method_embeds_every_node_of_a_tiny_graph(method, graph):
    for sampler in (None, {"name": "k-hop", "seeds": 4}):
        config, _ = method_config(graph, method, "quick", {**FAST, "sampler": sampler})
        embeddings = train(graph, config)[1]
        assert len(embeddings) == graph.num_nodes
        assert 2 <= embeddings.shape[1] <= config.width == 4  # where a graph holds fewer positions
        assert np.isfinite(embeddings).all()


def test_settings_are_the_authors_where_they_name_the_data_set():
    photo = make_graph().replace(name="amazon-photo")
    bgrl = method_config(photo, "bgrl", overrides={"steps": 10_000})[0]
    assert bgrl.optimizer.learning_rate == 1e-4
    assert bgrl.tasks["bgrl"].edge_drop == (0.4, 0.1)
    assert (bgrl.schedule.warmup_steps, bgrl.tasks["bgrl"].horizon_steps) == (1000, 10_000)
    assert method_config(make_graph(), "bgrl", overrides={"steps": 10_000})[0].optimizer.learning_rate == 5e-4
    assert method_config(photo, "autossl")[0].tasks["par"].classes == 100
    assert method_config(photo, "cca-ssg", "paper")[0].features == method_config(photo, "cca-ssg")[0].features == "none"
    for method, table in published_table().items():
        for dataset in table:
            if dataset != "default":
                method_config(make_graph().replace(name=dataset), method)


def test_weight_decay_is_a_part_of_the_gradient_where_the_authors_take_adam():
    """With no weight decay, as DGI, MVGRL, CCA-SSG and AutoSSL have it, both optimisers are one."""
    of = {name: method_config(make_graph(), name)[0].optimizer for name in published_table()}
    assert {name for name, own in of.items() if own.name == "adam"} == {"grace", "graphmae"}
    assert {name for name, own in of.items() if own.weight_decay} == {"grace", "graphmae", "bgrl"}


def test_the_authors_steps_are_those_of_the_data_set():
    def rate(method, name):
        config, _ = method_config(make_graph().replace(name=name), method, overrides={"steps": 500})
        return config.optimizer.learning_rate

    assert rate("graphmae", "citeseer") == pytest.approx(6e-4)  # 300 steps
    assert rate("cca-ssg", "cora") == pytest.approx(1e-4)  # 50 steps
    assert rate("cca-ssg", "citeseer") == pytest.approx(4e-5)  # 20 steps
    assert rate("cca-ssg", "pubmed") == rate("cca-ssg", "coauthor-physics") == pytest.approx(2e-4)  # 100 steps
    assert rate("grace", "pubmed") == pytest.approx(3e-3)  # 1,500 steps
    assert rate("autossl", "amazon-photo") == 5e-3
    computers = method_config(make_graph().replace(name="amazon-computers"), "autossl")[0].reconciler.settings
    assert (computers.rate, computers.clusters) == (0.01, 10)


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("paretognn", {"search": {"name": "evolution"}}, "'search.name': a search is for several tasks"),
        ("dgi", {"search": {"name": "evolution"}}, "'search.name'"),
        ("mvgrl", {"reconciler": {"name": "pseudo-homophily"}}, "'reconciler.name': pseudo-homophily needs"),
        ("paretomtl", {"reconciler": {"normalise": "l2"}}, "'reconciler.normalise': must be 'none'"),
        ("paretomtl", {"reconciler": {"settings": {"prefer": "zzz"}}}, "reconciler.settings.prefer names 'zzz'"),
        ("paretomtl", {"reconciler": {"settings": {"prefre": "x"}}}, "unknown setting 'reconciler.settings.prefre'"),
        (
            "bgrl",
            {"tasks": {"bgrl": {"edge_drop": 1.5}}},
            "^setting 'tasks.bgrl.edge_drop': input should be less than 1",
        ),
        (
            "bgrl",
            {"tasks": {"bgrl": {"edge_drop": [0.1, 1.5]}}},
            "^setting 'tasks.bgrl.edge_drop.1': input should be less",
        ),
        (
            "grace",
            {"tasks": {"mi_nsg": {"contrast": 1}}},
            "'tasks.mi_nsg.contrast': input should be greater than or equal to 2",
        ),
        ("mvgrl", {"encoder": {"operators": ["adjacency"]}}, "^setting 'encoder.operators': the task 'mvgrl' needs"),
    ],
)
def test_settings_that_do_not_fit_are_named_before_a_run_starts(method, settings, message):
    with pytest.raises(InputError, match=message):
        method_config(make_graph(), method, overrides=settings)


def test_another_reconciler_does_not_get_the_settings_of_the_row_s():
    for method in ("autossl", "paretomtl-mi-ng"):
        config = method_config(make_graph(), method, overrides={"reconciler": {"name": "uniform"}})[0]
        assert config.reconciler.name == "uniform"


def test_a_diffusion_of_too_many_nodes_is_refused_before_a_run_starts(monkeypatch):
    monkeypatch.setattr("paretognn.sampling.diffusion.LIMIT", 50)
    with pytest.raises(InputError, match="60 nodes"):
        method_config(make_graph(60), "mvgrl")


def test_c32_the_diffusion_of_a_long_path_is_refused():
    path = np.arange(200_000)
    graph = build_graph(len(path), path[:-1], path[1:])
    with pytest.raises(InputError, match="a diffusion of 200,000 nodes would take hours"):
        ParetoGNN("mvgrl", steps=1).fit(graph)


class Dropping(torch.nn.Module):
    """An encoder of one's own that draws from torch's global stream."""

    def __init__(self):
        super().__init__()
        self.convolution = GCNConv(12, 6)

    def forward(self, x, edge_index):
        return torch.nn.functional.dropout(self.convolution(x, edge_index), 0.5, self.training)


@pytest.mark.parametrize("method", ["paretognn", "bgrl", "grace", "graphmae", "autossl", "autossl-es"])
def test_an_encoder_of_one_s_own_with_dropout_repeats(method):
    settings = {"search": {"population": 2, "generations": 1, "steps": 1}} if method == "autossl-es" else {}
    torch.manual_seed(7)
    encoder, found = Dropping(), []
    for seed in (1, 2):
        torch.manual_seed(seed)
        before = torch.get_rng_state(), np.random.get_state()[1].copy()
        model = ParetoGNN(method=method, preset="quick", steps=2, settings=settings, encoder=encoder)
        found.append(model.fit_transform(make_graph()))
        assert torch.equal(torch.get_rng_state(), before[0])
        assert (np.random.get_state()[1] == before[1]).all()
    np.testing.assert_array_equal(*found)


def test_mvgrl_takes_no_other_encoder():
    with pytest.raises(InputError, match="'mvgrl' has an encoder of its own"):
        ParetoGNN(method="mvgrl", steps=1, encoder=Dropping()).fit(make_graph())


def test_a_shorter_run_takes_larger_steps_up_to_a_limit():
    photo = make_graph().replace(name="amazon-photo")
    rate = lambda steps: method_config(photo, "bgrl", overrides={"steps": steps})[0].optimizer.learning_rate  # noqa: E731
    assert (rate(5000), rate(10), rate(20_000)) == (pytest.approx(2e-4), 3e-3, pytest.approx(5e-5))


def test_a_method_of_one_s_own_by_instance_and_by_class():
    def row(settings, graph):
        return {**settings, "tasks": {"mi_ng": SMALL["tasks"]["mi_ng"]}}

    class Own(Method):
        def __init__(self):
            super().__init__("own", row)

    for method in (Method("own", row), Own):
        model = ParetoGNN(method=method, settings={"encoder": {"hidden_dims": [4]}}, steps=2).fit(make_graph())
        assert model.config_.method == "own"
        assert list(model.config_.tasks) == ["mi_ng"]


def test_a_missing_package_is_named_before_a_run_starts(monkeypatch):
    def missing(*arguments):
        raise ImportError

    monkeypatch.setattr("paretognn.reconcile.torchjd._make", missing)
    with pytest.raises(InputError, match="paretognn\\[torchjd\\]"):
        method_config(make_graph(), "pcgrad")


def test_the_search_finds_weights_without_the_test_links(monkeypatch):
    pytest.importorskip("cma")
    graph, seen = make_graph(), []
    search = {"population": 3, "generations": 2, "steps": 1}
    config = method_config(graph, "autossl-es", "quick", {**FAST, "search": search})[0]
    monkeypatch.setattr(
        "paretognn.methods.search.train", lambda g, c, d, encoder: seen.append((g, c)) or train(g, c, d)
    )
    found = searched(graph, config)
    weights = found.reconciler.settings.weights
    assert set(weights) == set(config.tasks)
    assert all(0 <= w <= 1 for w in weights.values())
    assert len(seen) == 6
    assert {g.num_edges < graph.num_edges for g, _ in seen} == {True}
    assert weights in [c.reconciler.settings.weights for _, c in seen]
    assert searched(graph, config).reconciler.settings.weights == weights


def test_a_search_that_was_stopped_goes_on_after_its_last_candidate(tmp_path, monkeypatch):
    pytest.importorskip("cma")
    graph, folder = make_graph(), RunFolder(tmp_path)
    search = {"population": 3, "generations": 3, "steps": 1}
    config = method_config(graph, "autossl-es", "quick", {**FAST, "search": search})[0]
    want = searched(graph, config)
    made = []

    def counted(*arguments, **named):
        if len(made) == 5:
            raise KeyboardInterrupt
        made.append(None)
        return train(*arguments, **named)

    monkeypatch.setattr("paretognn.methods.search.train", counted)
    with pytest.raises(KeyboardInterrupt):
        searched_in(folder, graph, config)
    made[:] = [None] * 6
    assert searched_in(folder, graph, config) == want == folder.config()
    assert len(made) == 6 + 4
    folder.search_file.write_text("[]")
    with pytest.raises(InputError, match=r"search\.json: corrupt; remove it"):
        searched_in(folder, graph, config)
