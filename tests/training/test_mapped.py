"""A graph that stays on disk is trained on as the same graph in memory."""

import errno
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from far_device import far_device
from made import make_graph
from paretognn.cli.main import run
from paretognn.errors import InputError
from paretognn.graph.mapped import open_store
from paretognn.graph.table_options import TableOptions
from paretognn.methods import method_config, run_method
from paretognn.nn.off_device import MappedStore
from paretognn.private_peak import PrivatePeak
from paretognn.training import make_config, read_embeddings, train, write_embeddings
from paretognn.training.prepare import prepare
from paretognn.training.tracking import EachStep

pytest.importorskip("duckdb")
from paretognn.graph.importing import import_tables

WALKS = {"sampler": {"name": "saint-walk", "seeds": 20, "hops": 2}}
SETTINGS = {
    "steps": 4,
    "encoder": {"hidden_dims": [16, 4]},
    "tasks": {
        "feat_rec": WALKS,
        "topo_rec": {**WALKS, "batch_size": 30},
        "rep_decor": {"sampler": {"name": "saint-node", "seeds": 30}},
        "mi_ng": {"sampler": {"name": "k-hop", "seeds": 5, "hops": 1}},
        "mi_nsg": {**WALKS, "contrast": 20, "projection": 6},
    },
}


@pytest.fixture(params=["weighted", "plain"])
def store(request, tmp_path):
    graph = make_graph(150)
    columns = {f"x{j}": graph.features[:, j] for j in range(12)}
    pairs = graph.pairs()
    edges = {"source": pairs[:, 0], "target": pairs[:, 1]}
    if request.param == "weighted":
        edges["weight"] = np.linspace(0.1, 2, len(pairs))
    labels = pa.array(np.array(["a", "b", "c"])[graph.labels])
    pq.write_table(pa.table({"id": np.arange(150), **columns, "label": labels}), tmp_path / "nodes.parquet")
    pq.write_table(pa.table(edges), tmp_path / "edges.parquet")
    import_tables(tmp_path / "nodes.parquet", tmp_path / "edges.parquet", tmp_path / "store", TableOptions())
    return tmp_path / "store"


@pytest.mark.parametrize("features", ["standardise", "row", "none"])
def test_training_on_disk_is_training_in_memory(store, features):
    config = make_config({**SETTINGS, "features": features})
    on_disk, in_memory = (open_store(store, mapped) for mapped in (True, False))
    assert isinstance(prepare(on_disk, features, "cpu")[0].features, MappedStore)
    losses = [[], []]
    (_, one), (_, two) = (
        train(graph, config, trackers=[_each(kept)]) for graph, kept in zip((on_disk, in_memory), losses, strict=True)
    )
    np.testing.assert_allclose(losses[0], losses[1], rtol=2e-5)
    np.testing.assert_allclose(one, two, atol=2e-4)


@pytest.mark.parametrize("fits", [True, False], ids=["all-fits", "features-stay"])
def test_a_device_trains_on_a_graph_on_disk(store, fits, monkeypatch):
    config = make_config(SETTINGS)
    on_disk = open_store(store, True)
    _, expected = train(on_disk, config)
    with far_device(monkeypatch, fits) as device:
        placed = prepare(on_disk, config.features, device)[0]
        assert isinstance(placed.features, MappedStore) != fits
        assert placed.indices.dtype == torch.int32
        _, found = train(on_disk, config, device)
    np.testing.assert_allclose(found, expected, atol=2e-4)


def _each(kept):
    return EachStep(lambda record: kept.append(list(record.losses.values())))


def test_a_task_on_the_whole_graph_reads_it(store):
    config = make_config(
        {
            **SETTINGS,
            "tasks": {
                "mi_ng": {"sampler": {"name": "full"}},
                "topo_rec": {"sampler": "sage", "batch_size": 20, "fanouts": [3, 2]},
            },
        }
    )
    one, two = (train(open_store(store, mapped), config)[1] for mapped in (True, False))
    np.testing.assert_allclose(one, two, atol=2e-4)


