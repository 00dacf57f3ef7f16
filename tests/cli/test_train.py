import json
import shutil
import signal
import subprocess
import sys
import time

import pytest

from cli.small_tables import FAST, graph_of
from paretognn.cli.main import run
from paretognn.errors import InputError
from paretognn.training import RunFolder
from paretognn.training.cost import read_cost


def test_a_sampler_for_every_task(tables, capsys):
    folder, _ = tables
    asked = ["--steps", "1", *FAST, "--sampler", "saint-node", "--budget", "25"]
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), *asked]) == 0
    config = RunFolder(folder / "R").config()
    assert {(task.sampler.name, task.sampler.seeds) for task in config.tasks.values()} == {("saint-node", 25)}
    assert run(["train", "--resume", "--out", str(folder / "R"), "--sampler", "full"]) == 2
    assert "--sampler cannot be changed" in capsys.readouterr().err


def test_a_control_is_not_trained(tables, capsys):
    folder, _ = tables
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), "--method", "spectral"]) == 2
    assert "'spectral' is a control" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (None, "an embedding is: "),
        ("best", "an embedding is: "),
        ("auto", "chosen without labels: "),
        ("paretognn", None),
    ],
)
def test_what_an_embedding_is_put_together_of_is_said(tables, capsys, method, said):
    folder, _ = tables
    named = [] if method is None else ["--method", method]
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), "--steps", "1", *FAST, *named]) == 0
    text = capsys.readouterr().err
    assert RunFolder(folder / "R").config().method == (method or "best")
    assert [line for line in ("an embedding is: ", "chosen without labels: ") if line in text] == [said] * bool(said)
    assert ("encoder's output" in text) is bool(said)


def test_a_run_folder_holds_what_it_should(trained):
    folder, _ = trained
    names = {str(p.relative_to(folder / "R")).split("/")[0] for p in (folder / "R").rglob("*")}
    assert {
        "config.yaml",
        "graph.json",
        "graph",
        "checkpoints",
        "metrics.jsonl",
        "model.safetensors",
        "embeddings.parquet",
    } <= names
    assert not [p for p in (folder / "R").rglob("*") if p.suffix in (".pt", ".pth", ".pkl", ".pickle")]
    summary = json.loads((folder / "R" / "graph.json").read_text())["summary"]
    assert summary["nodes"] == 61


def test_resume_extends_to_the_same_bytes(tables):
    """Of one schedule: that of a run that is extended stays as it was laid out."""
    folder, _ = tables
    fixed = ["--set", "schedule.horizon_steps=4", *FAST]
    for name, steps in (("A", "4"), ("B", "2")):
        assert run(["train", *graph_of(folder), "--out", str(folder / name), "--steps", steps, *fixed]) == 0
    assert run(["train", "--out", str(folder / "B"), "--resume", "--steps", "4"]) == 0
    for file in ("embeddings.parquet", "model.safetensors", "config.yaml"):
        assert (folder / "A" / file).read_bytes() == (folder / "B" / file).read_bytes()


def test_ctrl_c_saves_and_says_how_to_go_on(tables):
    folder, _ = tables
    command = [
        sys.executable,
        "-m",
        "paretognn",
        "train",
        *graph_of(folder),
        "--out",
        str(folder / "R"),
        "--steps",
        "100000",
        *FAST,
    ]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    metrics = folder / "R" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not metrics.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=120)
    assert child.returncode == 130
    assert "--resume" in errors
    assert "Traceback" not in errors
    assert list((folder / "R" / "checkpoints").glob("*.json"))
    assert "training and embedding" in read_cost(RunFolder(folder / "R"))
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_a_signal_before_training_is_one_word_and_130(number, seconds):
    command = "import paretognn.__main__ as m; print(flush=True); m.main()"
    child = subprocess.Popen(
        [sys.executable, "-c", command, "inspect", "--dataset", "digits"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(seconds)
    child.send_signal(number)
    _, errors = child.communicate(timeout=120)
    assert (child.returncode, errors.strip()) == (130, "interrupted")


def test_an_extension_that_was_not_finished_is_said(trained, capsys):
    """As a kill leaves it: the settings ask for more steps than the model has."""
    folder, _ = trained
    home = RunFolder(folder / "R")
    home.write_config(home.config().model_copy(update={"steps": 4}))
    capsys.readouterr()
    for words in (["embed", str(home.path), "--out", str(folder / "x.csv")], ["evaluate", str(home.path)]):
        assert run(words) == 2
        assert "was extended from 2 to 4 steps, which was not finished; continue it with" in capsys.readouterr().err
    assert run(["train", "--resume", "--out", str(home.path)]) == 0
    assert run(["embed", str(home.path), "--out", str(folder / "x.csv")]) == 0


def test_resuming_a_finished_run_keeps_its_scores_and_extending_it_does_not(trained):
    folder, _ = trained
    scores = folder / "R" / "evaluation.json"
    assert run(["evaluate", str(folder / "R"), "--seeds", "1", "--no-controls"]) == 0
    assert run(["train", "--resume", "--out", str(folder / "R")]) == 0
    assert scores.exists()
    assert run(["train", "--resume", "--out", str(folder / "R"), "--steps", "3"]) == 0
    assert not scores.exists()


def test_seconds_of_training_add_up_over_sessions_and_count_no_session_without_steps(trained):
    folder, _ = trained
    home = RunFolder(folder / "R")
    home.write_json(
        home.cost_file,
        {"training and embedding": {"seconds": 5000, "peak_bytes": 1}, "scoring": {"seconds": 7, "peak_bytes": 1}},
    )
    before = home.cost_file.read_bytes()
    assert run(["train", "--resume", "--out", str(home.path)]) == 0
    assert home.cost_file.read_bytes() == before
    assert run(["train", "--resume", "--out", str(home.path), "--steps", "3"]) == 0
    costs = read_cost(home)
    assert 5000 < costs["training and embedding"].seconds < 5600
    assert costs["training and embedding"].peak_bytes > 1
    assert costs["scoring"].seconds == 7


def test_a_refused_extension_changes_nothing(trained, capsys, monkeypatch):
    folder, _ = trained
    before = (folder / "R" / "config.yaml").read_bytes()
    monkeypatch.setattr("paretognn.training.memory.free_memory", lambda device: 0)
    assert run(["train", "--resume", "--out", str(folder / "R"), "--steps", "4"]) == 2
    assert "GiB are free" in capsys.readouterr().err
    assert (folder / "R" / "config.yaml").read_bytes() == before


def test_a_run_that_was_stopped_before_it_began_is_started_again(tables, capsys):
    folder, _ = tables
    (folder / "R" / "graph").mkdir(parents=True)
    (folder / "R" / "graph" / ".partial-x.npz").write_bytes(b"half")
    assert run(["train", "--resume", "--out", str(folder / "R")]) == 2
    assert "start it by the same command without --resume" in capsys.readouterr().err
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), "--steps", "1", *FAST]) == 0
    assert not list((folder / "R").rglob(".partial-*"))


