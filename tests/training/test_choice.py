from functools import partial

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from made import SMALL, make_graph
from paretognn.errors import InputError
from paretognn.graph import build_graph
from paretognn.graph.region import walked_region
from paretognn.training import RunFolder, TrainedEncoder, make_config, train, untrained
from paretognn.training.assembly import AssemblySettings
from paretognn.training.choice import Judged, judge, least
from paretognn.training.inference import embed
from paretognn.training.prepare import prepare

PLACES = {"components": 1, "blocks": {"place": {"source": "positions", "width": 24}}}
CANDIDATES = [AssemblySettings(), AssemblySettings(smoothing=8), AssemblySettings.model_validate(PLACES)]


def ring_of_communities(communities=12, size=14):
    """Dense communities in a ring, joined by single edges, with features that say nothing."""
    rng = np.random.default_rng(0)
    inside = [(c * size + a, c * size + b) for c in range(communities) for a in range(size) for b in range(a)]
    chosen = [pair for pair in inside if rng.random() < 0.4]
    bridges = [(c * size, (c + 1) % communities * size) for c in range(communities)]
    ends = np.array(chosen + bridges)
    n = communities * size
    return build_graph(n, ends[:, 0], ends[:, 1], features=rng.standard_normal((n, 8)).astype(np.float32))


def judged(graph, candidates=CANDIDATES):
    made = untrained(graph, make_config(SMALL), "cpu")

    def encode(other):
        placed, _ = prepare(other, "standardise", "cpu", made.scaling)
        return embed(made.encoder, placed), placed

    return judge(graph, encode, candidates, 0)


def test_positions_are_preferred_where_features_say_nothing():
    found = judged(ring_of_communities())
    assert [each.assembly for each in found] == CANDIDATES
    assert found[2].parts > found[0].parts + 0.1
    assert found[1].parts > found[0].parts
    assert least([found[0], found[2]]).assembly == CANDIDATES[2]
    assert found == judged(ring_of_communities())


def test_a_candidate_alone_has_the_score_that_it_has_among_others():
    graph = make_graph(80, 6)
    again = judged(graph, [CANDIDATES[2], CANDIDATES[0]])
    found = judged(graph)
    assert (again[1], again[0]) == (found[0], found[2])


def test_labels_are_never_looked_at():
    graph = make_graph(80, 6)
    assert judged(graph) == judged(graph.replace(labels=None, label_names=()))


def test_the_least_is_taken_of_those_that_are_as_good():
    few, some, many = (AssemblySettings(smoothing=k) for k in (0, 1, 4))
    found = [Judged(few, 0.5, 0.5), Judged(some, 0.498, 0.75), Judged(many, 0.75, 0.5)]
    assert least(found).assembly == some
    assert least([found[0], Judged(some, 0.48, 0.75), found[2]]).assembly == many
    assert least([Judged(few, None, None), Judged(some, None, None)]).assembly == few
    assert Judged(few, 0.6, None).score == 0.6


@pytest.mark.parametrize("nodes", [1, 2, 3, 12])
def test_the_smallest_graphs_are_judged(nodes):
    ends = np.array([(i, i + 1) for i in range(nodes - 1)], dtype=int).reshape(-1, 2)
    graph = build_graph(nodes, ends[:, 0], ends[:, 1], features=np.ones((nodes, 2), np.float32))
    config = make_config({**SMALL, "steps": 1, "tasks": {"rep_decor": {}}, "alternatives": [PLACES]})
    assert np.isfinite(train(graph, config)[1]).all()


@pytest.fixture
def run(tmp_path):
    graph = ring_of_communities()
    config = make_config({**SMALL, "alternatives": [PLACES]})
    folder = RunFolder(tmp_path / "run")
    folder.write_config(config)
    return graph, folder, *train(graph, config, folder=folder)


def test_a_run_keeps_its_choice(run):
    graph, folder, trained, embeddings = run
    assert trained.assembly.settings == CANDIDATES[2]
    loaded = TrainedEncoder.load(folder)
    assert loaded.assembly.settings == CANDIDATES[2]
    assert loaded.width == embeddings.shape[1] == 25
    np.testing.assert_array_equal(loaded.embed(graph), embeddings)
    tensors = load_file(folder.model_file)
    for wrong in (2, -3):
        save_file({**tensors, "assembled": torch.tensor(wrong)}, folder.model_file)
        with pytest.raises(InputError, match="corrupt"):
            TrainedEncoder.load(folder)


def test_a_resumed_run_chooses_the_same(run, tmp_path):
    graph, folder, _, embeddings = run
    short = RunFolder(tmp_path / "short")
    short.write_config(folder.config().model_copy(update={"steps": 2}))
    train(graph, short.config(), folder=short)
    short.write_config(folder.config())
    np.testing.assert_array_equal(train(graph, folder.config(), folder=short, resume=True)[1], embeddings)


def test_a_large_graph_is_judged_by_a_region(monkeypatch):
    graph = ring_of_communities()
    monkeypatch.setattr("paretognn.training.choice.walked_region", partial(walked_region, most=100))
    seen = []

    def encode(other):
        seen.append(other.num_nodes)
        placed, _ = prepare(other, "standardise", "cpu")
        return torch.ones(other.num_nodes, 4), placed

    assert len(judge(graph, encode, CANDIDATES, 0)) == len(CANDIDATES)
    assert max(seen) <= 100
