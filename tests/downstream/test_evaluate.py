import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downstream.graphs import clustered, complete, graph_of, path
from paretognn.downstream import ALL, LinkSplit, evaluate_embeddings, split_links
from paretognn.downstream.splits import choose_splits
from paretognn.errors import InputError
from paretognn.graph.graph import Split

pytestmark = pytest.mark.filterwarnings("ignore:link split")
METRICS = {
    "node_classification": "accuracy",
    "node_clustering": "nmi",
    "link_prediction": "auc",
    "partition_prediction": "accuracy",
}


@pytest.fixture
def subject():
    return clustered()


def finite_json(evaluation):
    return json.loads(json.dumps(evaluation.to_json(), allow_nan=False))


def test_all_four(subject):
    graph, embeddings = subject
    result = finite_json(evaluate_embeddings(embeddings, graph, seeds=3, link=(embeddings, split_links(graph, 0))))
    assert {name: task["metric"] for name, task in result["tasks"].items()} == METRICS
    for task in result["tasks"].values():
        assert len(task["per_seed"]) == 3
        assert task["mean"] == pytest.approx(np.mean(task["per_seed"]))
        assert task["std"] == pytest.approx(np.std(task["per_seed"]))
        assert "reason" not in task
    assert result["average"] == pytest.approx(np.mean([task["mean"] for task in result["tasks"].values()]))
    assert result["evaluation_seeds"] == [0, 1, 2]
    assert result["split"] == "random"
    assert len(set(result["split_digests"])) == 3
    assert set(result["seconds"]) == set(ALL)
    assert sum(result["partition"]["sizes"]) == graph.num_nodes
    assert result["labels"] == {"classes": ["class 0", "class 1", "class 2"], "unlabelled_nodes": 0}


def test_embeddings_alone_have_no_link_score(subject):
    result = finite_json(evaluate_embeddings(subject[1], subject[0], seeds=1))
    assert result["tasks"]["link_prediction"]["mean"] is None
    assert "did not see its test links" in result["tasks"]["link_prediction"]["reason"]
    assert result["average"] is None
    other = evaluate_embeddings(
        subject[1], subject[0], seeds=1, tasks=["link_prediction"], link_reason="no second model"
    )
    assert other.tasks["link_prediction"].reason == "no second model"
    assert other.tasks["node_clustering"].reason == "not asked for"


def test_unlabelled_graphs_get_the_other_two(subject):
    graph, embeddings = subject
    split = split_links(graph, 0)
    for labels in (None, np.full(graph.num_nodes, -1)):
        result = finite_json(
            evaluate_embeddings(embeddings, graph.replace(labels=labels), seeds=1, link=(embeddings, split))
        )
        for name, task in result["tasks"].items():
            needs_labels = name in ("node_classification", "node_clustering")
            assert (task["mean"] is None) == needs_labels
            assert ("no labels" in task.get("reason", "")) == needs_labels
        assert result["average"] is None


@pytest.mark.parametrize(
    "kind",
    [
        lambda labels: np.array(["cat", "dog"])[labels],
        lambda labels: labels[:, None],
        lambda labels: labels.astype(float),
        lambda labels: labels + 1,
        lambda labels: np.array(["x", "y"], dtype=object)[labels],
    ],
)
def test_label_kinds_score_the_same(kind):
    graph, embeddings = clustered(classes=2, label_names=())
    tasks = ("node_classification", "node_clustering")
    plain = evaluate_embeddings(embeddings, graph, tasks=tasks, seeds=2)
    other = evaluate_embeddings(embeddings, graph.replace(labels=kind(graph.labels)), tasks=tasks, seeds=2)
    assert [plain.tasks[name].per_seed for name in tasks] == [other.tasks[name].per_seed for name in tasks]
    assert len(other.facts["labels"]["classes"]) == 2


def test_unlabelled_nodes_do_not_change_the_scores_of_the_others(subject):
    graph, embeddings = subject
    labels = graph.labels.copy()
    labels[::5] = -1
    tasks = ("node_classification", "node_clustering")
    first = evaluate_embeddings(embeddings, graph.replace(labels=labels), tasks=tasks, seeds=2)
    changed = embeddings.copy()
    changed[::5] = np.random.default_rng(0).standard_normal(changed[::5].shape)
    again = evaluate_embeddings(changed, graph.replace(labels=labels), tasks=tasks, seeds=2)
    assert first.tasks == again.tasks
    assert first.facts["labels"]["unlabelled_nodes"] == 60


def test_repeats_bit_for_bit_and_seeds_count_from_zero(subject):
    graph, embeddings = subject
    link = (embeddings, split_links(graph, 0))
    three = evaluate_embeddings(embeddings, graph, seeds=3, link=link)
    assert three.tasks == evaluate_embeddings(embeddings, graph, seeds=3, link=link).tasks
    two = evaluate_embeddings(embeddings, graph, seeds=[2, 0], link=link)
    for name in ALL:
        score = three.tasks[name].per_seed
        assert two.tasks[name].per_seed == (score[2], score[0])


