"""Throughput of several processes on one machine beside that of one, a thread each: JSON lines, then their ratio.

    python benchmarks/ranks.py [--shape wiki-cs-shape] [--ranks 2] [--steps 12] [--rounds 3]

Runs of one process and of ``--ranks`` take turns. Throughput counts sub-graphs: a step of R processes is R steps of
one. ``exchange`` is the part of a step in which gradients are averaged, and the wait for the slower process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from statistics import median
from typing import Any

from hardware import described
from shapes import SHAPES

from paretognn.methods import method_config
from paretognn.training.frozen import build_encoder
from paretognn.training.multitask import MultiTaskModel, MultiTaskStepper
from paretognn.training.prepare import prepare
from paretognn.training.ranks import joined


def steps(shape: str, count: int) -> None:
    """In one of the processes: some steps, and the leader's line."""
    graph = SHAPES[shape].make()
    config, _ = method_config(graph, "paretognn")
    with joined("cpu") as ranks:
        prepared, _ = prepare(graph, config.features, "cpu")
        model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width))
        stepper = MultiTaskStepper(model, prepared, config, ranks=ranks)
        records = [stepper.step() for _ in range(count + 2)][2:]
        if ranks.leads:
            exchange = median(record.stage_seconds.get("exchange", 0.0) for record in records)
            line = {"ranks": ranks.count, "seconds": median(r.seconds for r in records), "exchange": exchange}
            print("line " + json.dumps(line), flush=True)


def launched(shape: str, ranks: int, count: int) -> dict[str, Any]:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), __file__]
    own = {**os.environ, "OMP_NUM_THREADS": "1"}
    words = ["--here", "--shape", shape, "--steps", str(count)]
    done = subprocess.run([*launch, *words], capture_output=True, text=True, check=True, env=own)
    line = next(text for text in done.stdout.splitlines() if text.startswith("line "))
    return dict(json.loads(line.removeprefix("line ")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=list(SHAPES), default="wiki-cs-shape")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        steps(asked.shape, asked.steps)
        return
    rates: dict[int, list[float]] = {1: [], asked.ranks: []}
    for _ in range(asked.rounds):
        for ranks in rates:
            found = launched(asked.shape, ranks, asked.steps)
            rates[ranks].append(ranks / found["seconds"])
            print(json.dumps({"shape": asked.shape, **found, "hardware": described()}), flush=True)
    ratio = median(rates[asked.ranks]) / median(rates[1])
    print(json.dumps({"shape": asked.shape, "ranks": asked.ranks, "throughput_ratio": round(ratio, 3)}), flush=True)


if __name__ == "__main__":
    main()
