import numpy as np
import pytest

from made import SMALL, make_graph
from paretognn import ParetoGNN
from paretognn.errors import InputError
from paretognn.methods import METHODS, Method, method_config, searched
from paretognn.methods.published import published_table
from paretognn.training import train

FAST = {"steps": 2, "encoder": {"hidden_dims": [8, 4]}}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_whole_and_on_sub_graphs(method):
    graph = make_graph(40, 4)
    search = {"search": {"population": 3, "generations": 1, "steps": 1}} if method == "autossl-es" else {}
    for sampler in (None, {"name": "saint-node", "seeds": 15}):
        config, _ = method_config(graph, method, "quick", {**FAST, **search, "sampler": sampler})
        if sampler is not None:
            assert {s.sampler.name for s in config.tasks.values()} == {"saint-node"}
        embeddings = train(graph, searched(graph, config))[1]
        assert embeddings.shape == (40, 4)
        assert np.isfinite(embeddings).all()
        assert embeddings.std() > 0


def test_settings_are_the_authors_where_they_name_the_data_set():
    photo = make_graph().replace(name="amazon-photo")
    bgrl = method_config(photo, "bgrl", overrides={"steps": 10_000})[0]
    assert bgrl.optimizer.learning_rate == 1e-4
    assert bgrl.tasks["bgrl"].edge_drop == (0.4, 0.1)
    assert (bgrl.schedule.warmup_steps, bgrl.tasks["bgrl"].horizon_steps) == (1000, 10_000)
    assert method_config(make_graph(), "bgrl", overrides={"steps": 10_000})[0].optimizer.learning_rate == 5e-4
    assert method_config(photo, "autossl")[0].tasks["par"].classes == 100
    for method, table in published_table().items():
        for dataset in table:
            if dataset not in ("authors_steps", "default"):
                method_config(make_graph().replace(name=dataset), method)


def test_a_shorter_run_takes_larger_steps_up_to_a_limit():
    photo = make_graph().replace(name="amazon-photo")
    rate = lambda steps: method_config(photo, "bgrl", overrides={"steps": steps})[0].optimizer.learning_rate  # noqa: E731
    assert (rate(5000), rate(10), rate(20_000)) == (pytest.approx(2e-4), 3e-3, 1e-4)


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
    monkeypatch.setattr("paretognn.methods.search.train", lambda g, c, d: seen.append((g, c)) or train(g, c, d))
    found = searched(graph, config)
    weights = found.reconciler.settings.weights
    assert set(weights) == set(config.tasks)
    assert all(0 <= w <= 1 for w in weights.values())
    assert len(seen) == 6
    assert {g.num_edges < graph.num_edges for g, _ in seen} == {True}
    assert weights in [c.reconciler.settings.weights for _, c in seen]
    assert searched(graph, config).reconciler.settings.weights == weights