def test_the_commands_take_a_store(store, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("paretognn.graph.mapped.MAPPED_FROM", 0)
    words = ["--set", "encoder.hidden_dims=[16, 4]", "--set", "tasks.mi_nsg.projection=6", "--steps", "3"]
    assert run(["train", "--graph", str(store), "--out", str(tmp_path / "R"), *words, "--json"]) == 0
    said = capsys.readouterr()
    assert "on disk, so nothing stands beside" in said.err
    assert "of mapped files" in said.err
    assert json.loads(said.out)["private_bytes"] > 0
    assert not (tmp_path / "R" / "graph").exists()
    graph = open_store(store)
    kept = read_embeddings(tmp_path / "R" / "embeddings.parquet", graph)
    assert run(["embed", str(tmp_path / "R"), "--out", str(tmp_path / "again.parquet")]) == 0
    np.testing.assert_array_equal(read_embeddings(tmp_path / "again.parquet", graph), kept)
    assert run(["train", "--resume", "--out", str(tmp_path / "R"), "--steps", "4"]) == 0
    monkeypatch.setattr("paretognn.methods.judged_region.REGION", 100)
    assert run(["evaluate", str(tmp_path / "R"), "--seeds", "2"]) == 0
    assert "judged on a region of" in capsys.readouterr().out
    assert json.loads((tmp_path / "R" / "evaluation.json").read_text())["region"]["of"] == 150
    assert run(["inspect", "--graph", str(store)]) == 0
    capsys.readouterr()
    assert run(["import", "--verify", "--out", str(store)]) == 0


def test_blocks_beside_the_encoder_need_the_graph_in_memory(store):
    graph = open_store(store, True)
    for method, own in (("best", {"assembly": {"smoothing": 2}}), ("paretognn", {"assembly": {"components": 3}})):
        with pytest.raises(InputError, match="this one is on disk"):
            method_config(graph, method, overrides=own)
    alone, _ = method_config(graph, "paretognn")
    for method in ("best", "auto"):
        config, why = method_config(graph, method)
        assert (config.assembly, config.alternatives) == (alone.assembly, [])
        assert "nothing stands beside the encoder's output" in why
    in_memory, _ = method_config(open_store(store, False), "best")
    with pytest.raises(InputError, match="this one is on disk"):  # its embeddings were made with blocks
        method_config(graph, run_method(in_memory))


def test_a_disk_that_others_fill_is_noticed_before_a_layer_is_computed(store, monkeypatch):
    def full(handle, start, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("paretognn.training.inference.os.posix_fallocate", full, raising=False)
    with pytest.raises(InputError, match="set TMPDIR to a folder on a larger disk"):
        train(open_store(store, True), make_config({**SETTINGS, "steps": 1}))


def test_a_full_disk_is_noticed_before_a_layer_is_computed(store, monkeypatch):
    graph = open_store(store, True)
    monkeypatch.setattr(
        "paretognn.training.inference.shutil.disk_usage", lambda folder: type("Usage", (), {"free": 10})
    )
    with pytest.raises(InputError, match="set TMPDIR to a folder on a larger disk"):
        train(graph, make_config({**SETTINGS, "steps": 1}))


def test_embeddings_in_pieces_are_one_table(tmp_path, monkeypatch):
    rows = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    ids = pa.array([f"n{i}" for i in range(50)])
    write_embeddings(tmp_path / "whole.parquet", ids, rows)
    monkeypatch.setattr("paretognn.training.embeddings._PIECE", 16)
    write_embeddings(tmp_path / "pieces.parquet", ids, rows)
    assert pq.read_metadata(tmp_path / "pieces.parquet").num_row_groups == 4
    assert pq.read_table(tmp_path / "pieces.parquet").equals(pq.read_table(tmp_path / "whole.parquet"))


def test_private_memory_is_told_from_mapped(tmp_path):
    file = tmp_path / "numbers.bin"
    file.write_bytes(bytes(64 << 20))
    with PrivatePeak(0.01) as quiet:
        pass
    if not quiet.private:
        pytest.skip("this system does not say")
    with PrivatePeak(0.01) as peak:
        numbers = np.memmap(file, np.uint8, "c")  # kept until the last look
        assert numbers.sum() == 0
    assert peak.mapped - quiet.mapped > 48 << 20
    assert peak.private - quiet.private < 32 << 20
