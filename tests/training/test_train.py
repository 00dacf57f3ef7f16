import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from made import SMALL, make_graph
from paretognn.errors import InputError, NonFiniteError
from paretognn.graph import save_graph
from paretognn.pretext import FeatRec
from paretognn.training import EachStep, Interrupted, RunFolder, TrainedEncoder, make_config, merge, train
from paretognn.training.checkpoint import list_checkpoints, load_checkpoint, newest_checkpoint
from paretognn.training.metrics import read_metrics


def config(steps=6, **over):
    return make_config(merge(SMALL, {"steps": steps, **over}))


def told(function):
    return [] if function is None else [EachStep(function)]


def run(folder, steps, resume=False, graph=None, progress=None, **over):
    home = RunFolder(folder)
    home.path.mkdir(exist_ok=True)
    home.write_config(config(steps, **over))
    return train(graph or make_graph(), config(steps, **over), folder=home, resume=resume, trackers=told(progress))


def artefacts(folder):
    """What two equal runs share: model, newest checkpoint, metrics but for the time."""
    home = RunFolder(folder)
    rows = [{k: v for k, v in row.items() if "seconds" not in k} for row in read_metrics(home.metrics_file)]
    tensors, state, _ = newest_checkpoint(home.checkpoints)
    return (
        home.model_file.read_bytes(),
        {k: v.numpy().tobytes() for k, v in tensors.items()},
        state["step"],
        rows,
    )


COSINE = {"schedule": {"name": "cosine", "warmup_steps": 2, "horizon_steps": 8}}


NO_OTHERS = dict.fromkeys(SMALL["tasks"])
STATEFUL = {
    "plain": {},
    "cosine": COSINE,
    "random": {"reconciler": {"name": "random"}},
    "target": {"tasks": {**NO_OTHERS, "bgrl": {"predictor": 5, "horizon_steps": 12}}},
    "preference": {"reconciler": {"name": "pareto-mtl", "settings": {"prefer": "mi_ng"}}},
    "learnt weights": {
        "reconciler": {"name": "pseudo-homophily", "settings": {"every": 4}},
        "tasks": {**NO_OTHERS, "par": {"classes": 4}, "clu": {"classes": 3}, "pair_sim": {}, "pair_dis": {}},
    },
    "diffusion": {
        "encoder": {"operators": ["adjacency", "diffusion"]},
        "tasks": {**NO_OTHERS, "mvgrl": {"sampler": {"name": "saint-node", "seeds": 30}}},
    },
}
"""Runs with something to remember from step to step, or to make anew when they are resumed."""


@pytest.mark.parametrize("over", STATEFUL.values(), ids=STATEFUL)
def test_extending_equals_one_longer_run(tmp_path, over):
    _, whole = run(tmp_path / "whole", 12, **over)
    run(tmp_path / "parts", 6, **over)
    _, parts = run(tmp_path / "parts", 12, resume=True, **over)
    assert whole.tobytes() == parts.tobytes()
    assert artefacts(tmp_path / "whole") == artefacts(tmp_path / "parts")


def test_stopped_by_a_signal_and_resumed_equals_uninterrupted(tmp_path):
    _, whole = run(tmp_path / "whole", 8)
    stop = lambda record: os.kill(os.getpid(), signal.SIGTERM) if record.step == 3 else None  # noqa: E731
    with pytest.raises(Interrupted) as caught:
        run(tmp_path / "parts", 8, progress=stop)
    assert caught.value.step == 3
    _, parts = run(tmp_path / "parts", 8, resume=True)
    assert whole.tobytes() == parts.tobytes()
    assert artefacts(tmp_path / "whole") == artefacts(tmp_path / "parts")


