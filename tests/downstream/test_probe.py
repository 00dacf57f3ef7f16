import tracemalloc

import numpy as np
import pytest

from downstream.graphs import clustered
from paretognn.downstream import EvaluationWarning, random_split
from paretognn.downstream.node_classification import classify
from paretognn.downstream.probe import C_GRID, probe_accuracy, probe_bytes
from paretognn.graph.graph import Split


def test_c_never_sees_test_labels():
    graph, embeddings = clustered(noise=1.0)
    split = random_split(graph.labels, 0)
    scrambled = graph.labels.copy()
    scrambled[split.test] = np.random.default_rng(0).permutation(scrambled[split.test])
    honest, blind = (probe_accuracy(embeddings, labels, split) for labels in (graph.labels, scrambled))
    assert honest.C == blind.C
    assert honest.accuracy > blind.accuracy + 0.1


def test_nodes_outside_the_split_do_not_matter():
    graph, embeddings = clustered()
    labels = graph.labels.copy()
    labels[:50] = -1
    split = random_split(labels, 0)
    changed = embeddings.copy()
    changed[:50] = 100
    assert probe_accuracy(embeddings, labels, split) == probe_accuracy(changed, labels, split)


def test_a_tie_takes_the_smaller_c():
    codes = np.arange(40) % 2
    embeddings = np.stack([2.0 * codes - 1, np.zeros(40)], axis=1).astype(np.float32)
    probe = probe_accuracy(embeddings, codes, Split(np.arange(20), np.arange(20, 30), np.arange(30, 40)))
    assert probe.accuracy == 1
    assert C_GRID[0] == probe.C


def test_without_validation_nodes_c_is_one():
    graph, embeddings = clustered()
    assert probe_accuracy(embeddings, graph.labels, random_split(graph.labels, 0, (0.2, 0.0, 0.8))).C == 1


def test_a_class_absent_from_train_counts_as_errors():
    codes = np.array([0, 0, 1, 1, 0, 1, 2, 2, 0, 1])
    embeddings = np.eye(3, dtype=np.float32)[codes]
    split = Split(np.arange(4), np.array([4, 5]), np.arange(6, 10))
    probe = probe_accuracy(embeddings, codes, split)
    assert probe.absent == (2,)
    assert probe.absent_nodes == 2
    assert probe.accuracy == 0.5
    with pytest.warns(EvaluationWarning, match=r"1 of 2 splits.*'bird'.*up to 2"):
        score = classify(embeddings, codes, [split, random_split(codes, 0, (0.6, 0.2, 0.2))], ["cat", "dog", "bird"])
    assert score.per_seed[0] == 0.5


def test_a_repeated_split_repeats_its_score():
    graph, embeddings = clustered(num_nodes=120)
    one, two = (random_split(graph.labels, seed) for seed in (0, 1))
    score = classify(embeddings, graph.labels, [one, two, one])
    assert score.per_seed[0] == score.per_seed[2]
    assert score.per_seed[:2] == classify(embeddings, graph.labels, [one, two]).per_seed


def test_nodes_are_predicted_in_blocks(monkeypatch):
    graph, embeddings = clustered(noise=1.0)
    split = random_split(graph.labels, 0)
    whole = probe_accuracy(embeddings, graph.labels, split)
    monkeypatch.setattr("paretognn.downstream.probe._BLOCK", 7)
    assert probe_accuracy(embeddings, graph.labels, split) == whole


def test_the_embeddings_of_a_part_are_not_copied():
    codes = np.arange(200_000) % 2
    embeddings = np.random.default_rng(0).standard_normal((len(codes), 64), dtype=np.float32)
    embeddings[:, 0] += codes
    split = Split(np.arange(100), np.arange(100, 100_000), np.arange(100_000, 200_000))
    tracemalloc.start()
    probe_accuracy(embeddings, codes, split)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < embeddings[split.test].nbytes * 0.75


def test_how_many_splits_run_at_once_depends_on_what_each_takes(monkeypatch):
    needed = []

    def one_by_one(function, items, bytes_each=0):
        needed.append(bytes_each)
        return [function(item) for item in items]

    monkeypatch.setattr("paretognn.downstream.node_classification.map_seeds", one_by_one)
    graph, embeddings = clustered()
    small, large = random_split(graph.labels, 0), random_split(graph.labels, 1, (0.6, 0.2, 0.2))
    classify(embeddings, graph.labels, [small, large])
    assert needed == [probe_bytes(large, 8, 3)]
    assert needed[0] > embeddings[large.train].astype(np.float64).nbytes
