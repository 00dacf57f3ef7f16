from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from benchmark.small_cells import NARROW, cells_of, request
from paretognn.benchmark import grid, reference
from paretognn.benchmark.cells import CONTROL, DONE, EMBEDDINGS, TRAINED, Cell, CellKey, Store
from paretognn.benchmark.concat_pca import PARTS
from paretognn.benchmark.grid import EmbeddingsFile, Request, checked, made_otherwise, method_names, recorded
from paretognn.benchmark.running import to_do
from paretognn.errors import InputError
from paretognn.graph.region import induced_graph
from paretognn.methods.controls import CONTROLS
from paretognn.methods.rows import METHODS
from paretognn.training import write_embeddings


def names(cells):
    return [cell.key.method for cell in cells]


def test_all_is_every_method_and_control():
    asked = checked(request("all"))
    assert set(asked.methods) == {*METHODS, *CONTROLS, "concat-pca"}
    assert asked.methods == method_names()
    assert checked(request("spectral", "all", "spectral")).methods[0] == "spectral"


def test_the_tables_know_the_methods_by_their_names():
    assert reference.SINGLE_TASKS == PARTS
    assert set(reference.CONTROLS) == {*CONTROLS, "concat-pca"}
    assert {*reference.VARIANTS, *reference.BASELINES, *reference.PARETOMTL} <= set(METHODS)


def test_concat_pca_brings_the_cells_it_needs_once_and_before_itself():
    cells = cells_of(request("concat-pca", "mi-ng", steps=7))
    assert names(cells) == [*PARTS, "concat-pca"]
    last = cells[-1]
    assert [key.name for key in last.needs] == [cell.key.name for cell in cells[:-1]]
    assert (last.key.kind, last.key.steps) == (CONTROL, 7)
    assert all(key.settings == cell.key.settings for key, cell in zip(last.needs, cells, strict=False))


def test_axes_are_seeds_and_widths_and_every_key_has_its_own_name():
    cells = cells_of(request("feat-rec", "spectral", seeds=3, widths=(16, 32), settings={}))
    assert len({cell.key.name for cell in cells}) == len(cells) == 2 * 3 * 2
    dims = [cell.config.encoder.hidden_dims for cell in cells if cell.key.seed == 2]
    assert sorted(map(tuple, dims)) == [(512, 16), (512, 16), (512, 32), (512, 32)]
    assert {cell.config.seed for cell in cells} == {0, 1, 2}


def test_settings_are_part_of_a_key():
    plain = cells_of(request("mi-ng", settings={}))[0]
    changed = cells_of(request("mi-ng", settings={"optimizer": {"learning_rate": 0.5}}))[0]
    assert plain.key.name != changed.key.name
    assert changed.config.optimizer.learning_rate == 0.5
    # Steps that are asked for and steps of the preset make one cell where they are the same.
    preset = cells_of(request("mi-ng", settings={}, steps=None))[0]
    assert preset.key.steps > 2
    assert cells_of(request("mi-ng", settings={}, steps=preset.key.steps))[0].key == preset.key


@pytest.mark.parametrize(("one", "same"), [
    ({"encoder": {"hidden_dims": [8.0, "4"]}}, {"encoder": {"hidden_dims": [8, 4]}}),
    ({"optimizer": {"weight_decay": 0}}, {"optimizer": {"weight_decay": 0.0}}),
    ({"alternatives": [{"smoothing": 1.0}]}, {"alternatives": [{"smoothing": 1}]}),
])  # fmt: skip
@pytest.mark.parametrize("method", ["mi-ng", "untrained", "concat-pca"])
def test_one_setting_written_in_two_ways_is_one_key(one, same, method, tmp_path):
    first, second = (cells_of(request(method, settings=settings))[-1].key for settings in (one, same))
    assert first.name == second.name
    Store(tmp_path).put(Cell(first, "failed", error="-"))
    assert Store(tmp_path).get(first).key == second


def test_a_sampler_is_that_of_every_task_and_part_of_the_key():
    sampler = {"sampler": {"name": "saint-node", "seeds": 30}}
    for cell in cells_of(request("weighted-sum", "bgrl", "autossl", settings=sampler)):
        assert {task.sampler.name for task in cell.config.tasks.values()} == {"saint-node"}
        assert cell.key.settings == sampler


