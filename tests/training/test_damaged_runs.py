"""What is read back into a run is checked first: states, tensors, models, metrics."""

import hashlib
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file, save_file

from made import SMALL, make_graph
from paretognn.errors import DamagedError, InputError
from paretognn.methods.judge import judge_run, kept_partition, open_link_split
from paretognn.training import RunFolder, TrainedEncoder, make_config, merge, train
from paretognn.training.embeddings import read_npy
from paretognn.training.metrics import read_metrics

TASKS = {**dict.fromkeys(SMALL["tasks"]), "mi_ng": {}, "rep_decor": {}}
METHODS = {
    "preference": {"reconciler": {"name": "pareto-mtl"}},
    "learnt weights": {"reconciler": {"name": "pseudo-homophily", "settings": {"every": 1}}},
}


def config(steps=2, **over):
    more = {"steps": steps, "tasks": TASKS, "stopping": {"name": "plateau", "window": 5}}
    return make_config(merge(merge(SMALL, more), over))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    made = {}
    for name, over in METHODS.items():
        made[name] = RunFolder(tmp_path_factory.mktemp("runs") / "run")
        made[name].write_config(config(**over))
        train(make_graph(), config(**over), folder=made[name])
    return made


def copied(run, tmp_path):
    return RunFolder(shutil.copytree(run.path, tmp_path / "run"))


STATES = [
    ("stopping", "first", {"mi_ng": "x"}),
    ("stopping", "sums", []),
    ("stopping", "sums", {"mi_ng": float("nan")}),
    ("stopping", "last", "x"),
    ("stopping", "count", None),
    ("reconciler", "first", {"mi_ng": None}),
    ("reconciler", "first", {"mi_ng": 0.0}),
    ("reconciler", "learnt", []),
    ("reconciler", "learnt", {"mi_ng": [0.5]}),
    ("reconciler", "learnt", {"mi_ng": [2.0, 0.0, 0.0, 1.0]}),
    ("reconciler", "learnt", {"mi_ng": [0.5, 0.0, float("inf"), 1.0]}),
]


@pytest.mark.parametrize(("part", "key", "value"), STATES)
def test_a_state_that_is_not_one_of_ours_is_refused_before_a_step_is_made(part, key, value, runs, tmp_path):
    name = "learnt weights" if key == "learnt" else "preference"
    home = copied(runs[name], tmp_path)
    (path,) = home.checkpoints.glob("*.json")
    state = json.loads(path.read_text())
    assert key in state[part]
    state[part][key] = value
    path.write_text(json.dumps(state))
    with pytest.raises(InputError, match="does not match"):
        train(make_graph(), config(4, **METHODS[name]), folder=home, resume=True)


@pytest.mark.parametrize("key", ["exp_avg.encoder.weights.0", "step.encoder.weights.0"])
def test_optimiser_tensors_of_another_shape_are_refused_before_a_step_is_made(key, runs, tmp_path):
    home = copied(runs["preference"], tmp_path)
    (path,) = home.checkpoints.glob("*.json")
    tensors = load_file(path.with_suffix(".safetensors"))
    assert f"optimizer.{key}" in tensors
    tensors[f"optimizer.{key}"] = torch.zeros(3)
    save_file(tensors, path.with_suffix(".safetensors"))
    state = json.loads(path.read_text())
    state["sha256"] = hashlib.sha256(path.with_suffix(".safetensors").read_bytes()).hexdigest()
    path.write_text(json.dumps(state))
    with pytest.raises(InputError, match="does not match"):
        train(make_graph(), config(4, **METHODS["preference"]), folder=home, resume=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("features.mean", torch.zeros(())),
        ("features.mean", torch.zeros(3)),
        ("features.scale", torch.full((12,), torch.nan)),
        ("steps", torch.tensor([1, 2])),
        ("steps", torch.tensor(torch.nan)),
        ("encoder.weights.0", torch.full((12, 8), torch.inf)),
        ("encoder.weights.0", torch.zeros(2)),
    ],
)
def test_a_model_that_is_not_whole_is_refused_by_name(name, value, runs, tmp_path):
    home = copied(runs["preference"], tmp_path)
    tensors = load_file(home.model_file)
    assert name in tensors
    save_file({**tensors, name: value}, home.model_file)
    with pytest.raises(InputError, match=r"model\.safetensors: corrupt"):
        TrainedEncoder.load(home)


def test_weights_that_left_their_range_in_the_last_step_are_told_and_nothing_is_kept(tmp_path):
    home = RunFolder(tmp_path / "run")
    wild = config(1, optimizer={"learning_rate": 1e38, "weight_decay": 1e38})
    home.write_config(wild)
    with pytest.raises(InputError, match=r"not finite.*optimizer\.learning_rate"):
        train(make_graph(), wild, folder=home)
    assert not home.model_file.exists()


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_setting_that_is_not_finite_is_refused_by_name(value):
    with pytest.raises(InputError, match=r"optimizer\.learning_rate"):
        config(optimizer={"learning_rate": value})
    with pytest.raises(InputError, match=r"tasks\.rep_decor\.alpha"):
        config(tasks={"rep_decor": {"alpha": value}})


def test_rows_of_metrics_end_before_the_first_that_is_not_whole(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "seconds": 0.5}\n{"step": 2}\n{"step": 3, "seconds": 0.5}\n')
    assert [row["step"] for row in read_metrics(path)] == [1]


def test_an_array_that_asks_for_more_memory_than_there_is_is_refused_by_name(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    whole = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(whole.replace(b"(3,), }" + b" " * 13, b"(99999999999999,), }"))
    assert (tmp_path / "a.npy").read_bytes() != whole
    with pytest.raises(InputError, match=r"a\.npy"):
        read_npy(tmp_path / "a.npy")


@pytest.mark.parametrize("value", [-1, 10, 2**60])
def test_a_partition_with_a_part_that_there_is_not_is_made_anew(value, tmp_path):
    graph = make_graph()
    whole = kept_partition(tmp_path / "p.npy", graph)
    damaged = whole.copy()
    damaged[3] = value
    np.save(tmp_path / "p.npy", damaged)
    assert kept_partition(tmp_path / "p.npy", graph).tolist() == whole.tolist()
    assert np.load(tmp_path / "p.npy", allow_pickle=False).tolist() == whole.tolist()


def test_a_link_split_that_cannot_be_read_is_an_error_and_not_a_score_left_out(runs, tmp_path):
    home, graph = copied(runs["preference"], tmp_path), make_graph()
    split = open_link_split(graph, home.config(), home)
    assert open_link_split(graph, home.config(), home).digest() == split.digest()
    path = home.link_folder / "split.parquet"
    whole = pq.read_table(path).to_pydict()
    whole["target"][0] = whole["source"][0]
    for damage in (lambda: pq.write_table(pa.table(whole), path), lambda: path.write_bytes(b"PAR1")):
        damage()
        with pytest.raises(DamagedError, match=r"split\.parquet: .*; remove .*link to train"):
            judge_run(home, graph, seeds=1, controls=False)
