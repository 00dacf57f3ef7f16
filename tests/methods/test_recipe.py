import numpy as np
import pytest
import scipy.sparse as sp

from made import SMALL, make_graph
from paretognn.graph import build_graph
from paretognn.methods import method_config
from paretognn.methods.choice import POSITIONS, SMOOTHINGS, Judged, choose, least
from paretognn.methods.recipe import WIDTH, feature_homophily, says_own
from paretognn.training import make_config, train
from paretognn.training.assembly import AssemblySettings

FAST = {"steps": 2, "tasks": {"rep_decor": {}, "topo_rec": None, "mi_ng": None, "mi_nsg": None, "feat_rec": None}}


def unlike(graph, seed=0):
    """The graph with features of its nodes' classes, dealt to other nodes: shared by many, not by neighbours."""
    return graph.replace(features=graph.features[np.random.default_rng(seed).permutation(graph.num_nodes)])


@pytest.mark.parametrize("sparse", [False, True])
def test_feature_homophily_equals_its_definition(sparse):
    graph = make_graph(sparse=sparse)
    x = graph.features.toarray() if sparse else graph.features
    x = x - x.mean(0)
    x = x if sparse else x / x.std(0)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosines = x @ x.T
    alike = cosines[tuple(graph.pairs().T)].mean()
    # Strangers are drawn, so their mean is near that of all pairs.
    assert feature_homophily(graph) == pytest.approx(alike - cosines.mean(), abs=0.02)


def test_own_features_are_kept_where_neighbours_are_not_alike():
    graph = make_graph(200, 8)
    traits = np.eye(3, dtype=np.float32)[graph.labels]
    alike = graph.replace(features=traits + 0.1 * graph.features[:, :3])
    assert not says_own(alike)
    assert says_own(unlike(alike))


def test_features_that_are_names_are_not_kept():
    graph = make_graph(100, 8)
    assert not says_own(graph.replace(features=sp.eye_array(100, dtype=np.float32, format="csr")))


@pytest.mark.parametrize("method", ["best", "auto"])
@pytest.mark.parametrize("other", [False, True])
def test_the_recipe_has_the_width_of_every_other_row(method, other):
    graph = make_graph(400, 4, d=80)
    graph = unlike(graph) if other else graph
    config, _ = method_config(graph, method, overrides=FAST)
    assert config.width == WIDTH
    assert ("own" in config.assembly.blocks) is other
    assert train(graph, config)[1].shape == (400, WIDTH)


def test_labels_are_never_looked_at():
    graph = make_graph(100, 8)
    blind = graph.replace(labels=None, label_names=())
    for method in ("best", "auto"):
        assert method_config(graph, method)[0] == method_config(blind, method)[0]


def ring_of_communities(communities=12, size=14):
    """Dense communities in a ring, joined by single edges, with features that say nothing."""
    rng = np.random.default_rng(0)
    inside = [(c * size + a, c * size + b) for c in range(communities) for a in range(size) for b in range(a)]
    chosen = [pair for pair in inside if rng.random() < 0.4]
    bridges = [(c * size, (c + 1) % communities * size) for c in range(communities)]
    ends = np.array(chosen + bridges)
    n = communities * size
    return build_graph(n, ends[:, 0], ends[:, 1], features=rng.standard_normal((n, 8)).astype(np.float32))


def test_the_judge_smooths_where_it_helps():
    """Noise beside positions: the more it is smoothed, the better a probe sees the parts."""
    graph = ring_of_communities()
    config, _ = method_config(graph, "best")
    chosen, found = choose(graph, config)
    assert len(found) == len(POSITIONS) + len(SMOOTHINGS) - 1
    assert [each.assembly.smoothing for each in found] == [config.assembly.smoothing] * 3 + [0, 1, 4, 8]
    assert [each.assembly.blocks["position"].weight for each in found[:3]] == list(POSITIONS)
    assert found[-1].score > found[3].score
    assert chosen.smoothing > 0
    alike = [each for each in found if each.assembly.blocks == chosen.blocks]
    assert chosen == least(sorted(alike, key=lambda each: each.assembly.smoothing)).assembly
    assert (chosen, found) == choose(graph, config)
    auto = method_config(graph, "auto")[0]
    assert auto.assembly == chosen
    assert auto.model_copy(update={"method": "best", "assembly": config.assembly}) == config


def test_the_least_is_taken_of_those_that_are_as_good():
    few, some, many = (AssemblySettings(smoothing=k) for k in (0, 1, 4))
    found = [Judged(few, 0.5, 0.5), Judged(some, 0.498, 0.75), Judged(many, 0.75, 0.5)]
    assert least(found).assembly == some
    assert least([found[0], Judged(some, 0.48, 0.75), found[2]]).assembly == many
    assert least([Judged(few, None, None), Judged(some, None, None)]).assembly == few
    assert Judged(few, 0.6, None).score == 0.6


def test_without_positions_the_smoothing_alone_is_judged():
    graph = make_graph(60, 6)
    config = make_config({**SMALL, "assembly": {"blocks": {"degree": {"source": "degree", "width": 4}}}})
    chosen, found = choose(graph, config)
    assert len(found) == len(SMOOTHINGS)
    assert list(chosen.blocks) == ["degree"]


@pytest.mark.parametrize("nodes", [1, 2, 3, 12])
def test_the_smallest_graphs_are_judged(nodes):
    ends = np.array([(i, i + 1) for i in range(nodes - 1)], dtype=int).reshape(-1, 2)
    graph = build_graph(nodes, ends[:, 0], ends[:, 1], features=np.ones((nodes, 2), np.float32))
    assert method_config(graph, "auto")[0].assembly.smoothing in SMOOTHINGS