def test_settings_reach_only_what_has_them():
    settings = {**NARROW, "tasks": {"mi_ng": {"head": "linear"}}}
    cells = {cell.key.method: cell for cell in cells_of(request("feat-rec", "mi-ng", "untrained", settings=settings))}
    assert list(cells["feat-rec"].config.tasks) == ["feat_rec"]
    assert "tasks" not in cells["feat-rec"].key.settings
    assert cells["mi-ng"].config.tasks["mi_ng"].head == "linear"
    assert cells["untrained"].key.settings == {"encoder": NARROW["encoder"]}
    assert cells["untrained"].key.steps == 0
    assert {cell.key.kind for cell in cells.values()} == {TRAINED, CONTROL}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ("grce",)}, "did you mean 'grace'"),
        ({"datasets": ("digit",)}, "did you mean 'digits'"),
        ({"methods": ()}, "name --methods"),
        ({"preset": "fast"}, "unknown preset 'fast'"),
        ({"seeds": 0}, "--seeds must be at least 1"),
        ({"evaluation_seeds": 0}, "--evaluation-seeds must be at least 1"),
        ({"widths": (0,)}, "--widths must be at least 1"),
        ({"settings": {"steps": 3}}, "use --steps"),
        ({"settings": {"encoder": None}}, "--set encoder=null: needs a value"),
        ({"widths": (3_000_000_000,), "settings": {}}, "less than"),
        ({"widths": (3,)}, "is what --widths sets"),
        ({"settings": {"optimizer": {"weight_decay": float("inf")}}}, "neither finite"),
        ({"settings": {"encoder": {"hidden_dim": 3}}}, "did you mean 'encoder.hidden_dims'"),
        ({"settings": {"tasks": {"mi_n": {}}}}, "unknown pretext task 'mi_n'"),
        ({"datasets": ("digits", "cora"), "files": (EmbeddingsFile("a", "a.npy"),)}, "names 2"),
        ({"files": (EmbeddingsFile("grace", "a.npy"),)}, "exists already"),
        ({"evaluation_seeds": 10_001}, "--evaluation-seeds must be at least 1 and at most 10,000"),
        ({"steps": 10**20}, "setting 'steps': input should be less than"),
        ({"settings": {"encoder": 5}, "widths": (8,)}, "--set encoder: is a tree of settings, not 5"),
        ({"settings": {"encoder": ["hidden_dims"]}, "widths": (8,)}, "--set encoder: is a tree of settings"),
        ({"methods": ("spectral",), "settings": {"nosuch": {"thing": 1}}}, "unknown setting 'nosuch'"),
        ({"settings": {"tasks": {"mi_nsg": {"temperature": 0.1}}}}, "--set tasks.mi_nsg: none of --methods has"),
        *(
            ({"methods": (), "files": (EmbeddingsFile("a", "a.npy"),), "settings": {}} | more, "is for --methods")
            for more in ({"steps": 3}, {"seeds": 2}, {"widths": (8,)}, {"settings": {"features": "none"}})
        ),
        ({"files": (EmbeddingsFile("a", "a.npy"), EmbeddingsFile("a", "b.npy"))}, "exists already"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(changes, message):
    with pytest.raises(InputError, match=message):
        cells_of(replace(request("mi-ng"), **changes))


def test_a_method_whose_package_is_missing_is_left_out_of_all_only(monkeypatch):
    def missing(graph, method="paretognn", *rest, **more):
        if method == "weighted-sum":
            raise InputError("needs a further package")
        return config(graph, method, *rest, **more)

    config = grid.method_config
    monkeypatch.setattr(grid, "method_config", missing)
    with pytest.warns(UserWarning, match="weighted-sum is left out: needs a further package"):
        left = cells_of(request("all"))
    assert "weighted-sum" not in names(left)
    assert "paretognn" in names(left)
    with pytest.raises(InputError, match="further package"):
        cells_of(request("all", "weighted-sum"))


@pytest.mark.parametrize("methods", [("all",), ("mvgrl", "dgi")])
def test_a_method_for_smaller_graphs_is_left_out_on_the_larger_one_only(monkeypatch, methods):
    graph = grid.load_dataset("digits")
    small = induced_graph(graph, np.arange(60))
    monkeypatch.setattr("paretognn.sampling.diffusion.LIMIT", 100)
    monkeypatch.setattr(grid, "load_dataset", lambda name, root: replace(graph if name == "cora" else small, name=name))
    asked = replace(request(*methods, settings={}), datasets=("cora", "digits"))
    with pytest.warns(UserWarning, match="mvgrl is left out: a diffusion of 1,797 nodes would take hours"):
        left = {(cell.key.dataset, cell.key.method) for cell in cells_of(asked)}
    assert {("cora", "dgi"), ("digits", "dgi"), ("digits", "mvgrl")} <= left
    assert ("cora", "mvgrl") not in left


def test_a_grid_without_a_cell_is_an_error(monkeypatch):
    monkeypatch.setattr("paretognn.sampling.diffusion.LIMIT", 100)
    with pytest.warns(UserWarning, match="mvgrl is left out"), pytest.raises(InputError, match="can be run on digits"):
        cells_of(request("mvgrl", settings={}))


def test_a_stored_cell_counts_with_its_evaluation_seeds_and_its_file(tmp_path):
    file = tmp_path / "mine.npy"
    np.save(file, np.ones((1797, 3), dtype=np.float32))
    asked = Request(("digits",), files=(EmbeddingsFile("mine", file),))
    (cell,) = cells_of(asked)
    assert (cell.key.kind, cell.key.steps, cell.key.seed) == (EMBEDDINGS, 0, 0)
    store = Store(tmp_path / "store")
    assert recorded(store, cell, 10) is None
    evaluation = {
        "tasks": {},
        "average": None,
        "evaluation_seeds": list(range(10)),
        "files": cell.file.digests(),
    }
    store.put(Cell(cell.key, DONE, evaluation=evaluation))
    assert recorded(store, cell, 10) == store.get(cell.key)
    with pytest.raises(InputError, match="--evaluation-seeds 10"):
        recorded(store, cell, 3)
    np.save(file, np.zeros((1797, 3), dtype=np.float32))
    assert recorded(store, cell, 10) is None


def test_a_link_score_stays_where_no_file_for_it_is_named(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("mine", "link", "other"):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(1797, 3)).astype(np.float32))

    def asked(link):
        path = None if link is None else tmp_path / f"{link}.npy"
        (cell,) = cells_of(Request(("digits",), files=(EmbeddingsFile("mine", tmp_path / "mine.npy", path),)))
        return cell

    store = Store(tmp_path / "store")
    facts = {"files": asked("link").file.digests(), "evaluation_seeds": list(range(10))}
    store.put(Cell(asked("link").key, DONE, evaluation={"tasks": {}, "average": None, **facts}))
    assert recorded(store, asked("link"), 10) is not None
    assert recorded(store, asked(None), 10) is not None
    assert recorded(store, asked("other"), 10) is None


