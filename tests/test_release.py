"""What is released: one version, the extras by name, no component that needs an extra without saying so."""

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from made import make_graph
from paretognn import InputError, TensorBoard, __version__
from paretognn.methods import method_config, searched

ROOT = Path(__file__).parents[1]


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "paretognn._version.__version__"}


def test_the_lowest_versions_are_those_of_the_project():
    done = subprocess.run([sys.executable, ROOT / ".ci" / "lowest.py"], capture_output=True, text=True, check=True)
    lowest = dict(line.split("==") for line in done.stdout.splitlines())
    pinned = dict(line.split("==") for line in (ROOT / "requirements.lock").read_text().splitlines())
    assert lowest["torch"] == pinned["torch"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(lowest) == len(project["dependencies"])
    assert f"scipy>={lowest['scipy']}" in project["dependencies"]


def needs_torchjd():
    method_config(make_graph(), "pcgrad")


def needs_autossl():
    graph = make_graph()
    searched(graph, method_config(graph, "autossl-es", overrides={"steps": 1})[0])


def needs_tensorboard():
    TensorBoard("folder")


EXTRAS = {"torchjd": ("torchjd", needs_torchjd), "autossl": ("cma", needs_autossl),
          "tensorboard": ("tensorboard", needs_tensorboard)}  # fmt: skip


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_needs_an_extra_names_it_where_it_is_missing(extra):
    module, use = EXTRAS[extra]
    if find_spec(module) is not None:
        pytest.skip(f"{module} is installed; `make core` runs this without")
    with pytest.raises(InputError, match=rf"pip install 'paretognn\[{extra}\]'"):
        use()
