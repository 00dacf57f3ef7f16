"""The example package's components do all that the house's own do, from one process to the next."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from made import make_graph
from packages import EXAMPLE, Installed, lay_out_example
from paretognn import ParetoGNN
from paretognn.methods import method_config
from paretognn.methods.rows import run_method
from paretognn.training import RunFolder, train

SETTINGS = {
    "encoder": {"name": "appnp", "hidden_dims": [8, 4], "settings": {"hops": 3}},
    "tasks": {
        "degree": {"sampler": {"name": "snowball", "seeds": 12, "roots": 2}},
        "topo_rec": {"sampler": "sage", "fanouts": [3]},
    },
    "reconciler": {"name": "dwa", "settings": {"temperature": 1.5}},
    "checkpoint": {"every_steps": 1},
}


@pytest.fixture
def installed(monkeypatch, tmp_path):
    lay_out_example(tmp_path / "site")
    found = Installed(monkeypatch)
    found(tmp_path / "site")
    yield found
    found.removed()


def paretognn(folder, *words, site=True):
    """The program in a process of its own, with the example's package or without."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "site") if site else "", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-m", "paretognn", *words], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_a_run_of_another_package_s_components_goes_on_in_another_process_and_not_without_it(tmp_path):
    lay_out_example(tmp_path / "site")
    words = "--dataset karate-club --method paretognn --preset quick --steps 2 --out R --no-graph-copy"
    words += " --sampler snowball --budget 20"
    named = [
        "encoder.name=appnp", "encoder.settings.hops=3", "encoder.hidden_dims=[8, 4]", "reconciler.name=dwa",
        "tasks.degree={sampler: {name: snowball, seeds: 9, roots: 3}}", "tasks.mi_nsg.projection=4",
    ]  # fmt: skip
    settings = [word for name in named for word in ("--set", name)]
    done = paretognn(tmp_path, "train", *words.split(), *settings)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "R" / "packages.json").read_text()) == {"paretognn-example": "0.1.0"}
    assert "name: snowball" in (tmp_path / "R" / "config.yaml").read_text()
    resumed = paretognn(tmp_path, "train", "--resume", "--out", "R", "--steps", "3")
    assert resumed.returncode == 0, resumed.stderr
    judged = paretognn(tmp_path, "evaluate", "R", "--seeds", "1", "--no-controls")
    assert judged.returncode == 0, judged.stderr
    assert "34 rows, 4 dimensions" in paretognn(tmp_path, "embed", "R", "--out", "e.csv").stderr
    without = paretognn(tmp_path, "embed", "R", "--out", "e.csv", site=False)
    assert without.returncode == 2
    (line,) = without.stderr.strip().splitlines()
    assert line.startswith("error: R/config.yaml: unknown encoder 'appnp'")
    assert line.endswith(
        "with the package paretognn-example 0.1.0, which is not installed: pip install paretognn-example"
    )


@pytest.mark.usefixtures("installed")
def test_a_resumed_run_ends_where_an_uninterrupted_one_does(tmp_path):
    graph = make_graph()
    config, _ = method_config(graph, overrides={**SETTINGS, "steps": 4})
    whole = train(graph, config, folder=RunFolder(tmp_path / "whole"))[1]
    parts = RunFolder(tmp_path / "parts")
    train(graph, config.model_copy(update={"steps": 2}), folder=parts)
    assert train(graph, config, folder=parts, resume=True)[1].tobytes() == whole.tobytes()


@pytest.mark.usefixtures("installed")
def test_from_python_saved_loaded_and_new_nodes(tmp_path):
    graph, new = make_graph(), make_graph(30, seed=5)
    model = ParetoGNN(steps=2, settings=SETTINGS).fit(graph)
    model.save(tmp_path / "R")
    loaded = ParetoGNN.load(tmp_path / "R")
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    assert loaded.config_.encoder.settings.hops == 3
    assert loaded.config_.tasks["degree"].sampler.roots == 2


@pytest.mark.usefixtures("installed")
def test_a_run_is_repeated_with_another_encoder_which_takes_none_of_its_settings():
    graph = make_graph()
    row = run_method(method_config(graph, overrides={"encoder": {"settings": {"precision": "bfloat16"}}})[0])
    assert method_config(graph, row)[0].encoder.settings.precision == "bfloat16"
    assert method_config(graph, row, overrides={"encoder": {"name": "appnp"}})[0].encoder.settings.hops > 0


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encoder": {"name": "appnp", "settings": {"hop": 3}}}, "unknown setting 'encoder.settings.hop'"),
        ({"encoder": {"name": "appnp", "settings": {"teleport": 2}}}, "setting 'encoder.settings.teleport'"),
        ({"tasks": {"degree": {"sampler": {"name": "snowball", "root": 1}}}}, "setting 'tasks.degree.sampler.root"),
        ({"tasks": {"degree": {"edge_drop": 1}}}, "setting 'tasks.degree.edge_drop'"),
        ({"reconciler": {"name": "dwa", "settings": {"temperature": 0}}}, "'reconciler.settings.temperature'"),
        ({"method": "mvgrl", "encoder": {"name": "appnp"}}, "setting 'encoder.name'"),
    ],
)  # fmt: skip
def test_their_settings_are_checked_as_the_house_s_own(settings, message):
    with pytest.raises(ValueError, match=message):
        method_config(make_graph(), overrides=settings)


def test_the_example_has_tests_of_its_own():
    assert len(list((EXAMPLE / "tests").glob("test_*.py"))) == 5
