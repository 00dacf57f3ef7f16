import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from made import SMALL, make_graph
from paretognn.benchmark.cells import Cell
from paretognn.benchmark.memory import cell_memory
from paretognn.datasets import load_dataset
from paretognn.errors import InputError
from paretognn.methods import method_config
from paretognn.training import EachStep, RunFolder, make_config, memory, merge, train

STORE = Path(__file__).parents[2] / "benchmarks" / "store" / "cells"


@pytest.mark.parametrize("dataset", ["cora", "chameleon", "actor", "amazon-photo"])
def test_estimates_are_within_30_percent_of_what_cells_have_taken(data_root, dataset):
    """Every method, as its process measured itself."""
    graph = load_dataset(dataset, data_root)
    ratios = {}
    for path in STORE.glob(f"{dataset}__*.json"):
        cell = Cell.from_json(json.loads(path.read_text()))
        config = make_config(cell.config) if cell.config else method_config(graph, preset=cell.key.preset)[0]
        ratios[cell.key.name] = cell_memory(graph, config, cell.config is not None) / cell.peak_memory
    assert len(ratios) > 10
    assert not {name: ratio for name, ratio in ratios.items() if not 0.7 < ratio < 1.3}


_PREPARES = """
import numpy as np, psutil, torch
from paretognn.graph import build_graph
from paretognn.methods import method_config
from paretognn.training.memory import peak_memory
from paretognn.training.prepare import prepare

features = np.zeros((400_000, 128), dtype=np.float32)
features[:] = np.sin(np.arange(128, dtype=np.float32))
features[::3] += 1
graph = build_graph(len(features), [0, 1], [1, 2], features=features)
held = psutil.Process().memory_info().rss
placed, _ = prepare(graph, method_config(graph)[0].features, "cpu")
placed.features.take(torch.arange(1000)).squared_norms
print((peak_memory() - held) / features.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux")
def test_dense_features_are_looked_at_and_scaled_in_blocks():
    """What it takes to prepare them is the scaled ones and little more, not copies in float64 or as entries."""
    taken = subprocess.run([sys.executable, "-c", _PREPARES], stdout=subprocess.PIPE, text=True, check=True)
    assert float(taken.stdout) < 2.5


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"memory.max": "1000", "memory.current": "700", "memory.stat": "anon 5\ninactive_file 100\n"}, 400),
        ({"memory.max": "max", "memory.current": "700", "memory.stat": "inactive_file 100"}, None),
        ({"memory.limit_in_bytes": "1000", "memory.usage_in_bytes": "1200", "memory.stat": ""}, 0),
        ({}, None),
    ],
)
def test_a_container_s_limit_counts_and_its_file_cache_is_free(tmp_path, monkeypatch, files, left):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "_CONTROL_GROUPS", (tmp_path,))
    free = memory.free_memory("cpu")
    if left is None:
        assert free > 1 << 20
    else:
        assert free == left


@pytest.mark.parametrize("method", ["paretognn", "bgrl", "topo-rec"])
def test_a_refusal_names_settings_that_lower_the_estimate(monkeypatch, method):
    graph = make_graph(2000, 20, 500)
    config = method_config(graph, method)[0]
    needed = memory.estimate(graph, config)
    monkeypatch.setattr(memory, "free_memory", lambda device: needed - 1)
    with pytest.raises(InputError, match=r"--sampler saint-node --budget N.*hidden_dims=\[128,64\]") as caught:
        memory.require_memory(needed, "cpu")
    assert "\n" not in str(caught.value)
    for over in ({"sampler": {"name": "saint-node", "seeds": 100}}, {"encoder": {"hidden_dims": [128, 64]}}):
        memory.require_memory(memory.estimate(graph, method_config(graph, method, overrides=over)[0]), "cpu")


def test_memory_is_flat_over_many_steps(tmp_path):
    """The long one is benchmarks/soak.py."""
    taken = {}

    def report(record):
        if record.step in (100, 400):
            taken[record.step] = psutil.Process().memory_info().rss

    config = make_config(merge(SMALL, {"steps": 400, "checkpoint": {"every_steps": 50}}))
    train(make_graph(), config, folder=RunFolder(tmp_path), trackers=[EachStep(report)])
    assert taken[400] - taken[100] < 16 << 20


def test_a_gpu_need_not_hold_the_features_that_stay_on_the_host(monkeypatch):
    graph = make_graph(60_000, 2, 50)  # more than a batch and its neighbours
    config = method_config(graph, "paretognn")[0]
    needed = []
    for fits in (True, False):
        monkeypatch.setattr(memory, "fits", lambda size, device, fits=fits: fits)
        needed.append(memory.estimate(graph, config, "cuda"))
    assert needed[0] - needed[1] >= graph.features.size * 4
