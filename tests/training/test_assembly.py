import numpy as np
import pyarrow as pa
import pytest
import torch
from safetensors.torch import load_file, save_file

from made import SMALL, make_graph, normalised_dense, on_device, scaled_dense
from paretognn.errors import InputError
from paretognn.graph import build_graph
from paretognn.methods import method_config
from paretognn.training import RunFolder, TrainedEncoder, make_config, train
from paretognn.training.assembly import Assembly, AssemblySettings

BLOCKS = {
    "near": {"source": "features", "hops": 2, "width": 3, "weight": 0.7},
    "own": {"source": "features", "hops": 0, "width": 20},
    "place": {"source": "positions", "width": 5, "weight": 0.5},
    "degree": {"source": "degree", "width": 4, "weight": 0.3},
}


def assembled(graph, settings, encoded=None):
    placed = on_device(graph)
    if encoded is None:
        encoded = torch.zeros(graph.num_nodes, 0)
    chosen = AssemblySettings.model_validate(settings)
    return Assembly.fit(chosen, encoded, graph, placed, 0)(encoded, graph, placed).double().numpy()


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def same_up_to_rotation(a, b, tolerance=1e-3):
    """Rows with the same products, so the same points in other axes."""
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=tolerance)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("hops", [0, 1, 3])
def test_a_block_of_features_is_their_truncated_svd(sparse, hops):
    graph = make_graph(sparse=sparse)
    found = assembled(graph, {"blocks": {"one": {"source": "features", "hops": hops, "width": 4}}})
    x = np.linalg.matrix_power(normalised_dense(graph), hops) @ scaled_dense(graph)
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    same_up_to_rotation(found, unit(u[:, :4] * s[:4]))


def test_raw_features_are_those_of_the_table():
    graph = make_graph(sparse=True)
    found = assembled(graph, {"blocks": {"one": {"source": "raw-features", "hops": 2, "width": 4}}})
    adjacency = normalised_dense(graph)
    u, s, _ = np.linalg.svd(adjacency @ adjacency @ graph.features.toarray(), full_matrices=False)
    same_up_to_rotation(found, unit(u[:, :4] * s[:4]))


def test_narrow_features_are_taken_as_they_are():
    graph = make_graph(d=5)
    found = assembled(graph, {"blocks": {"one": {"source": "features", "hops": 1, "width": 9}}})
    np.testing.assert_allclose(found, unit(normalised_dense(graph) @ scaled_dense(graph)), atol=1e-5)


def test_a_block_of_positions_is_the_truncated_svd_of_the_adjacency():
    graph = make_graph()
    found = assembled(graph, {"blocks": {"one": {"source": "positions", "width": 6}}})
    u, s, _ = np.linalg.svd(normalised_dense(graph))
    same_up_to_rotation(found, unit(u[:, :6] * s[:6]), 0.01)


def test_as_many_positions_as_nodes_are_the_adjacency_itself():
    graph = make_graph(20, 4)
    found = assembled(graph, {"blocks": {"one": {"source": "positions", "width": 20}}})
    np.testing.assert_allclose(found, unit(normalised_dense(graph)), atol=1e-5)


def test_degrees_are_a_soft_histogram():
    graph = make_graph()
    found = assembled(graph, {"blocks": {"one": {"source": "degree", "width": 5}}})
    logs = np.log1p(graph.degrees)
    centres = np.linspace(logs.min(), logs.max(), 5)
    expected = np.exp(-0.5 * ((logs[:, None] - centres) / (centres[1] - centres[0])) ** 2)
    np.testing.assert_allclose(found, unit(expected), atol=1e-5)


def test_the_encoder_comes_first_smoothed_and_blocks_have_their_weights_as_lengths():
    graph = make_graph()
    encoded = torch.randn(graph.num_nodes, 7, generator=torch.Generator().manual_seed(1))
    found = assembled(graph, {"smoothing": 2, "blocks": BLOCKS}, encoded)
    smoothed = np.linalg.matrix_power(normalised_dense(graph), 2) @ unit(encoded.double().numpy())
    np.testing.assert_allclose(found[:, :7], unit(smoothed), atol=1e-5)
    starts = np.cumsum([7, 3, 12, 5])
    for start, width, block in zip(starts, [3, 12, 5, 4], BLOCKS.values(), strict=True):
        lengths = np.linalg.norm(found[:, start : start + width], axis=1)
        np.testing.assert_allclose(lengths, block.get("weight", 1.0), atol=1e-4)
    assert found.shape[1] == 7 + 3 + 12 + 5 + 4  # 12 features fill 12 of the 20 columns
    np.testing.assert_allclose(
        assembled(graph, {"smoothing": 2}, encoded), smoothed, atol=1e-5
    )  # without blocks: smoothed, lengths as they fall


