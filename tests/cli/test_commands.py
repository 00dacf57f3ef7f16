import json
import os
import subprocess
import sys

import pytest
import torch
import typer

from cli.small_tables import FAST, graph_of
from paretognn._version import __version__
from paretognn.cli.main import COMMANDS, command_line, run


def test_inspect_and_datasets(tables, capsys):
    folder, _ = tables
    assert run(["inspect", *graph_of(folder), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["graph"]["nodes"] == 61
    assert content["presets"]["auto"]["memory_bytes"] > 0
    advice = content["advice"]
    assert (advice["preset"], advice["method"]) == ("auto", "best")
    assert -1 < advice["feature_homophily"] < 1
    assert run(["inspect", *graph_of(folder)]) == 0
    text = capsys.readouterr().out
    assert "preset quick" in text
    assert "advice: paretognn train --preset auto --method best" in text
    assert all(warning in text for warning in advice["warnings"])
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "paretogn"], "unknown method 'paretogn' (did you mean 'paretognn'?)"),
        (["--preset", "fast"], "unknown preset 'fast'"),
        (["--set", "optimizer.lr=0.1"], "unknown setting 'optimizer.lr' (did you mean 'optimizer.learning_rate'?)"),
        (["--set", "learning_rate=0.1"], "unknown setting 'learning_rate' (did you mean 'optimizer.learning_rate'?)"),
        (["--set", "tasks.mi_ngs.temperature=1"], "unknown pretext task 'mi_ngs'"),
    ],
)
def test_wrong_names_are_found_before_anything_is_read(tmp_path, capsys, words, message):
    source = ["--nodes", str(tmp_path / "none.csv"), "--edges", str(tmp_path / "none.csv")]
    assert run(["train", *source, *words, "--out", str(tmp_path / "R")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


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
    commands = {name: typer.main.get_command(command_line([name])).commands[name] for name in COMMANDS}
    flags = [
        (name, option)
        for name, sub in commands.items()
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


@pytest.mark.parametrize("words", ["datasets", "datasets --json", "--help"])
def test_a_pipe_that_closes_early_is_no_error(words):
    command = f"set -o pipefail; {sys.executable} -m paretognn {words} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_a_full_disk_under_the_log_stops_no_work(tables):
    folder, _ = tables
    words = [sys.executable, "-m", "paretognn", "train", *graph_of(folder), *FAST, "--out", str(folder / "R")]
    with open("/dev/full", "w") as full:
        assert subprocess.run(words, stderr=full, check=False).returncode == 0
        assert (folder / "R" / "embeddings.parquet").exists()
        assert subprocess.run(words, stderr=full, check=False).returncode == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name, capsys):
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Example" in text
    assert f"\n    paretognn {name} " in text


def test_the_program_s_own_help_loads_no_command(capsys):
    code = (
        "import sys; from paretognn.cli.main import run; run(['--help']); run(['trian']); run(['--version']); "
        "sys.exit('torch' in sys.modules or 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    assert "Exit codes: 0 done" in done.stdout
    assert done.stdout.endswith(f"\n{__version__}\n")
    assert "Did you mean 'train'?" in done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("paretognn predict", ["predict-links"]),
        ("paretognn train --meth", ["--method"]),
        ("paretognn train --method para", []),
        ("paretognn train --method pareto", ["paretognn", "paretomtl", "paretomtl-mi-ng"]),
        ("paretognn train --dataset cora", ["cora"]),
        ("paretognn train --sampler k", ["k-hop"]),
    ],
)
def test_the_shell_is_offered_commands_options_and_values(words, offered):
    environment = {
        **os.environ,
        "_PARETOGNN_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = subprocess.run(
        [sys.executable, "-m", "paretognn"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    found = done.stdout.split()
    assert set(offered) <= set(found)
    assert bool(found) == bool(offered)


def test_numbers_as_json(trained, capsys):
    folder, _ = trained
    run_folder = str(folder / "R")

    def content(*words):
        capsys.readouterr()
        assert run([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    out = str(folder / "e.csv")
    written = content("embed", run_folder, "--out", out)
    assert {name: written[name] for name in ("out", "rows", "dimensions")} == {"out": out, "rows": 61, "dimensions": 4}
    again = content("train", "--resume", "--out", run_folder, "--steps", "3")
    assert (again["steps"], again["rows"], again["method"]) == (3, 61, "paretognn")
    assert again["seconds"] > 0
    words = ["evaluate", run_folder, "--seeds", "1", "--tasks", "node_clustering", "--no-controls"]
    assert content(*words)["tasks"]["node_clustering"]["mean"] >= 0


def test_report_is_written_beside_the_run_and_says_what_is_missing(trained, capsys):
    folder, ids = trained
    assert run(["report", str(folder / "R")]) == 0
    assert "not judged yet" in capsys.readouterr().err
    assert ids[-1] in (folder / "R" / "report.html").read_text(encoding="utf-8")
    assert run(["report", str(folder / "R"), str(folder / "none")]) == 2
    assert "no such run folder" in capsys.readouterr().err
    assert run(["report", str(folder / "R"), "--out", str(folder)]) == 2
    assert "is a folder" in capsys.readouterr().err