def test_killed_and_resumed_equals_uninterrupted(tmp_path):
    """SIGKILL at whatever moment: a checkpoint every step, so that some are hit in a write."""
    over = {"checkpoint": {"every_steps": 1}}
    _, whole = run(tmp_path / "whole", 30, **over)
    save_graph(make_graph(), tmp_path / "graph")
    program = (
        "import sys; sys.path.insert(0, sys.argv[2]);"
        "from pathlib import Path; from paretognn.graph import load_graph; from paretognn.training import *;"
        "home = RunFolder(sys.argv[1]); graph = load_graph(home.path.parent / 'graph');"
        "train(graph, home.config(), folder=home, resume=True)"
    )
    folder = tmp_path / "parts"
    home = RunFolder(folder)
    folder.mkdir()
    home.write_config(config(30, **over))
    kills = 0
    for delay in (0.02, 0.11, 0.05, 0.3, 10.0):
        child = subprocess.Popen([sys.executable, "-c", program, str(folder), str(Path(__file__).parent)])
        while child.poll() is None and not home.metrics_file.exists():
            time.sleep(0.01)
        try:
            child.wait(delay)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            kills += 1
    assert kills
    _, parts = run(folder, 30, resume=True, **over)
    assert whole.tobytes() == parts.tobytes()
    assert artefacts(tmp_path / "whole") == artefacts(folder)


def test_c46_a_damaged_checkpoint_is_named_and_the_one_before_loads(tmp_path):
    _, whole = run(tmp_path / "run", 6, checkpoint={"every_steps": 2, "keep": 3})
    home = RunFolder(tmp_path / "run")
    newest = list_checkpoints(home.checkpoints)[-1].with_suffix(".safetensors")
    newest.write_bytes(newest.read_bytes()[:-40])
    with pytest.raises(InputError, match=f"{newest.name}: corrupt"):
        load_checkpoint(newest.with_suffix(".json"))
    _, state, problems = newest_checkpoint(home.checkpoints)
    assert state["step"] == 4
    assert len(problems) == 1
    with pytest.warns(UserWarning, match=f"{newest.name}: corrupt.*going on from step 4"):
        _, again = run(tmp_path / "run", 6, resume=True, checkpoint={"every_steps": 2, "keep": 3})
    assert whole.tobytes() == again.tobytes()


def test_a_corrupt_later_checkpoint_never_takes_the_place_of_one_that_loads(tmp_path):
    keep = {"checkpoint": {"every_steps": 1, "keep": 1}}
    run(tmp_path / "run", 2, **keep)
    home = RunFolder(tmp_path / "run")
    (home.checkpoints / "step-00000009.json").write_text("{}")
    (home.checkpoints / "step-00000007.safetensors").write_bytes(b"tensors of a checkpoint that was cut off")
    with pytest.warns(UserWarning, match="going on from step 2"):
        run(tmp_path / "run", 4, resume=True, **keep)
    assert sorted(p.name for p in home.checkpoints.iterdir()) == ["step-00000004.json", "step-00000004.safetensors"]
    assert newest_checkpoint(home.checkpoints)[1]["step"] == 4


def test_what_a_killed_writer_has_left_is_swept(tmp_path):
    run(tmp_path / "run", 2)
    home = RunFolder(tmp_path / "run")
    left = [home.path / ".partial-a.yaml", home.checkpoints / ".partial-b.safetensors"]
    for path in left:
        path.write_bytes(b"half")
    run(tmp_path / "run", 3, resume=True)
    assert not [path for path in left if path.exists()]


def test_only_the_newest_checkpoints_are_kept_and_none_is_a_pickle(tmp_path):
    run(tmp_path / "run", 6, checkpoint={"every_steps": 1})
    home = RunFolder(tmp_path / "run")
    assert [json.loads(p.read_text())["step"] for p in list_checkpoints(home.checkpoints)] == [5, 6]
    assert {p.suffix for p in home.path.rglob("*") if p.is_file()} == {
        ".yaml",
        ".jsonl",
        ".json",
        ".safetensors",
    }