@pytest.mark.parametrize("smoothing", [0, 2])
def test_components_are_the_truncated_svd_of_what_is_smoothed(smoothing):
    graph = make_graph()
    encoded = torch.randn(graph.num_nodes, 7, generator=torch.Generator().manual_seed(1))
    smoothed = np.linalg.matrix_power(normalised_dense(graph), smoothing) @ unit(encoded.double().numpy())
    u, s, _ = np.linalg.svd(smoothed, full_matrices=False)
    found = assembled(graph, {"smoothing": smoothing, "components": 3}, encoded)
    assert found.shape == (60, 3)
    same_up_to_rotation(found, u[:, :3] * s[:3], 1e-5)
    beside = assembled(graph, {"smoothing": smoothing, "components": 3, "blocks": BLOCKS}, encoded)
    np.testing.assert_allclose(beside[:, :3], unit(found), atol=1e-5)
    whole = assembled(graph, {"smoothing": smoothing, "components": 9}, encoded)
    assert whole.shape == (60, 7)
    same_up_to_rotation(whole, smoothed, 1e-5)


def test_rows_that_are_not_finite_stay_so():
    graph = make_graph()
    encoded = torch.full((graph.num_nodes, 7), torch.nan)
    assert np.isnan(assembled(graph, {"components": 3}, encoded)).all()


def test_settings_of_runs_from_before_components_are_read():
    assert AssemblySettings.model_validate({"columns": None, "smoothing": 2}) == AssemblySettings(smoothing=2)
    with pytest.raises(ValueError, match="columns"):
        AssemblySettings.model_validate({"columns": 88})


def test_a_block_that_is_null_is_none():
    degree = {"source": "degree", "width": 4}
    assert list(AssemblySettings.model_validate({"blocks": {"position": None, "degree": degree}}).blocks) == ["degree"]
    for method in ("best", "auto", "paretognn"):
        config, _ = method_config(make_graph(), method, overrides={"assembly": {"blocks": {"position": None}}})
        assert "position" not in config.assembly.blocks


def test_components_of_another_encoder_are_corrupt(tmp_path):
    graph, folder = make_graph(), RunFolder(tmp_path / "run")
    config = make_config({**SMALL, "steps": 1, "tasks": {"rep_decor": {}}, "assembly": {"components": 2}})
    folder.write_config(config)
    train(graph, config, folder=folder)
    tensors = load_file(folder.model_file)
    save_file({**tensors, "assembly..components": torch.ones(2, 2)}, folder.model_file)
    with pytest.raises(InputError, match="corrupt"):
        TrainedEncoder.load(folder)


def test_nothing_is_changed_without_settings():
    graph = make_graph()
    encoded = torch.randn(graph.num_nodes, 7)
    assert torch.equal(
        Assembly.fit(AssemblySettings(), encoded, graph, on_device(graph), 0)(encoded, graph, None), encoded
    )


TINY = {
    "one node": (1, []),
    "no edges": (4, []),
    "one edge": (2, [(0, 1)]),
    "equal degrees": (3, [(0, 1), (1, 2), (0, 2)]),
}


@pytest.mark.parametrize("shape", TINY)
@pytest.mark.parametrize("features", ["none", "zero", "wide"])
def test_the_smallest_graphs_have_finite_rows(shape, features):
    nodes, edges = TINY[shape]
    ends = np.array(edges, dtype=int).reshape(-1, 2)
    x = {"none": None, "zero": np.zeros((nodes, 3), np.float32), "wide": np.eye(nodes, 50, dtype=np.float32)}[features]
    graph = build_graph(nodes, ends[:, 0], ends[:, 1], features=x)
    config = make_config({**SMALL, "steps": 1, "tasks": {"rep_decor": {}}, "assembly": {"blocks": BLOCKS}})
    trained, embeddings = train(graph, config)
    assert np.isfinite(embeddings).all()
    np.testing.assert_array_equal(trained.embed(graph), embeddings)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    graph = make_graph(80, 6)
    config = make_config({**SMALL, "assembly": {"smoothing": 1, "blocks": BLOCKS}})
    folder = RunFolder(tmp_path_factory.mktemp("run") / "run")
    folder.write_config(config)
    return graph, folder, *train(graph, config, folder=folder)


