import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretognn.errors import InputError
from paretognn.graph import build_graph
from paretognn.training import read_embeddings, write_embeddings

IDS = ["a,b", 'q"x', "line\nbreak", "é", " sp ", "null", "-1", "#c", "007"]


@pytest.fixture
def matrix():
    return np.random.default_rng(0).standard_normal((len(IDS), 3)).astype(np.float32)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
def test_round_trip_by_id(tmp_path, matrix, suffix):
    path = tmp_path / f"x.{suffix}"
    write_embeddings(path, pa.array(IDS), matrix)
    order = np.arange(len(IDS))[::-1] if suffix != "npy" else np.arange(len(IDS))
    graph = build_graph(len(IDS), [0], [1], ids=pa.array([IDS[i] for i in order]))
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
    write_embeddings(path, pa.array(IDS), matrix)
    with pytest.raises(InputError, match="'other'"):
        read_embeddings(path, build_graph(2, [0], [1], ids=pa.array(["007", "other"])))
    with pytest.raises(InputError, match=r"\.parquet, \.csv, \.npy"):
        write_embeddings(tmp_path / "x.txt", pa.array(IDS), matrix)
    np.save(tmp_path / "x.npy", matrix[:3])
    with pytest.raises(InputError, match="9 rows"):
        read_embeddings(tmp_path / "x.npy", build_graph(9, [0], [1]))
