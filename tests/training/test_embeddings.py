import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors import SafetensorError

from made import make_graph
from paretognn.errors import InputError
from paretognn.training import read_embeddings
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


def test_a_full_disk_is_an_os_error_that_names_the_file(tmp_path, monkeypatch):
    def full(*_):
        raise SafetensorError("No space left on device")

    monkeypatch.setattr("paretognn.training.checkpoint.save_file", full)
    with pytest.raises(OSError, match="No space left") as caught:
        save_tensors(tmp_path / "model.safetensors", {"a": torch.zeros(2)})
    assert caught.value.filename == str(tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())
