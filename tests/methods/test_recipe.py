import numpy as np
import pytest

from made import make_graph
from paretognn.graph import build_graph
from paretognn.methods import method_config
from paretognn.methods.advice import advise
from paretognn.methods.presets import PRESETS
from paretognn.methods.recipe import said_of
from paretognn.training import train

FAST = {"steps": 2, "tasks": {"rep_decor": {}, "topo_rec": None, "mi_ng": None, "mi_nsg": None, "feat_rec": None}}


@pytest.mark.parametrize("method", ["best", "auto"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_recipe_has_the_width_of_every_other_row(method, sparse):
    graph = make_graph(400, 4, d=80, sparse=sparse)
    config, _ = method_config(graph, method, overrides=FAST)
    assert config.width == 256
    assert train(graph, config)[1].shape == (400, 256)
    assert all(each.width(256) == 256 for each in (config.assembly, *config.alternatives))


def test_auto_chooses_among_the_encoder_alone_and_the_recipe():
    graph = make_graph(sparse=True)
    auto, best, plain = (method_config(graph, method)[0] for method in ("auto", "best", "paretognn"))
    assert auto.assembly == plain.assembly
    assert best.assembly in auto.alternatives
    own = {"method", "assembly", "alternatives"}
    assert auto.model_dump(exclude=own) == best.model_dump(exclude=own) == plain.model_dump(exclude=own)
    assert len({each.model_dump_json() for each in (auto.assembly, *auto.alternatives)}) == 12


@pytest.fixture
def tells():
    """A graph whose nodes have traits that their neighbours do not share."""
    r = np.random.default_rng(0)
    kinds = r.integers(0, 3, 200)
    features = (r.standard_normal((3, 30))[kinds] + 0.5 * r.standard_normal((200, 30)) > 0).astype(np.float32)
    return build_graph(200, r.integers(0, 200, 800), r.integers(0, 200, 800), features=features)


@pytest.mark.parametrize("preset", PRESETS)
def test_own_features_stand_beside_the_encoder_where_they_tell(tells, preset):
    best, auto = (method_config(tells, method, preset)[0] for method in ("best", "auto"))
    source = "raw-features" if best.features == "row" else "features"
    for assembly in (best.assembly, auto.assembly, *auto.alternatives):
        assert assembly.blocks["own"].model_dump() == {"source": source, "hops": 0, "width": 16, "weight": 1.5}
        assert assembly.width(256) == 256
    assert best.assembly in auto.alternatives
    assert len({each.model_dump_json() for each in (auto.assembly, *auto.alternatives)}) == 12


def test_own_features_are_part_of_the_embedding_and_of_the_advice(tells):
    trained, rows = train(tells, method_config(tells, "auto", overrides=FAST)[0])
    assert "16 of own (1.5)" in said_of(trained.assembly.settings)
    assert rows.shape == (200, trained.width)
    np.testing.assert_allclose(trained.embed(tells), rows, atol=1e-5)
    advice = advise(tells)
    assert "tell what its neighbours' do not" in " ".join(advice.words)
    assert "the nodes' own features (they tell what neighbours' do not)" in advice.method_why


def test_an_assembly_that_is_asked_for_has_no_own_features(tells):
    config, _ = method_config(tells, "auto", overrides={"assembly": {"smoothing": 4}})
    assert config.assembly.model_dump() == {"smoothing": 4, "components": None, "blocks": {}}
    assert config.alternatives == []


def test_words_tell_the_columns_that_a_graph_has():
    graph = make_graph(40, 4)
    trained, rows = train(graph, method_config(graph, "best", overrides=FAST)[0])
    assert said_of(trained.assembly.found()) == (
        "120 components of the encoder's output; beside it 40 of position (0.5), 8 of degree (0.3)"
    )
    assert rows.shape[1] == 120 + 40 + 8


def test_in_words():
    graph = make_graph()
    assert said_of(method_config(graph, "paretognn")[0].assembly) == "the encoder's output"
    assert said_of(method_config(graph, "best")[0].assembly) == (
        "120 components of the encoder's output; beside it 128 of position (0.5), 8 of degree (0.3)"
    )


def test_an_assembly_that_is_asked_for_is_not_judged():
    config, _ = method_config(make_graph(), "auto", overrides={"assembly": {"smoothing": 4}})
    assert (config.assembly.smoothing, config.alternatives) == (4, [])


@pytest.mark.parametrize("width", [1, 4, 64, 1024])
def test_the_recipe_is_as_wide_as_the_encoder(width):
    config, _ = method_config(make_graph(), "auto", overrides={"encoder": {"hidden_dims": [8, width]}})
    assert config.width == width
    assert {each.width(width) for each in config.alternatives} == {width}
