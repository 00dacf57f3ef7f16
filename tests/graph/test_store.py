import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph import FeatureColumn, Split, build_graph, load_graph, save_graph


def full_graph(features):
    return build_graph(
        4,
        np.array([0, 1, 1, 2]),
        np.array([1, 0, 2, 2]),
        np.array([2.0, 4.0, 0.5, 1.0]),
        features=features,
        feature_columns=(FeatureColumn("a"), FeatureColumn("b", "é☃")),
        labels=np.array([0, 1, -1, 0]),
        label_names=("NA", "007"),
        ids=pa.array(["007", "7", "NA", "é\n"]),
        splits=(Split(np.array([0]), np.array([1]), np.array([], int)),) * 2,
        name="été",
        notes=("a note",),
        warnings=("a warning",),
    )


DENSE = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.mark.parametrize("features", [DENSE, sp.csr_array(DENSE)], ids=["dense", "sparse"])
def test_the_round_trip_is_exact(tmp_path, features):
    graph = full_graph(features)
    save_graph(graph, tmp_path / "un dossier é")
    again = load_graph(tmp_path / "un dossier é")
    assert again.digest() == graph.digest()
    assert type(again.features) is type(graph.features)
    for name in ("feature_columns", "label_names", "name", "counts", "notes", "warnings"):
        assert getattr(again, name) == getattr(graph, name)
    assert again.ids.equals(graph.ids)
    assert again.labels.tolist() == graph.labels.tolist()
    for name in ("indptr", "indices", "weights", "labels"):
        assert getattr(again, name).dtype == getattr(graph, name).dtype
    assert len(again.splits) == 2
    assert again.splits[1].val.tolist() == [1]


def test_a_bare_graph_and_one_over_another(tmp_path):
    save_graph(full_graph(DENSE), tmp_path)
    bare = build_graph(2, np.array([0]), np.array([1]))
    save_graph(bare, tmp_path)
    again = load_graph(tmp_path)
    assert again.digest() == bare.digest()
    assert (again.ids, again.features, again.labels, again.weights) == (None, None, None, None)


def test_no_pickle_and_nothing_left_beside(tmp_path):
    save_graph(full_graph(DENSE), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arrays.npz", "graph.json", "ids.parquet"]
    np.load(tmp_path / "arrays.npz", allow_pickle=False)


@pytest.mark.parametrize("name", ["arrays.npz", "ids.parquet", "graph.json"])
def test_damage_is_named(tmp_path, name):
    save_graph(full_graph(DENSE), tmp_path)
    path = tmp_path / name
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"\xff" * 40, pickle.dumps([1])):
        path.write_bytes(content)
        with pytest.raises(InputError, match="corrupt") as error:
            load_graph(tmp_path)
        assert str(tmp_path) in str(error.value)
    path.unlink()
    with pytest.raises(InputError):
        load_graph(tmp_path)


def test_files_that_do_not_belong_together(tmp_path):
    save_graph(full_graph(DENSE), tmp_path)
    save_graph(full_graph(DENSE + 1), tmp_path / "other")
    (tmp_path / "other" / "arrays.npz").rename(tmp_path / "arrays.npz")
    with pytest.raises(InputError, match="do not match their digest"):
        load_graph(tmp_path)


def test_a_missing_folder_and_a_later_version(tmp_path):
    with pytest.raises(InputError, match="no stored graph"):
        load_graph(tmp_path / "none")
    save_graph(full_graph(DENSE), tmp_path)
    state = json.loads((tmp_path / "graph.json").read_text("utf-8"))
    (tmp_path / "graph.json").write_text(json.dumps(state | {"version": 99}))
    with pytest.raises(InputError, match="version 99"):
        load_graph(tmp_path)
