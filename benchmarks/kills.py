"""Commands stopped by signals at random moments and called again, held against ones that were never stopped.

    python benchmarks/kills.py [--moments 30] [--methods paretognn,bgrl,...] [--signals INT,TERM,KILL] [--seed 0]

For each kind of command, method and signal: processes that run the command line's own `main` on a small graph get the
signal until ``--moments`` have hit, every second one after a random time, the others at a random event: before or after
a task's gradient, an optimiser step, a row of metrics, a temporary file, its sync, its rename. What was stopped is
called again (`train` with ``--resume``, where the run had begun); after a few hits it may end, and every file is
compared with that of a command which was never stopped. Processes are forked from one that has the libraries loaded
and has computed nothing. A JSON line a kind, method and signal on standard output; exit code 1 where anything differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import sklearn.cluster
import sklearn.metrics
import sklearn.utils.extmath
import torch._dynamo  # by the first optimiser; it takes seconds

import paretognn.__main__ as program
from paretognn.atomic import PARTIAL
from paretognn.benchmark import worker
from paretognn.benchmark.cells import Store
from paretognn.benchmark.grid import Request, expand
from paretognn.benchmark.job import Job
from paretognn.cli import embed, evaluate, train
from paretognn.training.metrics import MetricsWriter
from paretognn.training.multitask import MultiTaskStepper

METHODS = ("paretognn", "bgrl", "autossl", "autossl-es", "paretomtl-mi-ng", "mvgrl", "random-weights")
"""Those with something to remember, or to make anew, when they go on."""
FAST = ("encoder.hidden_dims=[8, 4]", "checkpoint.every_steps=3")
STEPS, HITS = 12, 6
LOADED = (train, embed, evaluate, sklearn, torch)
"""What processes would otherwise load again and again."""


def make_tables(folder: Path, nodes: int = 60) -> None:
    """A small graph as node and edge table."""
    rng = np.random.default_rng(0)
    with (folder / "nodes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *(f"x{j}" for j in range(6)), "label"])
        for i in range(nodes):
            writer.writerow([f"n{i}", *(rng.standard_normal(6) + i % 3).tolist(), "abc"[i % 3]])
    ends = rng.integers(nodes, size=(4 * nodes, 2))
    with (folder / "edges.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("source", "target"), *((f"n{a}", f"n{b}") for a, b in ends)])


@dataclass
class Moment:
    """When a process gets its signal: at an event, or some seconds after it was started; never where both are None."""

    event: int | None = None
    seconds: float | None = None


class Events:
    """Counts what a process does, and sends it the signal at one of these."""

    def __init__(self, number: int, at: int | None) -> None:
        self.number, self.at, self.count = number, at, 0

    def tick(self) -> None:
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), self.number)

    def watch(self, owner: Any, name: str) -> None:
        plain = getattr(owner, name)

        def watched(*arguments: Any, **named: Any) -> Any:
            self.tick()
            made = plain(*arguments, **named)
            self.tick()
            return made

        setattr(owner, name, watched)


@dataclass
class Ended:
    """What a process came to. events : None where it did not end by itself."""

    code: int
    seconds: float
    said: str
    events: int | None


def run(main: Callable[[], int | None], number: int, moment: Moment, log: Path) -> Ended:
    """``main`` in a process of its own."""
    counted = log.with_suffix(".events")
    counted.unlink(missing_ok=True)
    started = time.monotonic()
    child = os.fork()
    if not child:
        code = 70
        with suppress(BaseException):
            handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
            events = Events(number, moment.event)
            for owner, name in (
                (os, "replace"), (os, "fsync"), (os, "open"), (MetricsWriter, "write"),
                (MultiTaskStepper, "_task_gradient"), (MultiTaskStepper, "_apply"),
            ):  # fmt: skip
                events.watch(owner, name)
            try:
                code = int(main() or 0)
            except SystemExit as end:
                code = int(end.code or 0)
            except BaseException:
                import traceback

                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
            counted.write_text(str(events.count))
        os._exit(code)
    if moment.seconds is not None:
        while time.monotonic() - started < moment.seconds and not os.waitid(
            os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT
        ):
            time.sleep(0.002)
        os.kill(child, number)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    events_seen = int(counted.read_text()) if counted.exists() else None
    return Ended(code, time.monotonic() - started, log.read_text(errors="replace"), events_seen)


def command(*words: str) -> Callable[[], None]:
    def main() -> None:
        sys.argv = ["paretognn", *words]
        program.main()

    return main


@dataclass
class Kind:
    """A command, what is to be called again after it was stopped, and the files that it makes."""

    name: str
    method: str
    first: Callable[[Path], Callable[[], int | None]]
    again: Callable[[Path], Callable[[], int | None]]
    prepare: Callable[[Path], None] = lambda folder: None
    leave: tuple[int, ...] = (130,)
    totals: list[Ended] = field(default_factory=list)


def content(folder: Path) -> dict[str, Any]:
    """All files but for seconds, and locks, which a killed holder leaves without effect; of checkpoints the newest."""
    found: dict[str, Any] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and "logs" not in p.parts and p.name != ".lock"):
        name = str(path.relative_to(folder))
        if path.suffix == ".jsonl":
            found[name] = [
                {k: v for k, v in json.loads(row).items() if "seconds" not in k}
                for row in path.read_text().splitlines()
            ]
        elif path.name in ("evaluation.json", "cost.json") or path.parent.name == "cells":
            found[name] = without_seconds(json.loads(path.read_text()))
        elif path.parent.name != "checkpoints" or path.stem == f"step-{STEPS:08d}":
            found[name] = path.read_bytes()
    return found


def without_seconds(tree: Any) -> Any:
    if isinstance(tree, dict):
        own = ("seconds", "step_seconds", "peak_memory", "peak_bytes")
        return {k: without_seconds(v) for k, v in tree.items() if k not in own}
    return tree


def training(method: str, tables: Path) -> Kind:
    words = ["train", "--nodes", str(tables / "nodes.csv"), "--edges", str(tables / "edges.csv"), "--method", method]
    words += ["--steps", str(STEPS), *(word for setting in FAST for word in ("--set", setting))]
    if method == "autossl-es":
        for setting in ("population=3", "generations=2", "steps=2"):
            words += ["--set", f"search.{setting}"]

    def again(folder: Path) -> Callable[[], None]:
        if (folder / "R" / "config.yaml").exists():
            return command("train", "--resume", "--out", str(folder / "R"))
        return first(folder)

    def first(folder: Path) -> Callable[[], None]:
        return command(*words, "--out", str(folder / "R"))

    return Kind("train", method, first, again)


def of_a_run(name: str, method: str, tables: Path, *words: str) -> Kind:
    """A command on a run that is there."""
    trained = training(method, tables)

    def prepare(folder: Path) -> None:
        kept = tables / f"run-{method}"
        if not kept.exists():
            ended = run(trained.first(kept), signal.SIGKILL, Moment(), tables / "log")
            assert ended.code == 0, ended.said
        shutil.copytree(kept, folder, dirs_exist_ok=True)

    def main(folder: Path) -> Callable[[], None]:
        return command(*(word.replace("FOLDER", str(folder)) for word in words))

    return Kind(name, method, main, main, prepare)


def cell(method: str) -> Kind:
    """The process of a benchmark cell, as the grid starts it."""
    settings = {"encoder": {"hidden_dims": [8, 4]}, "checkpoint": {"every_steps": 3}}
    asked = Request(("digits",), (method,), steps=STEPS, evaluation_seeds=1, settings=settings)
    found: list[Any] = []

    def main(folder: Path) -> Callable[[], int]:
        if not found:
            found.extend(made for _, cells in expand(asked) for made in cells)
        line = json.dumps(Job.of(found[0], Store(folder / "S"), asked).to_json()).encode() + b"\n"

        def made() -> int:
            read, write = os.pipe()
            os.write(write, line)
            os.dup2(read, 0)
            sys.stdin = os.fdopen(0, closefd=False)
            return worker.main()

        return made

    return Kind("cell", method, main, main, leave=(worker.STOPPED, -signal.SIGTERM))


def torment(kind: Kind, number: int, moments: int, rng: random.Random, home: Path) -> dict[str, Any]:
    """``moments`` hits on commands of one kind, each of which may end at last; how many ended as the one that was
    never stopped."""
    log = home / "log"

    def fresh(name: str) -> Path:
        shutil.rmtree(home / name, ignore_errors=True)
        (home / name).mkdir()
        kind.prepare(home / name)
        return home / name

    reference = fresh("never-stopped")
    whole = run(kind.first(reference), number, Moment(), log)
    assert whole.code == 0, whole.said
    assert whole.events is not None
    want = content(reference)
    # Outside a run's own folders nobody may sweep what SIGKILL leaves: another process may be writing it.
    swept = kind.name == "train" or number != signal.SIGKILL
    hits = at_event = ended = equal = 0
    faults: list[str] = []
    while hits < moments:
        folder, here, main = fresh("stopped"), 0, kind.first
        while True:
            moment = Moment()
            if here < HITS and hits < moments:
                if hits % 2:
                    moment = Moment(seconds=rng.uniform(0, 1.05 * whole.seconds))
                else:
                    moment = Moment(event=rng.randint(1, whole.events))
            one = run(main(folder), number, moment, log)
            main = kind.again
            # A signal that a library's callback swallows is lost with a word: the command goes on to its end.
            if "Traceback" in one.said and not (one.code == 0 and "Exception ignored" in one.said):
                faults.append(one.said)
            if one.code == 0:
                break
            if one.code not in (-number, *kind.leave) or (moment.event is None and moment.seconds is None):
                faults.append(f"exit code {one.code}: {one.said}")
                break
            hits, here, at_event = hits + 1, here + 1, at_event + (moment.event is not None)
        ended += 1
        got = {name: file for name, file in content(folder).items() if swept or not Path(name).name.startswith(PARTIAL)}
        different = sorted(name for name in want.keys() | got.keys() if want.get(name) != got.get(name))
        equal += not different
        faults += [f"differ: {', '.join(different)}"] if different else []
        if not here and whole.events < 2:
            break
    return {
        "kind": kind.name,
        "method": kind.method,
        "signal": signal.Signals(number).name,
        "hits": hits,
        "at_an_event": at_event,
        "ended": ended,
        "equal": equal,
        "faults": faults[:3],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=30)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--kinds", default="train,evaluate,embed,cell")
    parser.add_argument("--signals", default="INT,TERM,KILL")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    numbers = [signal.Signals[f"SIG{name}"] for name in given.signals.split(",")]
    wanted, right = given.kinds.split(","), True
    with tempfile.TemporaryDirectory() as name:
        tables = Path(name)
        make_tables(tables)
        judged = ["--seeds", "1", "--no-controls"]
        kinds = [training(method, tables) for method in given.methods.split(",")]
        for method in given.methods.split(","):
            kinds.append(of_a_run("evaluate", method, tables, "evaluate", "FOLDER/R", *judged))
        for suffix in ("parquet", "csv", "npy"):
            words = ("embed", "FOLDER/R", "--out", f"FOLDER/x.{suffix}")
            kinds.append(of_a_run("embed", given.methods.split(",")[0], tables, *words))
        kinds.append(cell(given.methods.split(",")[0]))
        for kind in kinds:
            if kind.name not in wanted:
                continue
            for number in numbers:
                if kind.name == "cell" and number == signal.SIGINT:
                    continue  # a grid's cells are in sessions of their own, which Ctrl-C does not reach
                home = tables / "at"
                shutil.rmtree(home, ignore_errors=True)
                home.mkdir()
                rng = random.Random(f"{given.seed}/{kind.name}/{kind.method}/{number}")
                found = torment(kind, number, given.moments, rng, home)
                right = right and found["equal"] == found["ended"] and not found["faults"]
                print(json.dumps(found), flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
