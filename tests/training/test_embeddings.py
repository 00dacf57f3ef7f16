import csv

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError

from made import make_graph
from paretognn.errors import InputError
from paretognn.graph import build_graph
from paretognn.training import read_embeddings, write_embeddings
from paretognn.training.checkpoint import save_tensors

GRAPH = make_graph(12)
IDS = GRAPH.id_array().to_pylist()
POINTS = np.arange(24, dtype=np.float32).reshape(12, 2)


def npy(path, array):
    np.save(path, array, allow_pickle=True)
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["cut", "header", "empty", "text", "npz", "objects", "strings", "complex", "records"])
def test_an_npy_that_holds_no_whole_matrix_of_numbers_is_one_line(tmp_path, kind):
    path = tmp_path / "x.npy"
    whole = npy(path, POINTS)
    np.savez(tmp_path / "x.npz", POINTS)
    content = {
        "cut": whole[:-8],
        "header": whole[:90],
        "empty": b"",
        "text": b"garbage",
        "npz": (tmp_path / "x.npz").read_bytes(),
        "objects": npy(path, np.array([{}] * 12, dtype=object)),
        "strings": npy(path, POINTS.astype("U8")),
        "complex": npy(path, POINTS.astype(complex)),
        "records": npy(path, np.zeros((12, 2), dtype=[("a", "f4")])),
    }
    path.write_bytes(content[kind])
    with pytest.raises(InputError, match=r"x\.npy") as caught:
        read_embeddings(path, GRAPH)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "columns", [{}, {"id": [[i] for i in IDS], "e0": POINTS[:, 0]}, {"id": IDS, "e": [[1.0]] * 12}]
)
def test_a_parquet_of_other_types_is_one_line(tmp_path, columns):
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet"):
        read_embeddings(tmp_path / "x.parquet", GRAPH)


def test_a_byte_order_mark_does_not_turn_ids_into_numbers(tmp_path):
    graph = GRAPH.replace(ids=pa.array([f"{i:03d}" for i in range(12)]))
    rows = "".join(f"{i:03d},{a},{b}\n" for i, (a, b) in enumerate(POINTS))
    (tmp_path / "x.csv").write_text("\ufeffid,e0,e1\n" + rows, encoding="utf-8")
    assert (read_embeddings(tmp_path / "x.csv", graph) == POINTS).all()


def test_a_title_in_quotes_does_not_turn_ids_into_numbers(tmp_path):
    graph = build_graph(2, [0], [1], ids=pa.array(["9007199254740993", "007"]))
    (tmp_path / "x.csv").write_text('"user, id",e0\n007,1\n9007199254740993,2\n')
    assert read_embeddings(tmp_path / "x.csv", graph).tolist() == [[2], [1]]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "b", "a"], r"duplicate node id 'a' \(rows 1 and 3\)"),
        (["a", "b", ""], "column 'id' is blank in row 3"),
        ([1, 2, None], "column 'id' is blank in row 3"),
        ([1.0, 2.0, 3.0], "ids must be text or integers"),
    ],
)
def test_ids_that_are_blank_floats_or_come_twice_are_named(tmp_path, ids, message):
    pq.write_table(pa.table({"id": ids, "e0": [0.0, 1.0, 2.0]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=message):
        read_embeddings(tmp_path / "x.parquet", build_graph(2, [0], [1], ids=pa.array(["a", "b"])))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
def test_values_that_are_not_finite_are_named(tmp_path, suffix, value):
    points = POINTS.astype(np.float64)
    points[[3, 7], 1] = value
    path = tmp_path / f"x.{suffix}"
    write_embeddings(path, GRAPH.id_array(), points)
    with pytest.raises(InputError, match=rf"x\.{suffix}: 2 value\(s\) are NaN or infinite.* dimension 1 of node '3'"):
        read_embeddings(path, GRAPH)


def test_a_data_frame_with_ids_as_its_index_is_read(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(POINTS, index=IDS[::-1], columns=["e0", "e1"])
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_csv(tmp_path / "x.csv")
    for name in ("x.parquet", "x.csv"):
        assert (read_embeddings(tmp_path / name, GRAPH) == POINTS[::-1]).all()


def test_a_full_disk_is_an_os_error_that_names_the_file(tmp_path, monkeypatch):
    def full(*_):
        raise SafetensorError("No space left on device")

    monkeypatch.setattr("paretognn.training.checkpoint.save_file", full)
    with pytest.raises(OSError, match="No space left") as caught:
        save_tensors(tmp_path / "model.safetensors", {"a": torch.zeros(2)})
    assert caught.value.filename == str(tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


ODD_IDS = ["a,b", 'q"x', "line\nbreak", "é", " sp ", "null", "-1", "#c", "007"]


@pytest.fixture
def matrix():
    return np.random.default_rng(0).standard_normal((len(ODD_IDS), 3)).astype(np.float32)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
def test_round_trip_by_id(tmp_path, matrix, suffix):
    path = tmp_path / f"x.{suffix}"
    write_embeddings(path, pa.array(ODD_IDS), matrix)
    order = np.arange(len(ODD_IDS))[::-1] if suffix != "npy" else np.arange(len(ODD_IDS))
    graph = build_graph(len(ODD_IDS), [0], [1], ids=pa.array([ODD_IDS[i] for i in order]))
    np.testing.assert_array_equal(read_embeddings(path, graph), matrix[order])


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1)


@given(st.lists(TEXT, min_size=1, unique=True))
def test_any_id_through_csv(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("ids") / "x.csv"
    write_embeddings(path, pa.array(ids), np.zeros((len(ids), 1), np.float32))
    with path.open(newline="", encoding="utf-8") as file:
        assert [row[0] for row in csv.reader(file)] == ["id", *ids]


def test_plain_ids_stand_bare(tmp_path):
    write_embeddings(tmp_path / "x.csv", pa.array(["007", "NA"]), np.zeros((2, 1), np.float32))
    assert (tmp_path / "x.csv").read_text().splitlines() == ["id,e0", "007,0", "NA,0"]


def test_what_does_not_fit_is_one_line(tmp_path, matrix):
    path = tmp_path / "x.csv"
    write_embeddings(path, pa.array(ODD_IDS), matrix)
    with pytest.raises(InputError, match="'other'"):
        read_embeddings(path, build_graph(2, [0], [1], ids=pa.array(["007", "other"])))
    with pytest.raises(InputError, match=r"\.parquet, \.csv, \.npy"):
        write_embeddings(tmp_path / "x.txt", pa.array(ODD_IDS), matrix)
    np.save(tmp_path / "x.npy", matrix[:3])
    with pytest.raises(InputError, match="9 rows"):
        read_embeddings(tmp_path / "x.npy", build_graph(9, [0], [1]))
