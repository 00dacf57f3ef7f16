import json
import os
import subprocess
import sys

import pytest
import torch
import typer

from cli.small_tables import FAST, graph_of
from paretognn.cli.main import command_line, run


def test_inspect_and_datasets(tables, capsys):
    folder, _ = tables
    assert run(["inspect", *graph_of(folder), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["graph"]["nodes"] == 61
    assert content["presets"]["auto"]["memory_bytes"] > 0
    assert run(["inspect", *graph_of(folder)]) == 0
    assert "preset quick" in capsys.readouterr().out
    assert run(["datasets"]) == 0
    assert "ogbn-products" in capsys.readouterr().out
    assert run(["datasets", "--json"]) == 0
    assert {e["name"] for e in json.loads(capsys.readouterr().out)} >= {"wiki-cs", "cora", "digits"}


WRONG = [
    ([], "name a graph"),
    (["--dataset", "coraa"], "did you mean 'cora'"),
    (["--dataset", "digits", "--edges", "EDGES"], "one graph only"),
    (["--nodes", "NODES"], "--edges"),
    (["--dataset", "digits", "--id-column", "x"], "--id-column"),
    (["--nodes", "NODES", "--edges", "nowhere.csv"], "nowhere.csv"),
    (["--dataset", "digits", "--method", "paretogn"], "did you mean 'paretognn'"),
    (["--dataset", "digits", "--preset", "fast"], "preset 'fast'"),
    (["--dataset", "digits", "--steps", "0"], "steps"),
    (["--dataset", "digits", "--steps", "many"], "--steps"),
    (["--dataset", "digits", "--seed", "-1"], "seed"),
    (["--dataset", "digits", "--device", "tpu"], "--device"),
    pytest.param(
        ["--dataset", "digits", "--device", "cuda"],
        "device cuda: this machine has no CUDA device",
        marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device"),
    ),
    (["--dataset", "digits", "--set", "optimizer.lr=1"], "optimizer.lr"),
    (["--dataset", "digits", "--set", "steps"], "key=value"),
    (["--dataset", "digits", "--config", "nowhere.yaml"], "nowhere.yaml"),
    (["--dataset", "digits", "--resume"], "no such run folder"),
    (["--dataset", "digits", "--no-such-flag"], "--no-such-flag"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_input_is_one_line_and_exit_code_2(tables, capsys, arguments, message):
    folder, _ = tables
    known = {"EDGES": str(folder / "edges.csv"), "NODES": str(folder / "nodes.csv")}
    out = folder / "R"
    assert run(["train", *(known.get(a, a) for a in arguments), "--out", str(out)]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ")
    assert message in error
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate"],
        ["evaluate", "nowhere"],
        ["evaluate", "R", "--tasks", "nodes"],
        ["evaluate", "R", "--seeds", "0"],
        ["evaluate", "R", "--split", "public"],
        ["evaluate", "R", "--embeddings", "x.csv"],
        ["evaluate", "R", "--tasks", ","],
        ["evaluate", "R", "--link-split", "x.parquet"],
        ["embed", "R", "--out", "x.txt"],
        ["embed", "nowhere", "--out", "x.csv"],
    ],
)
def test_wrong_uses_of_a_run(trained, capsys, monkeypatch, arguments):
    monkeypatch.chdir(trained[0])
    assert run(arguments) == 2
    assert capsys.readouterr().err.strip().splitlines()[-1].startswith("error: ")


def test_c20_a_folder_with_a_space_and_an_accent(tables):
    folder, _ = tables
    out = folder / "mes données é" / "run 1"
    assert run(["train", *graph_of(folder), "--out", str(out), "--steps", "1", *FAST]) == 0
    assert run(["embed", str(out), "--out", str(folder / "ré sultat.csv")]) == 0
    names = [p.name for p in out.rglob("*")]
    assert not [n for n in names if set(n) & set('\\/:*?"<>|')]


def test_c59_every_boolean_flag_has_its_negative():
    command = typer.main.get_command(command_line([]))
    flags = [
        (name, option)
        for name, sub in command.commands.items()
        for option in sub.params
        if getattr(option, "is_flag", False) and option.name != "help"
    ]
    assert len(flags) > 10
    assert [(name, option.opts) for name, option in flags if not option.secondary_opts] == []


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        (["inspect", "--dataset", "digits", "--json=maybe"], "--json"),
        (["train", "--dataset", "digits", "--out", "R", "--graph-copy=maybe"], "--graph-copy"),
        (["evaluate", "R", "--no-controls=1"], "--no-controls"),
    ],
)
def test_c59_a_flag_with_a_bad_value_is_one_line(capsys, arguments, flag):
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line == f"error: Option '{flag}' does not take a value."


def test_a_damaged_config_names_its_file(trained, capsys):
    folder, _ = trained
    (folder / "R" / "config.yaml").write_bytes(b"")
    assert run(["embed", str(folder / "R"), "--out", str(folder / "x.csv")]) == 2
    assert f"error: {folder / 'R' / 'config.yaml'}: setting 'tasks'" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_place_is_one_line(tables, capsys):
    folder, _ = tables
    (folder / "locked").mkdir(mode=0o500)
    assert run(["train", *graph_of(folder), "--out", str(folder / "locked" / "R")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_pipe_that_closes_early_is_no_error():
    command = f"{sys.executable} -m paretognn datasets | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.stdout


def test_report_is_written_beside_the_run_and_says_what_is_missing(trained, capsys):
    folder, ids = trained
    assert run(["report", str(folder / "R")]) == 0
    assert "not judged yet" in capsys.readouterr().err
    assert ids[-1] in (folder / "R" / "report.html").read_text(encoding="utf-8")
    assert run(["report", str(folder / "R"), str(folder / "none")]) == 2
    assert "no such run folder" in capsys.readouterr().err
    assert run(["report", str(folder / "R"), "--out", str(folder)]) == 2
    assert "is a folder" in capsys.readouterr().err