def test_not_finite_keeps_the_last_good_state(tmp_path, monkeypatch):
    sound = FeatRec.loss
    count = 0

    def breaks(self, encoder, batch):
        nonlocal count
        count += 1
        return sound(self, encoder, batch) * (float("nan") if count == 4 else 1.0)

    monkeypatch.setattr(FeatRec, "loss", breaks)
    with pytest.raises(NonFiniteError, match="step 4: the loss of task 'feat_rec'"):
        run(tmp_path / "run", 6)
    home = RunFolder(tmp_path / "run")
    assert newest_checkpoint(home.checkpoints)[1]["step"] == 3
    monkeypatch.setattr(FeatRec, "loss", sound)
    _, parts = run(tmp_path / "run", 6, resume=True)
    _, whole = run(tmp_path / "whole", 6)
    assert parts.tobytes() == whole.tobytes()


def test_saved_model_embeds_as_the_trained_one(tmp_path):
    graph = make_graph(sparse=True)
    trained, embeddings = run(tmp_path / "run", 3, graph=graph)
    loaded = TrainedEncoder.load(RunFolder(tmp_path / "run"))
    assert loaded.embed(graph).tobytes() == embeddings.tobytes() == trained.embed(graph).tobytes()
    with pytest.raises(InputError, match="11 feature columns, the encoder was trained on 12"):
        loaded.embed(make_graph(d=11))
    model = RunFolder(tmp_path / "run").model_file
    model.write_bytes(model.read_bytes()[:100])
    with pytest.raises(InputError, match=r"model\.safetensors: corrupt"):
        TrainedEncoder.load(RunFolder(tmp_path / "run"))


def test_training_changes_neither_the_graph_nor_torch_s_own_stream():
    graph = make_graph()
    digest = graph.digest()
    state = torch.get_rng_state()
    train(graph, config(2))
    assert graph.digest() == digest
    assert torch.equal(torch.get_rng_state(), state)


def test_a_graph_without_features_gets_structural_ones():
    graph = make_graph().replace(features=None)
    _, embeddings = train(graph, config(2))
    assert np.isfinite(embeddings).all()
    assert embeddings.shape == (60, 4)


DEEP = b"[" * 100_000


@pytest.mark.parametrize("content", [b"", b"[]", DEEP, b"\xff\xfe", b'{"step": "a"}', b"null"])
def test_damaged_metrics_are_cut_and_a_run_goes_on(tmp_path, content):
    run(tmp_path / "run", 2)
    home = RunFolder(tmp_path / "run")
    home.metrics_file.write_bytes(content + b"\n")
    run(tmp_path / "run", 3, resume=True)
    assert [row["step"] for row in read_metrics(home.metrics_file)] == [3]


@pytest.mark.parametrize("step", [None, "a", -5, 99, 2.0])
def test_a_checkpoint_of_another_step_than_its_name_is_corrupt(tmp_path, step):
    run(tmp_path / "run", 2)
    path = list_checkpoints(RunFolder(tmp_path / "run").checkpoints)[-1]
    path.write_text(json.dumps({**json.loads(path.read_text()), "step": step}))
    with pytest.raises(InputError, match="corrupt"):
        load_checkpoint(path)
    path.write_bytes(DEEP)
    with pytest.raises(InputError, match="corrupt"):
        load_checkpoint(path)


def test_deeply_nested_json_in_a_run_folder_is_corrupt(tmp_path):
    home = RunFolder(tmp_path)
    home.graph_json.write_bytes(DEEP)
    with pytest.raises(InputError, match="corrupt"):
        home.read_json(home.graph_json)


def test_features_that_overflow_are_an_error_that_names_the_node():
    graph = make_graph()
    trained, _ = train(graph, config(2))
    far = graph.features.copy()
    far[7] = 3e38
    with pytest.raises(InputError, match="not finite, the first '"):
        trained.embed(graph.replace(features=far))


def test_one_process_at_a_time_trains_in_a_folder(tmp_path):
    home = RunFolder(tmp_path / "run")

    def second(record):
        with pytest.raises(InputError, match="another process is training there"):
            train(make_graph(), config(2), folder=home, resume=True)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", 2, progress=second)
    _, embeddings = run(tmp_path / "run", 2, resume=True)
    assert not home.lock_file.exists()
    assert embeddings.tobytes() == run(tmp_path / "whole", 2)[1].tobytes()
