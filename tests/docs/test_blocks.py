"""Every code block of the documentation is run, in the order of its page and in a folder of its own.

What is shortened, so that a page takes seconds: training to `STEPS` steps, whatever a block or a preset says, and
`evaluate` to `SEEDS` evaluation seed where a command does not say how many. Nothing else of a block is changed. A
block that cannot be run in seconds has a comment above it, ``<!-- not run: REASON -->``; its commands are parsed by the
command line's own options, as is every command within a sentence.
"""

import os
import re
import sys
import tomllib
import warnings
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import typer

from docs.pages import PAGES, ROOT, RUN, SHOWN, blocks, commands, inline_commands, write_tables
from paretognn.cli.main import COMMANDS, command_line, run
from paretognn.datasets import load_dataset
from paretognn.methods import presets
from paretognn.methods.advice import advise, format_advice

STEPS, SEEDS = 2, 1
RUNNABLE = [page for page in PAGES if any(block.language in RUN for block in blocks(page))]


def named(page):
    return str(page.relative_to(ROOT))


def parsed(words, whole=True):
    """By the real options of the command; single capitals stand for numbers. Unless ``whole``, some may be missing."""
    command, *rest = ["1" if re.fullmatch("[A-Z]", word) else word for word in words[1:]]
    assert command in COMMANDS, f"no command {command}"
    found = typer.main.get_command(command_line([command])).commands[command]
    try:
        found.make_context(command, rest)
    except typer.TyperException as error:
        if whole or type(error).__name__ != "MissingParameter":
            raise


def shortened(words):
    words = list(words)
    if "--steps" in words:
        words[words.index("--steps") + 1] = str(STEPS)
    elif words[1] == "train" and "--from-run" not in words:  # which has the steps of its run
        words += ["--steps", str(STEPS)]
    if words[1] == "evaluate" and "--seeds" not in words:
        words += ["--seeds", str(SEEDS)]
    return words


def check_other(words):
    """Commands of a shell that change the machine are not run: what they name must be there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    elif words[:2] == ["pip", "install"]:
        extras = re.findall(r"\[(.*?)\]", words[2])
        assert words[2].split("[")[0] in (".", project["name"], "torch", "pandas")
        assert set(extras) <= set(project["optional-dependencies"])
    elif words[0] == "torchrun":
        assert words[words.index("-m") + 1] == "paretognn"
        parsed(words[words.index("-m") + 1 :])
    else:
        pytest.fail(f"a test does not know how to check '{' '.join(words)}'")


class Shell:
    """Runs commands; those on public data, and those on what they would have made, only where the data is."""

    def __init__(self):
        root = os.environ.get("PARETOGNN_DATA", "")
        self.data = root if Path(root).is_dir() and root else None
        self.left_out, self.unmade = [], set()

    def __call__(self, words):
        if words[0] != "paretognn":
            check_other(words)
            return
        parsed(words)
        if self.data is None and ("DATA" in words or self.unmade & set(words)):
            self.left_out.append(" ".join(words))
            self.unmade |= {words[place + 1] for place, word in enumerate(words) if word == "--out"}
            return
        given = [self.data if word == "DATA" else word for word in shortened(words)]
        assert run(given[1:]) == 0, f"failed: {' '.join(words)}"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The tables, and a run on them."""
    folder = tmp_path_factory.mktemp("trained")
    write_tables(folder)
    graph = ["--nodes", str(folder / "people.csv"), "--edges", str(folder / "calls.csv")]
    assert run(["train", *graph, "--steps", str(STEPS), "--out", str(folder / "runs" / "people")]) == 0
    return folder


def test_every_block_says_what_it_is_in():
    unknown = [
        (named(page), block.line) for page in PAGES for block in blocks(page) if block.language not in (*RUN, *SHOWN)
    ]
    assert not unknown
    assert len(RUNNABLE) >= 8
    for page in PAGES:  # no fence that the pattern does not see
        assert page.read_text(encoding="utf-8").count("\n```") == 2 * len(blocks(page))


@pytest.mark.parametrize("page", RUNNABLE, ids=named)
def test_the_blocks_of_a_page_run(page, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("auto", "quick"):
        monkeypatch.setitem(presets.STEPS, name, STEPS)
    tracker = MagicMock()
    monkeypatch.setitem(sys.modules, "mlflow", tracker)  # a stand-in: it is not installed, and needs a server
    for table in trained.glob("*.csv"):
        (tmp_path / table.name).symlink_to(table)
    if "--out runs/people\n" not in page.read_text(encoding="utf-8"):
        (tmp_path / "runs").mkdir()
        (tmp_path / "runs" / "people").symlink_to(trained / "runs" / "people")
    shell, names = Shell(), {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            source = re.sub(r"\bsteps=\d+", f"steps={STEPS}", block.text)
            code = compile(source, f"{named(page)}, line {block.line}", "exec")
            if block.reason is None:
                exec(code, names)
        elif block.language == "sh":
            for words in commands(block):
                if block.reason is None:
                    shell(words)
                elif words[0] == "paretognn":
                    parsed(words)
                else:
                    check_other(words)
    if "import mlflow" in page.read_text(encoding="utf-8"):
        assert tracker.log_metrics.call_count == STEPS
    if shell.left_out:
        warnings.warn(f"PARETOGNN_DATA names no folder: left out {shell.left_out}", stacklevel=1)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_within_sentences_have_real_options(page):
    for words in inline_commands(page):
        if words[1] in COMMANDS and len(words) > 2:
            parsed(words, whole=False)


def test_the_advice_that_is_shown_is_what_is_given():
    shown = [block.text for block in blocks(ROOT / "docs" / "your-data.md") if block.language == "text"]
    assert shown == ["\n".join(format_advice(advise(load_dataset("digits")))) + "\n"]


def test_a_wrong_option_is_found():
    with pytest.raises(typer.TyperException):
        parsed(["paretognn", "train", "--outt", "runs/people"])
    with pytest.raises(AssertionError):
        parsed(["paretognn", "trian", "--out", "runs/people"])
    with pytest.raises(AssertionError):
        check_other(["make", "nothing-of-that-name"])
