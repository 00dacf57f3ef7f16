import json

import numpy as np
import pytest

from made import SMALL, make_graph
from paretognn import InputError, ParetoGNN, evaluate
from paretognn.downstream import LinkSplit
from paretognn.graph import build_graph
from paretognn.methods.judge import judge, link_embeddings, open_link_split, verdict
from paretognn.training import EachStep, RunFolder, make_config, merge

CONFIG = make_config(merge(SMALL, {"steps": 3}))


def link_model(graph, config, folder=None, told=()):
    split = open_link_split(graph, config, folder)
    return link_embeddings(split.train_graph(graph), config, folder=folder, trackers=told), split


def test_c25_a_test_only_pair_leaves_the_link_embeddings_bit_identical():
    """The pretraining graph lacks held-out pairs in both directions, and a graph that never had one of its
    test pairs gives the same bytes."""
    graph = make_graph()
    embeddings, split = link_model(graph, CONFIG)
    dense = split.train_graph(graph).adjacency().toarray()
    for held in (*split.val, *split.test):
        assert dense[held[0], held[1]] == dense[held[1], held[0]] == 0
    pairs = graph.pairs()
    gone = split.test[0]
    left = pairs[(pairs != gone).any(1)]
    without = build_graph(60, left[:, 0], left[:, 1], features=graph.features)
    smaller = LinkSplit(split.train, split.val, split.test[1:])
    again = link_embeddings(smaller.train_graph(without), CONFIG)
    assert again.tobytes() == embeddings.tobytes()


def test_the_link_model_is_kept_and_extended(tmp_path):
    graph = make_graph()
    folder = RunFolder(tmp_path)
    first, split = link_model(graph, CONFIG, folder=folder)
    steps = []
    again, same = link_model(graph, CONFIG, folder=folder, told=[EachStep(lambda r: steps.append(r.step))])
    assert not steps
    assert first.tobytes() == again.tobytes()
    assert split.digest() == same.digest()
    longer = CONFIG.model_copy(update={"steps": 5})
    extended, _ = link_model(graph, longer, folder=folder, told=[EachStep(lambda r: steps.append(r.step))])
    assert steps == [4, 5]
    assert extended.tobytes() == link_model(graph, longer)[0].tobytes()


def test_a_kill_while_a_link_model_is_to_be_extended_never_leaves_the_shorter_one(tmp_path, monkeypatch):
    graph, folder = make_graph(), RunFolder(tmp_path)
    link_model(graph, CONFIG, folder=folder)
    longer = CONFIG.model_copy(update={"steps": 5})

    def stop(*_):
        raise KeyboardInterrupt

    for name in ("write_config", "sweep"):  # before and after the new settings are there
        with monkeypatch.context() as patch:
            patch.setattr(RunFolder, name, stop)
            with pytest.raises(KeyboardInterrupt):
                link_model(graph, longer, folder=folder)
    assert link_model(graph, longer, folder=folder)[0].tobytes() == link_model(graph, longer)[0].tobytes()


def test_result_has_the_documented_form_and_the_controls_beside():
    graph = make_graph(120, 8)
    embeddings, split = link_model(graph, CONFIG)
    result = judge(embeddings, graph, seeds=2, link=(embeddings, split), controls=CONFIG)
    assert {t: s["metric"] for t, s in result["tasks"].items()} == {
        "node_classification": "accuracy",
        "node_clustering": "nmi",
        "link_prediction": "auc",
        "partition_prediction": "accuracy",
    }
    assert all(len(s["per_seed"]) == 2 for s in result["tasks"].values())
    assert result["average"] == pytest.approx(np.mean([s["mean"] for s in result["tasks"].values()]))
    assert list(result["controls"]) == ["raw-features", "smoothed-features", "spectral", "untrained"]
    assert "training" in result["verdict"]
    json.dumps(result, allow_nan=False)


def test_verdict_says_so_where_training_did_not_pay():
    score = lambda m: {"tasks": {"a": {"mean": m}}}  # noqa: E731
    assert "did not pay" in verdict({**score(0.5), "controls": {"raw": score(0.6)}})
    assert "10.0 points above" in verdict({**score(0.7), "controls": {"raw": score(0.6)}})


def test_c30_nodes_that_the_split_isolates_are_counted_and_still_embedded():
    star = build_graph(10, np.zeros(9, int), np.arange(1, 10), features=np.eye(10))
    split = open_link_split(star, CONFIG)
    assert np.isfinite(link_embeddings(split.train_graph(star), CONFIG)).all()
    result = evaluate(ParetoGNN(steps=1, settings=SMALL).fit(star), star, seeds=1, tasks=["link_prediction"])
    assert "link split: 3 node(s) have no edge left in the train graph" in result["warnings"]
    assert result["tasks"]["link_prediction"]["mean"] is not None


def test_c28_a_score_that_cannot_be_is_null_with_its_reason_and_no_nan():
    low, high = np.triu_indices(5, 1)
    complete = build_graph(5, low, high, features=np.eye(5))
    result = evaluate(ParetoGNN(steps=1, settings=SMALL).fit(complete), complete, seeds=1)
    link = json.loads(json.dumps(result, allow_nan=False))["tasks"]["link_prediction"]
    assert link["mean"] is None
    assert "the graph has 0 pair(s) without an edge" in link["reason"]


@pytest.mark.filterwarnings("error")
def test_what_is_said_of_the_partition_is_in_the_result(recwarn):
    graph = make_graph(6)
    result = judge(np.eye(6), graph, tasks=["partition_prediction"], seeds=1)
    assert "partition: 10 parts for 6 nodes, cut to 6" in result["warnings"]


def test_from_python():
    graph = make_graph(120, 8)
    model = ParetoGNN(steps=2, settings=SMALL).fit(graph)
    result = evaluate(model, graph, seeds=1)
    assert result["average"] is not None
    alone = evaluate(model.transform(graph), graph, seeds=1)
    assert alone["tasks"]["link_prediction"]["mean"] is None
    assert "test links" in alone["tasks"]["link_prediction"]["reason"]
    assert alone["average"] is None


def test_a_wrong_request_is_refused_before_the_link_model_trains(monkeypatch):
    graph = make_graph()
    model = ParetoGNN(steps=1, settings=SMALL).fit(graph)

    def never(*_, **__):
        raise AssertionError("the link model was trained")

    monkeypatch.setattr("paretognn.estimator.link_embeddings", never)
    for wrong in ({"split": "public"}, {"tasks": ["link_prediction", "nodes"]}, {"seeds": 0}):
        with pytest.raises(InputError):
            evaluate(model, graph, **wrong)