@settings(max_examples=10, deadline=None)
@given(st.floats(1e-6, 1e6))
def test_the_scale_of_a_row_does_not_matter(scale):
    graph, embeddings = clustered(num_nodes=100)
    scales = np.where(np.arange(100) % 2, scale, 1)[:, None]
    plain, scaled = (
        evaluate_embeddings(points, graph, seeds=1).tasks["node_classification"].mean
        for points in (embeddings, embeddings * scales)
    )
    assert plain == pytest.approx(scaled, abs=0.02)


def test_public_splits(subject):
    graph, embeddings = subject
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    graph = graph.replace(splits=(Split(order[:30], order[30:60], order[60:200]),))
    result = evaluate_embeddings(embeddings, graph, seeds=2, split="public")
    assert len(set(result.tasks["node_classification"].per_seed)) == 1
    assert result.tasks["partition_prediction"].mean is not None
    assert any("100 labelled node(s)" in line for line in result.warnings)


def test_a_given_partition_is_used(subject):
    graph, embeddings = subject
    result = evaluate_embeddings(embeddings, graph, seeds=2, partition=graph.labels)
    assert result.tasks["partition_prediction"].per_seed == result.tasks["node_classification"].per_seed


def test_warnings_are_gathered_and_not_shown(subject, recwarn):
    graph, _ = subject
    result = evaluate_embeddings(np.ones((graph.num_nodes, 4)), graph, seeds=2)
    assert not recwarn
    assert any("identical" in line for line in result.warnings)
    assert result.tasks["node_clustering"].mean == 0


def test_duplicate_nodes_are_told():
    graph, embeddings = clustered(features=np.ones((300, 1)))
    hollow = graph_of(300, [(0, 1)], features=np.ones((300, 1)), labels=graph.labels)
    result = evaluate_embeddings(embeddings, hollow, seeds=1, tasks=["node_classification"])
    assert any(line.startswith("duplicate nodes") for line in result.warnings)


@pytest.mark.parametrize("graph", [path(1), path(2), graph_of(4, []), complete(4), path(3)])
def test_tiny_graphs_give_reasons_not_crashes(graph):
    nodes = graph.num_nodes
    graph = graph.replace(labels=np.arange(nodes) % 2)
    result = finite_json(evaluate_embeddings(np.eye(nodes, 3), graph, seeds=2))
    for task in result["tasks"].values():
        assert (task["mean"] is None) == bool(task.get("reason"))


def test_one_class_overall(subject):
    graph, embeddings = subject
    result = evaluate_embeddings(embeddings, graph.replace(labels=np.zeros(300, int)), seeds=1)
    assert "at least 2 classes" in result.tasks["node_classification"].reason
    assert result.tasks["node_clustering"].mean == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tasks": ["node_clasification"]}, "did you mean 'node_classification'"),
        ({"seeds": 0}, "at least one seed"),
        ({"seeds": [-1]}, "below 0"),
        ({"split": "public"}, "no public split"),
        ({"split": "rnd"}, "unknown split"),
        ({"partition": np.zeros(5, int)}, "partition has shape"),
        ({"link": (np.ones((3, 2)), None)}, "link embeddings"),
        ({"link": (np.ones((300, 2)), LinkSplit(*[np.array([[0, 299]])] * 3))}, "link split"),
    ],
)
def test_settings_at_fault(subject, settings, message):
    with pytest.raises(InputError, match=message):
        evaluate_embeddings(subject[1], subject[0], **settings)


def test_embeddings_at_fault(subject):
    graph, embeddings = subject
    with pytest.raises(InputError, match=r"shape \[300, d\]"):
        evaluate_embeddings(embeddings[:-1], graph)
    embeddings[7, 1] = np.nan
    with pytest.raises(InputError, match="row 7"):
        evaluate_embeddings(embeddings, graph)


def test_permuted_test_labels_change_the_test_accuracy_alone(subject):
    """Not the splits, nor the C that is chosen, nor what does not look at labels."""
    graph, embeddings = subject
    (split,) = choose_splits(graph, "random", [0])
    labels = graph.labels.copy()
    labels[split.test] = np.random.default_rng(0).permutation(labels[split.test])
    link = (embeddings, split_links(graph, 0))
    plain, other = (
        evaluate_embeddings(embeddings, g, seeds=[0], link=link) for g in (graph, graph.replace(labels=labels))
    )
    before, after = plain.tasks["node_classification"], other.tasks["node_classification"]
    assert before.per_seed != after.per_seed
    assert before.details["C"] == after.details["C"]
    assert plain.facts["split_digests"] == other.facts["split_digests"]
    for name in ("link_prediction", "partition_prediction"):
        assert plain.tasks[name] == other.tasks[name]
