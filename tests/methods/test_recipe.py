import numpy as np
import pytest
import scipy.sparse as sp

from made import make_graph
from paretognn.graph import build_graph
from paretognn.methods import method_config
from paretognn.methods.choice import SMOOTHINGS, Judged, best_smoothing, judged
from paretognn.methods.recipe import WIDTH, feature_homophily, says_own
from paretognn.training import train

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
    found = judged(graph, config)
    assert [each.smoothing for each in found] == list(SMOOTHINGS)
    scores = [each.score for each in found]
    assert scores[-1] > scores[0]
    assert best_smoothing(found).smoothing > 0
    assert found == judged(graph, config)
    chosen = method_config(graph, "auto")[0]
    assert chosen.assembly.smoothing == best_smoothing(found).smoothing
    assert chosen.model_copy(update={"method": "best", "assembly": config.assembly}) == config


def test_the_least_smoothing_is_taken_of_those_that_are_as_good():
    assert best_smoothing([Judged(4, 0.75, 0.5), Judged(1, 0.498, 0.75), Judged(0, 0.5, 0.5)]).smoothing == 1
    assert best_smoothing([Judged(4, 0.75, 0.5), Judged(1, 0.48, 0.75), Judged(0, 0.5, 0.5)]).smoothing == 4
    assert best_smoothing([Judged(0, None, None), Judged(1, None, None)]).smoothing == 0
    assert Judged(0, 0.6, None).score == 0.6


@pytest.mark.parametrize("nodes", [1, 2, 3, 12])
def test_the_smallest_graphs_are_judged(nodes):
    ends = np.array([(i, i + 1) for i in range(nodes - 1)], dtype=int).reshape(-1, 2)
    graph = build_graph(nodes, ends[:, 0], ends[:, 1], features=np.ones((nodes, 2), np.float32))
    assert method_config(graph, "auto")[0].assembly.smoothing in SMOOTHINGS
