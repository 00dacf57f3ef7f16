import numpy as np
import pytest

from made import make_graph
from paretognn.errors import InputError
from paretognn.methods import METHODS, PRESETS, method_config
from paretognn.methods.presets import paper_table
from paretognn.pretext import PAPER

METHODS_OF_ONE_TASK = {task.name: task.name for task in PAPER} | {
    "dgi": "mi_ng",
    "grace": "mi_nsg",
    "mvgrl": "mvgrl",
    "bgrl": "bgrl",
    "cca_ssg": "rep_decor",
    "graphmae": "feat_rec",
}


@pytest.mark.parametrize("name", [*paper_table(), "cora"])
def test_the_paper_s_settings_resolve(name):
    config, why = method_config(make_graph().replace(name=name), preset="paper")
    assert config.steps == 10_000
    assert config.tasks["mi_nsg"].contrast == "all"
    assert list(config.tasks) == ["feat_rec", "topo_rec", "rep_decor", "mi_ng", "mi_nsg"]
    assert ("pubmed" in why) == (name in ("cora", "pubmed"))


def test_spot_values_of_the_paper_s_table():
    photo = method_config(make_graph().replace(name="amazon-photo"), preset="paper")[0]
    assert photo.optimizer.learning_rate == 1e-4
    assert photo.tasks["topo_rec"].batch_size == 5120
    assert photo.tasks["mi_ng"].sampler.model_dump() == {
        "name": "k-hop",
        "seeds": 5120,
        "hops": 3,
        "power": 1.0,
    }
    arxiv = method_config(make_graph().replace(name="ogbn-arxiv"), preset="paper")[0]
    assert (arxiv.encoder.hidden_dims, arxiv.encoder.norm) == ([512] * 3, "layer")
    physics = method_config(make_graph().replace(name="coauthor-physics"), preset="paper")[0]
    assert (physics.tasks["mi_nsg"].sampler.hops, physics.tasks["rep_decor"].edge_drop) == (1, 0.5)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_with_every_preset(method, preset):
    config, _ = method_config(make_graph(), method, preset)
    assert (config.method, config.preset) == (method, preset)
    single = method.replace("-", "_")
    if single in METHODS_OF_ONE_TASK:
        assert list(config.tasks) == [METHODS_OF_ONE_TASK[single]]
    else:
        assert len(config.tasks) == 5


def test_overrides_reach_the_method_and_wrong_names_are_suggested():
    config, _ = method_config(make_graph(), overrides={"method": "weighted-sum", "steps": 7})
    assert (config.reconciler.name, config.steps) == ("weighted-sum", 7)
    with pytest.raises(InputError, match="did you mean 'paretognn'"):
        method_config(make_graph(), "paretogn")
    with pytest.raises(InputError, match="did you mean 'quick'"):
        method_config(make_graph(), preset="quik")


def test_a_schedule_is_laid_out_over_the_steps_that_are_asked_for():
    config = method_config(make_graph(), preset="quick", overrides={"steps": 600})[0]
    assert (config.steps, config.schedule.horizon_steps) == (600, 600)
    own = {"steps": 600, "schedule": {"horizon_steps": 900}}
    assert method_config(make_graph(), overrides=own)[0].schedule.horizon_steps == 900
    with pytest.raises(InputError, match="'steps'"):
        method_config(make_graph(), overrides={"steps": 0})


def test_rows_of_words_are_divided_by_their_sum_and_others_standardised():
    words = make_graph(60, d=20, sparse=True)
    assert words.features.min() >= 0
    x = words.features.toarray()

    def features(matrix, method="paretognn"):
        config, why = method_config(words.replace(features=matrix), method)
        assert ("divided by their sum" in why) == (config.features == "row")
        return config.features

    assert features(x) == features(words.features) == features(x * 7) == "row"
    assert features(x, method="bgrl") == "row"
    assert features(-x) == features(x + 1) == features(make_graph().features) == "standardise"
    amounts = x.copy()
    amounts[:, 3] *= 1e4
    assert features(amounts) == "standardise"
    assert features(None) == features(np.zeros((60, 3), dtype=np.float32)) == "standardise"
    assert method_config(words, preset="paper")[0].features == "standardise"
    assert method_config(words, overrides={"features": "none"})[0].features == "none"


def test_auto_follows_size_density_and_memory(monkeypatch):
    def samplers(graph):
        tasks = method_config(graph)[0].tasks
        return [(s.name, s.seeds) for s in (tasks["topo_rec"].sampler, tasks["mi_ng"].sampler)]

    small, large = make_graph(), make_graph(9000, 2, d=3)
    assert samplers(small) == [("full", None), ("saint-walk", 320)]
    assert samplers(large) == [("saint-walk", 1280), ("saint-walk", 320)]
    monkeypatch.setattr("paretognn.methods.presets.WHOLE_UP_TO", (8000, 10))
    assert samplers(small)[0][0] == "saint-walk"
    monkeypatch.setattr("paretognn.methods.presets.free_memory", lambda device: 0)
    assert samplers(large) == [("saint-walk", 320), ("saint-walk", 80)]
    assert "memory" in method_config(large)[1]