def test_weights_that_a_search_found_are_no_other_settings():
    (cell,) = cells_of(request("autossl-es"))
    weights = dict.fromkeys(cell.config.tasks, 0.3)
    reconciler = cell.config.reconciler.model_copy(update={"settings": {"weights": weights}})
    config = cell.config.model_copy(update={"reconciler": reconciler}).model_dump(mode="json")
    found = Cell(cell.key, DONE, config=config)
    assert made_otherwise(found, cell) == []
    assert made_otherwise(replace(found, config=config | {"features": "none"}), cell) == ["features"]


def test_a_store_takes_no_cells_beside_others_that_were_judged_over_other_seeds(tmp_path):
    """Tables would refuse them."""
    first, second = cells_of(Request(("digits",), ("raw-features", "spectral")))
    store = Store(tmp_path)
    judged = {"tasks": {}, "average": None, "evaluation_seeds": [0, 1, 2]}
    store.put(Cell(first.key, DONE, evaluation=judged))
    for seeds in (10, 2):
        with pytest.raises(InputError, match=r"was judged over 3 evaluation seeds.*use --evaluation-seeds 3"):
            to_do([second], store, Request(("digits",), evaluation_seeds=seeds))
    assert to_do([second], store, Request(("digits",), evaluation_seeds=3)) == [second]


def test_a_file_that_does_not_fit_the_graph_is_refused(tmp_path):
    np.save(tmp_path / "short.npy", np.ones((5, 3)))
    with pytest.raises(InputError, match=r"short\.npy: expected 1797 rows"):
        cells_of(Request(("digits",), files=(EmbeddingsFile("short", tmp_path / "short.npy"),)))


def test_a_file_is_not_its_own_link_embeddings(tmp_path):
    for name in ("mine", "copy"):
        np.save(tmp_path / f"{name}.npy", np.ones((1797, 3), dtype=np.float32))
    for link in ("mine", "copy"):
        file = EmbeddingsFile("mine", tmp_path / "mine.npy", tmp_path / f"{link}.npy")
        with pytest.raises(InputError, match=f"--link-embeddings mine=.*{link}.npy: is its --embeddings"):
            cells_of(Request(("digits",), files=(file,)))
    np.save(tmp_path / "copy.npy", np.zeros((1797, 3), dtype=np.float32))
    assert cells_of(Request(("digits",), files=(file,)))


def test_a_file_without_columns_is_named(tmp_path):
    np.save(tmp_path / "empty.npy", np.ones((1797, 0), dtype=np.float32))
    with pytest.raises(InputError, match=r"empty\.npy: has no embedding columns"):
        cells_of(Request(("digits",), files=(EmbeddingsFile("mine", tmp_path / "empty.npy"),)))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_of_no_node_are_counted(tmp_path, suffix, recwarn):
    path = tmp_path / f"mine.{suffix}"
    asked = Request(("digits",), files=(EmbeddingsFile("mine", path),))
    ids = grid.load_dataset("digits").id_array().to_pylist()
    for foreign in ([], ["far", "away"]):
        names = pa.array([*ids, *foreign])
        write_embeddings(path, names, np.ones((len(names), 3), dtype=np.float32))
        cells_of(asked)
        assert [str(one.message) for one in recwarn.list] == [
            f"{path}: {len(foreign)} row(s) are of no node of digits, and left out" for _ in foreign[:1]
        ]


def test_c20_names_of_rows_give_file_names_that_every_system_takes_and_none_shares():
    names = ["a b", "a-b", "a/b", 'a\\b:*?"<>|', "é"]
    files = [CellKey("digits", name, EMBEDDINGS).name for name in names]
    assert len(set(files)) == len(names)
    assert not set("".join(files)) & set('\\/:*?"<>| ')
