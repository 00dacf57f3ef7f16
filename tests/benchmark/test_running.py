"""Cells in processes of their own, and what happens to a grid when processes are stopped or killed."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest

from benchmark.small_cells import NARROW, cells_of, request
from paretognn.benchmark.cells import DONE, FAILED, OUT_OF_MEMORY, Store
from paretognn.benchmark.job import Job
from paretognn.benchmark.making import unmade
from paretognn.benchmark.place import LocalProcess, ThisMachine
from paretognn.benchmark.running import Report, run_cells, to_do
from paretognn.benchmark.shared import link_split_file
from paretognn.benchmark.worker import BUSY
from paretognn.errors import InputError
from paretognn.lock import locked
from paretognn.training import RunFolder

SLOW = {**NARROW, "checkpoint": {"every_steps": 5}}
STEPS = 300

COMMAND = """
import sys
from paretognn.cli.benchmark import NAME, command
from paretognn.cli import main
import paretognn.__main__ as program
main.COMMANDS = tuple(dict.fromkeys((*main.COMMANDS, NAME)))
program.main()
"""


def slow(*methods):
    return request(*methods, steps=STEPS, settings=SLOW)


@pytest.fixture
def start(tmp_path):
    """Start the command on `slow` cells as a process; all that it started is gone afterwards."""
    started = []

    def begin(*methods):
        words = ["benchmark", "--datasets", "digits", "--methods", ",".join(methods), "--steps", str(STEPS)]
        words += ["--set", "encoder.hidden_dims=[8,4]", "--set", "checkpoint.every_steps=5"]
        words += ["--evaluation-seeds", "1", "--jobs", "1", "--out", str(tmp_path)]
        process = subprocess.Popen([sys.executable, "-c", COMMAND, *words], stderr=subprocess.PIPE, text=True)
        started.append(psutil.Process(process.pid))
        return process

    yield begin
    for parent in started:
        if parent.is_running():
            for one in [*parent.children(recursive=True), parent]:
                one.kill()


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found


def folder_of(store, cell):
    return RunFolder(store.runs / cell.key.name)


def trained_a_while(store, cell):
    """Its metrics, once a few checkpoints are there."""
    folder = folder_of(store, cell)
    wait_for(lambda: folder.checkpoints.is_dir() and any(folder.checkpoints.glob("*.safetensors")))
    return wait_for(lambda: folder.metrics_file.read_text().splitlines())


def child_of(process):
    return wait_for(lambda: psutil.Process(process.pid).children())[0]


def make(cells, store, asked, **more):
    """Run the cells here and return those that ended, in order, by method."""
    ended = {}
    report = Report(finished=lambda cell, made: ended.update({cell.key.method: made}))
    assert run_cells(cells, store, asked, report=report, **more) == []
    return ended


def test_a_grid_killed_in_the_middle_goes_on_and_repeats_nothing(tmp_path, start):
    asked, store = slow("raw-features", "mi-ng"), Store(tmp_path)
    first, second = cells_of(asked)
    process = start("raw-features", "mi-ng")
    wait_for(store.file(first.key).exists)
    rows = trained_a_while(store, second)
    worker = child_of(process)
    process.kill()
    process.wait()
    process.stderr.close()
    # The worker writes its checkpoint and ends by itself: nobody is there to wait for the cell.
    worker.wait(60)
    written = store.file(first.key).read_bytes()
    assert store.get(second.key) is None
    left = to_do([first, second], store, asked)
    assert left == [second]
    made = make(left, store, asked)["mi-ng"]
    assert made.status == DONE
    assert store.file(first.key).read_bytes() == written
    metrics = folder_of(store, second).metrics_file.read_text().splitlines()
    assert metrics[0] == rows[0]  # with its seconds: the step was not made again
    assert [json.loads(row)["step"] for row in metrics] == list(range(1, STEPS + 1))
    assert to_do([first, second], store, asked, retry=True) == []


def test_ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on(tmp_path, start):
    asked, store = slow("mi-ng"), Store(tmp_path)
    (cell,) = cells_of(asked)
    process = start("mi-ng")
    trained_a_while(store, cell)
    worker = child_of(process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert not worker.is_running()
    assert "go on with: " in said.splitlines()[-1]
    assert store.get(cell.key) is None
    assert any(folder_of(store, cell).checkpoints.glob("*.safetensors"))


def test_a_grid_with_cells_that_were_stopped_is_not_done(tmp_path, start):
    store = Store(tmp_path)
    (cell,) = cells_of(slow("mi-ng"))
    process = start("mi-ng")
    trained_a_while(store, cell)
    child_of(process).terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "0 of 1 cells finished, 1 stopped from outside" in said
    assert "go on with: " in said.splitlines()[-1]


def test_a_killed_cell_is_out_of_memory_and_the_grid_goes_on(tmp_path, start):
    asked, store = slow("mi-ng", "raw-features"), Store(tmp_path)
    first, second = cells_of(asked)
    process = start("mi-ng", "raw-features")
    trained_a_while(store, first)
    child_of(process).kill()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0
    assert store.get(first.key).status == OUT_OF_MEMORY
    assert "killed" in store.get(first.key).error
    assert store.get(second.key).status == DONE
    assert "1 of 2 cells finished, 1 out of memory" in said
    assert to_do([first, second], store, asked) == []
    assert to_do([first, second], store, asked, retry=True) == [first]


def test_a_failing_cell_is_recorded_and_the_others_are_made_two_at_once(tmp_path):
    asked, store = request("feat-rec", "raw-features", steps=5), Store(tmp_path)
    bad = request("feat-rec", steps=5, settings={**NARROW, "optimizer": {"learning_rate": 1e30}})
    cells = [*cells_of(bad), *cells_of(asked)]
    run_cells(cells, store, asked, ThisMachine(2))
    assert [store.get(cell.key).status for cell in cells] == [FAILED, DONE, DONE]
    assert "is not finite" in store.get(cells[0].key).error
    assert {store.get(cell.key).hardware["cells_at_once"] for cell in cells} == {2}


def test_a_cell_waits_for_memory_beside_others_and_is_tried_alone(monkeypatch):
    (cell,) = cells_of(request("raw-features"))
    cell, machine = replace(cell, memory=100), ThisMachine(4)

    class Beside:
        def __init__(self, still_to_take):
            self.reserved = lambda: still_to_take

    for free, beside, fits in (
        (100, [Beside(0)], True), (99, [Beside(0)], False), (150, [Beside(51)], False), (150, [Beside(50)], True),
        (150, [Beside(30), Beside(21)], False), (0, [], True),
    ):  # fmt: skip
        monkeypatch.setattr("paretognn.benchmark.place.free_memory", lambda device, free=free: free)
        assert machine.fits(cell, beside) is fits


def test_what_a_process_has_taken_is_no_longer_reserved(monkeypatch):
    (cell,) = cells_of(request("raw-features"))
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    job = Job.of(replace(cell, memory=1 << 40), Store("S"), request("raw-features"))
    running = LocalProcess(job, process)
    assert 0 < (1 << 40) - running.reserved() < 1 << 30
    running.kill()
    process.wait()
    assert running.reserved() == 0


def test_a_process_that_cannot_start_is_recorded_with_its_last_line(tmp_path, monkeypatch):
    asked, store = request("raw-features"), Store(tmp_path)
    monkeypatch.setattr(Job, "to_json", lambda self: {"no": "job"})
    made = make(cells_of(asked), store, asked)["raw-features"]
    assert made.status == FAILED
    assert made.error == "the process ended with exit code 1: KeyError: 'cell'"


def test_a_damaged_split_ends_the_grid_and_is_no_cell_s_fault(tmp_path):
    asked, store = request("raw-features"), Store(tmp_path)
    cells = cells_of(asked)
    split = link_split_file(store, "digits")
    split.parent.mkdir()
    split.write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match=f"{split}: cannot be read as Parquet .*; remove it, or choose another --out"):
        run_cells(cells, store, asked)
    assert store.get(cells[0].key) is None


def test_a_cell_that_another_process_is_at_is_waited_for(tmp_path):
    asked, store = request("raw-features"), Store(tmp_path)
    (cell,) = cells_of(asked)
    job = Job.of(cell, store, asked)
    seen = []

    def look(cells):
        seen.extend(cells)
        raise KeyboardInterrupt

    with locked(job.lock):
        with pytest.raises(KeyboardInterrupt):
            run_cells([cell], store, asked, report=Report(waiting=look))
        # Nor does a process that was started a moment too late make it.
        worker = subprocess.Popen([sys.executable, "-P", "-m", "paretognn.benchmark.worker"], stdin=subprocess.PIPE)
        worker.stdin.write(json.dumps(job.to_json()).encode() + b"\n")
        worker.stdin.flush()
        assert worker.wait(60) == BUSY
        worker.stdin.close()
    assert seen == [cell]
    assert store.get(cell.key) is None


def test_a_cell_that_another_process_records_in_the_meantime_is_taken(tmp_path):
    asked, store = request("raw-features"), Store(tmp_path)
    (cell,) = cells_of(asked)
    job = Job.of(cell, store, asked)
    ended = []
    report = Report(
        started=lambda cell: pytest.fail("started"),
        finished=lambda cell, made: ended.append(made),
        waiting=lambda cells: unmade(job, FAILED, "no luck there"),
    )
    with locked(job.lock):
        assert run_cells([cell], store, asked, report=report) == []
    assert [made.error for made in ended] == ["no luck there"]