def test_a_signal_that_a_library_turns_into_its_own_error_still_is_an_interruption(trained, capsys, monkeypatch):
    """As when it comes while torch reads a tensor: the file is not corrupt."""
    from paretognn.cli import main

    def swallowed(path):
        with pytest.raises(KeyboardInterrupt):
            main.interrupt(signal.SIGINT, None)
        raise InputError(f"{path}: corrupt")

    folder, _ = trained
    monkeypatch.setattr(main, "_signals", [])
    monkeypatch.setattr("paretognn.training.frozen.load_tensors", swallowed)
    capsys.readouterr()
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_edges_alone_and_without_a_copy(tables, capsys):
    folder, _ids = tables
    only = ["--edges", str(folder / "edges.csv")]
    assert run(["train", *only, "--out", str(folder / "R"), "--steps", "2", "--no-graph-copy", *FAST]) == 0
    assert not (folder / "R" / "graph").exists()
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 0
    assert run(["evaluate", str(folder / "R"), "--seeds", "1"]) == 0
    result = json.loads((folder / "R" / "evaluation.json").read_text())
    assert result["tasks"]["node_classification"]["mean"] is None
    assert result["tasks"]["partition_prediction"]["mean"] is not None
    with (folder / "edges.csv").open("a") as file:
        file.write("n50,n51\nn50,n52\nn50,n53\n")
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 2
    assert run(["evaluate", str(folder / "R"), "--seeds", "1"]) == 2
    assert "the graph has changed since this run was started" in capsys.readouterr().err


def test_an_existing_run_is_never_overwritten(trained, capsys):
    folder, _ = trained
    before = (folder / "R" / "embeddings.parquet").read_bytes()
    assert run(["train", *graph_of(folder), "--out", str(folder / "R")]) == 2
    assert "--resume" in capsys.readouterr().err
    assert run(["train", "--resume", "--out", str(folder / "R"), "--seed", "3"]) == 2
    assert run(["train", "--resume", "--out", str(folder / "R"), "--seed", "0"]) == 2
    assert run(["train", "--resume", "--out", str(folder / "R"), "--steps", "1"]) == 2
    assert (folder / "R" / "embeddings.parquet").read_bytes() == before


def test_what_a_start_that_was_cut_off_has_left_is_no_obstacle(trained, capsys):
    """A kill after the graph's copy and before config.yaml; a file of the user's still is one."""
    folder, _ = trained
    started = folder / "S"
    started.mkdir()
    shutil.copytree(folder / "R" / "graph", started / "graph")
    (started / ".partial-x.json").write_text("{")
    assert run(["train", *graph_of(folder), "--out", str(started), "--steps", "1", *FAST]) == 0
    other = folder / "T"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    assert run(["train", *graph_of(folder), "--out", str(other), "--steps", "1", *FAST]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_resuming_past_a_damaged_checkpoint_says_so(trained, capsys):
    folder, _ = trained
    newest = max((folder / "R" / "checkpoints").glob("*.safetensors"))
    shutil.copy(newest, newest.with_name("step-00000009.safetensors"))
    newest.with_name("step-00000009.json").write_text("{}")
    assert run(["train", "--resume", "--out", str(folder / "R")]) == 0
    assert "warning: " in (said := capsys.readouterr().err)
    assert "corrupt checkpoint; going on from step 2" in " ".join(said.split())


def test_a_run_that_memory_does_not_allow_leaves_no_folder(tables, capsys):
    folder, _ = tables
    wide = ["--set", "encoder.hidden_dims=[1000000, 1000000]"]
    assert run(["train", *graph_of(folder), "--out", str(folder / "R"), *wide]) == 2
    assert "GiB" in capsys.readouterr().err
    assert not (folder / "R").exists()
