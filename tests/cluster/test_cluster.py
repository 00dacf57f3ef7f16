"""Two machines of a Ray cluster, as Ray's own simulation has them: what they make is what one machine makes."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import psutil
import pyarrow as pa
import pytest

from cli.small_tables import FAST, graph_of, write_tables
from paretognn.benchmark.cells import DONE, Store
from paretognn.graph.write_table import write_table
from paretognn.training import RunFolder
from paretognn.training.cost import read_cost

pytest.importorskip("ray")

GRID = ["--datasets", "digits", "--methods", "paretognn,rep-decor,spectral", "--steps", "80"]
SMALL = ["--set", "encoder.hidden_dims=[8,4]", "--set", "checkpoint.every_steps=5", "--evaluation-seeds", "1"]


@pytest.fixture
def cluster():
    """Two machines of a core each."""
    from ray.cluster_utils import Cluster

    made = Cluster()
    try:
        made.add_node(num_cpus=1, include_dashboard=False)
        made.second = made.add_node(num_cpus=1)
    except Exception as error:  # its processes need ports and shared memory, which not every system gives them
        made.shutdown()
        pytest.skip(f"Ray does not start here: {error}")
    yield made
    made.shutdown()


@pytest.fixture
def tables(tmp_path):
    return write_tables(tmp_path)


def begin(cluster, *words):
    environment = {**os.environ, "RAY_ADDRESS": cluster.address, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "paretognn", *map(str, words)], stderr=subprocess.PIPE, text=True, env=environment
    )


def done(cluster, *words):
    process = begin(cluster, *words)
    said = process.communicate(timeout=240)[1]
    assert process.returncode == 0, said
    return said


def wait_for(condition, process):
    while not (found := condition()):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    return found


def on(node):
    """The processes of a machine: what its raylet has started."""
    return psutil.Process(node.all_processes["raylet"][0].process.pid).children(recursive=True)


def rows_of(run):
    file = RunFolder(run).metrics_file
    return [json.loads(line)["step"] for line in file.read_text().splitlines()] if file.exists() else []


def test_a_grid_survives_the_loss_of_a_machine(cluster, tmp_path):
    process = begin(cluster, "benchmark", *GRID, *SMALL, "--ray", "--out", tmp_path / "store")
    store = Store(tmp_path / "store")

    def at_work():
        """A cell whose checkpoint is there, made by the second machine."""
        workers = [p for p in on(cluster.second) if "paretognn.benchmark.worker" in p.cmdline()]
        locks = list((store.path / "locks").glob("*.lock")) if workers else []
        held = [lock.stem for lock in locks if lock.read_text().strip() == str(workers[0].pid)]
        return [name for name in held if any((store.runs / name / "checkpoints").glob("*.safetensors"))]

    name = wait_for(at_work, process)[0]
    cluster.remove_node(cluster.second, allow_graceful=False)
    finished = {file.name: file.stat().st_mtime_ns for file in store.cells.iterdir()}
    said = process.communicate(timeout=240)[1]
    assert process.returncode == 0, said
    assert "3 of 3 cells finished" in said
    assert all(cell.status == DONE for cell in store)
    assert all((store.cells / file).stat().st_mtime_ns == when for file, when in finished.items())
    assert rows_of(store.runs / name) == list(range(1, 81))


def test_training_is_that_of_two_processes_here_and_goes_on_where_a_worker_is_lost(cluster, tables):
    words = ["--method", "paretognn", *FAST]
    said = done(cluster, "train", *graph_of(tables), *words, "--steps", 4, "--ray-workers", 2, "--out", tables / "R")
    assert "peak memory" not in said.split("trained in")[1]  # it would be that of this machine
    assert read_cost(RunFolder(tables / "R"))["training and embedding"].peak_bytes > 2**20
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "paretognn"]
    here = [*launch, "train", *map(str, graph_of(tables)), *words, "--steps", "4", "--out", str(tables / "H")]
    subprocess.run(here, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert RunFolder(tables / "R").embeddings_file.read_bytes() == RunFolder(tables / "H").embeddings_file.read_bytes()

    slow = ["--steps", 150, "--set", "checkpoint.every_steps=5"]
    process = begin(cluster, "train", *graph_of(tables), *words, *slow, "--ray-workers", 2, "--out", tables / "L")
    wait_for(lambda: len(rows_of(tables / "L")) >= 10, process)
    worker = [p for p in on(cluster.second) if p.name().startswith("ray::")]
    max(worker, key=lambda p: sum(p.cpu_times()[:2])).kill()
    said = process.communicate(timeout=240)[1]
    assert process.returncode == 0, said
    assert rows_of(tables / "L") == list(range(1, 151))


def test_embedding_in_parts_is_that_of_one_machine_and_survives_the_loss_of_one(cluster, tmp_path):
    rng, n, run = np.random.default_rng(0), 200_000, tmp_path / "R"
    columns = {f"x{j}": rng.standard_normal(n, dtype=np.float32) for j in range(4)}
    write_table(tmp_path / "nodes.parquet", pa.table({"id": np.arange(n), **columns}))
    ends = rng.integers(0, n, (2, 2 * n))
    write_table(tmp_path / "edges.parquet", pa.table(dict(zip(("source", "target"), ends, strict=True))))
    tables = ["--nodes", str(tmp_path / "nodes.parquet"), "--edges", str(tmp_path / "edges.parquet")]
    words = [*tables, "--method", "paretognn", *FAST, "--steps", "1", "--out", str(run)]
    subprocess.run([sys.executable, "-m", "paretognn", "train", *words], check=True, capture_output=True)

    process = begin(cluster, "embed", run, "--ray", "--out", tmp_path / "parts.npy")
    wait_for(lambda: list(run.glob(".partial-*/0-*.f32")), process)
    cluster.remove_node(cluster.second, allow_graceful=False)
    said = process.communicate(timeout=240)[1]
    assert process.returncode == 0, said
    done(cluster, "embed", run, "--out", tmp_path / "whole.npy")
    np.testing.assert_allclose(np.load(tmp_path / "parts.npy"), np.load(tmp_path / "whole.npy"), atol=1e-5)
    assert not list(run.glob(".partial-*"))


def test_what_is_at_fault_is_one_line(cluster, tables):
    process = begin(cluster, "train", *graph_of(tables), "--ray-workers", 9, "--out", tables / "R")
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 2
    assert "error: --ray-workers 9: the cluster has 2 CPUs, one a worker" in said


def test_a_cluster_that_does_not_answer_is_one_line_at_once(tables):
    environment = {**os.environ, "RAY_ADDRESS": "127.0.0.1:9"}
    words = [
        sys.executable,
        "-m",
        "paretognn",
        "train",
        *graph_of(tables),
        "--ray-workers",
        "2",
        "--out",
        str(tables / "R"),
    ]
    found = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=60)
    assert found.returncode == 2
    assert found.stderr.startswith("error: the Ray cluster at 127.0.0.1:9 cannot be reached (")
    assert found.stderr.count("\n") == 1
    assert not (tables / "R").exists()