def test_a_run_embeds_the_same_after_it_is_loaded(run):
    graph, folder, _, embeddings = run
    assert embeddings.shape == (80, 4 + 3 + 12 + 5 + 4)
    np.testing.assert_array_equal(TrainedEncoder.load(folder).embed(graph), embeddings)


def test_the_order_of_nodes_does_not_matter(run):
    graph, folder, _, embeddings = run
    order = np.random.default_rng(0).permutation(80)
    place = np.argsort(order)
    ends = place[graph.pairs()]
    ids = graph.id_array().take(order)
    moved = build_graph(80, ends[:, 0], ends[:, 1], features=graph.features[order], ids=ids)
    np.testing.assert_allclose(TrainedEncoder.load(folder).embed(moved), embeddings[order], atol=1e-4)


@pytest.fixture(scope="module")
def path():
    """Sixty nodes in a row with some chords, and the model trained on them."""
    ends = np.array([(i, i + 1) for i in range(59)] + [(i, i + 2) for i in range(0, 58, 3)])
    features = np.random.default_rng(0).standard_normal((61, 12)).astype(np.float32)
    graph = build_graph(60, ends[:, 0], ends[:, 1], features=features[:60])
    config = make_config({**SMALL, "assembly": {"smoothing": 1, "blocks": BLOCKS}})
    return ends, features, *train(graph, config)


def test_a_new_node_changes_nothing_far_away(path):
    ends, features, trained, embeddings = path
    found = trained.embed(build_graph(61, [*ends[:, 0], 0], [*ends[:, 1], 60], features=features))
    # The degree of node 0 has changed, which is seen 4 hops around it (2 layers, smoothing, norm), over edges of 2.
    np.testing.assert_allclose(found[10:60], embeddings[10:], atol=1e-5)
    assert np.abs(found[:3] - embeddings[:3]).max() > 1e-2


def test_a_new_node_stands_where_its_neighbours_do(path):
    ends, features, trained, _ = path
    with pytest.warns(UserWarning, match="the graph has no ids: each node gets the position"):
        found = trained.embed(build_graph(61, [*ends[:, 0], 30], [*ends[:, 1], 60], features=features))
    place = slice(-9, -4)
    near, far = found[30, place] @ found[60, place], found[5, place] @ found[60, place]
    assert near > 0.9 * 0.5**2 > far
    alone = trained.embed(build_graph(61, ends[:, 0], ends[:, 1], features=features))
    assert not alone[60, place].any()
    assert np.isfinite(alone).all()


def test_nodes_are_known_by_their_ids_and_not_by_their_place(path):
    ends, features, trained, embeddings = path
    named = build_graph(60, ends[:, 0], ends[:, 1], features=features[:60], ids=pa.array([f"n{i}" for i in range(60)]))
    found = trained.embed(named)
    assert not found[:, -9:-4].any()
    np.testing.assert_allclose(found[:, :-9], embeddings[:, :-9], atol=1e-6)


def test_a_model_without_its_maps_is_corrupt(run, tmp_path):
    from safetensors.torch import load_file, save_file

    _, folder, _, _ = run
    copy = RunFolder(tmp_path / "copy")
    copy.write_config(folder.config())
    tensors = load_file(folder.model_file)
    wrong = {
        "assembly.place": None,
        "assembly.place.keys": torch.zeros(79, dtype=torch.int64),
        "assembly.near": torch.ones(12, 9),
    }
    for name, value in wrong.items():
        broken = {k: v for k, v in tensors.items() if k != name}
        save_file(broken if value is None else {**broken, name: value}, copy.model_file)
        with pytest.raises(InputError, match="corrupt"):
            TrainedEncoder.load(copy)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"smoothing": -1}, "assembly.smoothing"),
        ({"smoothing": "2x"}, "assembly.smoothing"),
        ({"blocks": {"a": {"source": "labels"}}}, "assembly.blocks.a.source"),
        ({"blocks": {"a": {"source": "positions", "width": 0}}}, "assembly.blocks.a.width"),
        ({"blocks": {"a": {"source": "positions", "weight": 0}}}, "assembly.blocks.a.weight"),
        ({"blocks": {"a": {"source": "positions", "hop": 1}}}, "hop"),
        ({"blocks": {"a": {"source": "degree", "hops": 1}}}, "'hops' is for features"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        make_config({**SMALL, "assembly": settings})
