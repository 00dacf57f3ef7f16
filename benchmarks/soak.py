"""Resident memory over a long run on a small graph, a JSON line a method on standard output.

    python benchmarks/soak.py [--steps 2000] [--methods paretognn,bgrl]

``rss`` is in MiB at every tenth of the run; ``growth`` is that of the last half over the first tenth, which is to be
flat: what a step takes it gives back. Each method in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from typing import Any

METHODS = ("paretognn", "bgrl", "autossl", "mvgrl")


def soak(method: str, steps: int) -> dict[str, Any]:
    import psutil

    from paretognn.allocator import keep_freed_memory
    from paretognn.datasets.digits import read_digits
    from paretognn.methods import method_config
    from paretognn.training import EachStep, RunFolder, train
    from paretognn.training.multitask import StepRecord

    keep_freed_memory()
    graph = read_digits()
    own = {"steps": steps, "encoder": {"hidden_dims": [32, 16]}, "sampler": {"name": "saint-node", "seeds": 100}}
    config, _ = method_config(graph, method, "quick", {**own, "checkpoint": {"every_steps": 100}})
    rss: list[float] = []

    def report(record: StepRecord) -> None:
        if record.step % max(1, steps // 10) == 0:
            rss.append(round(psutil.Process().memory_info().rss / 2**20, 1))

    with tempfile.TemporaryDirectory() as name:
        train(graph, config, folder=RunFolder(name), trackers=[EachStep(report)])
    growth = max(rss[len(rss) // 2 :]) / rss[0] - 1
    return {"method": method, "steps": steps, "rss": rss, "growth": round(growth, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--method", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.method:
        print(json.dumps(soak(given.method, given.steps)))
        return
    for method in given.methods.split(","):
        command = [sys.executable, __file__, "--steps", str(given.steps), "--method", method]
        print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
