"""Several processes of one run: the same weights everywhere, and those of one process that does all their work."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import psutil
import pytest
import torch

from cli.small_tables import FAST, graph_of, write_tables
from paretognn.training import MultiTaskStepper, RunFolder
from paretognn.training.ranks import ALONE, RankLost, Ranks
from training.rank_steps import IDLE, STEPS, held, stepper

TESTS = Path(__file__).parent.parent
LAUNCH = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
PROGRAM = ["-m", "paretognn", "train"]


def environment(**more):
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(TESTS), **more}


def launched(count, words, **more):
    done = subprocess.run(
        [*LAUNCH, str(count), *words], capture_output=True, text=True, check=False, env=environment(**more), timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done


class InTurn(MultiTaskStepper):
    """One process that computes the sub-graphs of several one after another, and averages gradients before their Gram
    matrix: the definition."""

    count, idle = 1, False

    def _task_gradient(self, row, name, number):
        losses, rows, heads = [], [], []
        for index in range(self.count):
            self.ranks = Ranks(index, 1)
            loss = super()._task_gradient(row, name, number)
            share = 0.0 if self.idle and index == 1 and name == IDLE else 1.0
            losses.append(share * loss)
            rows.append(share * self.gradients[row])
            heads.append([share * p.grad for p in self._head(name)])
        self.ranks = ALONE
        self.gradients[row] = torch.stack(rows).mean(0)
        for parameter, grads in zip(self._head(name), zip(*heads, strict=True), strict=True):
            parameter.grad = torch.stack(grads).mean(0)
        return torch.stack(losses).mean()


@pytest.mark.parametrize(("count", "how"), [(2, ""), (4, "SLOW"), (2, "IDLE")])
def test_c57_c58_ranks_hold_what_one_process_holds_that_does_their_work_in_turn(tmp_path, count, how):
    """However slow some of them are, and where a task has no loss on one of them."""
    launched(count, [str(TESTS / "training" / "rank_steps.py"), str(tmp_path)], **({how: "1"} if how else {}))
    found = [np.load(tmp_path / f"{index}.npz") for index in range(count)]
    alone = stepper(InTurn)
    alone.count, alone.idle = count, how == "IDLE"
    rows = [held(alone, alone.step()) for _ in range(STEPS)]
    for name, wanted in zip(("weights", "losses", "parameters"), zip(*rows, strict=True), strict=True):
        for each in found[1:]:
            np.testing.assert_array_equal(each[name], found[0][name])
        # AdamW divides by a gradient's size, so where that is next to nothing its rounding is a part of a step of 1e-3.
        tolerance = 1e-4 if name == "parameters" else 1e-5
        np.testing.assert_allclose(found[0][name], np.array(wanted), atol=tolerance, rtol=1e-5)


def test_c44_a_second_rank_draws_other_subgraphs():
    first, second = stepper(), stepper()
    second.ranks = Ranks(1, 1)
    assert first.step().losses != second.step().losses


@pytest.fixture
def tables(tmp_path):
    return write_tables(tmp_path)


def words(folder, steps):
    return [
        *PROGRAM,
        *graph_of(folder),
        "--method",
        "paretognn",
        *FAST,
        "--out",
        str(folder / "R"),
        "--steps",
        str(steps),
    ]


def rows_of(folder):
    file = folder / "R" / "metrics.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.parametrize("ended", ["a rank is killed", "Ctrl-C"])
def test_a_run_that_is_cut_off_leaves_a_checkpoint_for_any_number_of_ranks(tables, ended):
    process = subprocess.Popen(
        [*LAUNCH, "2", *words(tables, 100_000)],
        stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True,
    )  # fmt: skip
    while len(rows_of(tables)) < 5 and process.poll() is None:
        time.sleep(0.1)
    if ended == "Ctrl-C":
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the launcher and to its processes
    else:
        next(p for p in psutil.Process(process.pid).children() if p.environ().get("RANK") == "1").kill()
    said = process.communicate(timeout=120)[1]
    assert process.returncode != 0
    assert "saved after step" in said, said
    assert "train --resume --out" in said
    done = int(said.split("saved after step ")[1].split(";")[0])
    rows = rows_of(tables)
    assert [row["step"] for row in rows] == list(range(1, done + 1))
    config = RunFolder(tables / "R").config()
    RunFolder(tables / "R").write_config(config.model_copy(update={"steps": done}))
    launched(3, [*PROGRAM, "--resume", "--out", str(tables / "R"), "--steps", str(done + 4)])
    assert [row["step"] for row in rows_of(tables)] == list(range(1, done + 5))
    assert RunFolder(tables / "R").embeddings_file.exists()


def test_another_graph_on_another_machine_is_noticed(tables):
    nodes = tables / "nodes.csv"
    elsewhere = tables / "elsewhere.csv"
    title, *rows = nodes.read_text().splitlines()
    elsewhere.write_text("\n".join([title, *rows[1:], rows[0]]))
    program = (
        "import os, sys; from paretognn.cli.main import run; words = sys.argv[1:];"
        "words = [w.replace('nodes.csv', 'elsewhere.csv') if os.environ['RANK'] == '1' else w for w in words];"
        "sys.exit(run(words))"
    )
    script = tables / "script.py"
    script.write_text(program)
    done = subprocess.run(
        [*LAUNCH, "2", str(script), *words(tables, 3)[2:]],
        capture_output=True, text=True, check=False, env=environment(), timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    assert "reads another graph" in done.stderr


def _namespaces():
    """Two network namespaces joined by a cable, or None where this system does not let us."""
    steps = [
        "ip netns add pg-a", "ip netns add pg-b", "ip link add pg-va netns pg-a type veth peer name pg-vb netns pg-b",
        "ip -n pg-a addr add 10.77.0.1/24 dev pg-va", "ip -n pg-b addr add 10.77.0.2/24 dev pg-vb",
        "ip -n pg-a link set pg-va up", "ip -n pg-b link set pg-vb up",
        "ip -n pg-a link set lo up", "ip -n pg-b link set lo up",
    ]  # fmt: skip
    return all(subprocess.run(step.split(), capture_output=True, check=False).returncode == 0 for step in steps)


@pytest.fixture
def two_machines():
    if shutil.which("ip") is None or not _namespaces():
        for name in ("pg-a", "pg-b"):
            if shutil.which("ip"):
                subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        pytest.skip("network namespaces are not permitted here")
    yield [(["ip", "netns", "exec", f"pg-{name}"], f"pg-v{name}") for name in "ab"]
    for name in ("pg-a", "pg-b"):
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def both(tables, two_machines):
    """Exit codes of the two, None of one that has not ended; and what they said."""
    processes, logs = [], [tables / f"{rank}.log" for rank in range(2)]
    for rank, (inside, device) in enumerate(two_machines):
        launch = ["torch.distributed.run", "--nnodes", "2", "--node-rank", str(rank), "--nproc-per-node", "1"]
        launch += ["--master-addr", "10.77.0.1", "--master-port", "29517", "--local-addr", f"10.77.0.{rank + 1}"]
        command = [*inside, sys.executable, "-m", *launch, *words(tables, 3)]
        env = environment(GLOO_SOCKET_IFNAME=device, PYTHONFAULTHANDLER="1")
        with logs[rank].open("w") as log:
            processes.append(subprocess.Popen(command, stderr=log, env=env))
    deadline = time.monotonic() + 150
    while any(process.poll() is None for process in processes) and time.monotonic() < deadline:
        time.sleep(0.1)
    codes = [process.poll() for process in processes]
    for process in processes:
        running = [psutil.Process(process.pid)] if process.poll() is None else []
        for one in [child for each in running for child in each.children(recursive=True)] + running:
            one.send_signal(signal.SIGABRT)  # where it stands is said in the log
        process.wait()
    return codes, [log.read_text() for log in logs]


def test_two_machines_with_addresses_of_their_own_train_one_run(tables, two_machines):
    codes, said = both(tables, two_machines)
    if None in codes:  # seen once, and not again: both waited for ever; it is said, and begun again
        print(*said, sep="\n")
        shutil.rmtree(tables / "R", ignore_errors=True)
        codes, said = both(tables, two_machines)
    assert codes == [0, 0], said
    there = RunFolder(tables / "R").embeddings_file.read_bytes()
    shutil.rmtree(tables / "R")
    launched(2, words(tables, 3))
    assert RunFolder(tables / "R").embeddings_file.read_bytes() == there


def test_a_process_that_is_told_to_stop_waits_moments_for_an_answer():
    class Silent:
        def is_completed(self):
            return False

    with patch("paretognn.training.ranks._GRACE", 0.05), pytest.raises(RankLost, match="does not answer"):
        Ranks(0, 2, stopping=lambda: True)._await(Silent())
