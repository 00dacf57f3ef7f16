"""Time of a training step by task and stage, and its peak memory, as JSON lines on standard output.

    python benchmarks/step.py [--graph wiki-cs-shape ...] [--preset paper auto] [--steps 5] [--set KEY=VALUE ...]

One process a line. ``seconds`` is the median step, after two steps of warm-up; ``stages`` is the median of each
stage. ``memory`` is what the process reached above what it held with the graph loaded, before training.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from typing import Any

from hardware import described, forget_peak


def measure(name: str, preset: str, steps: int, assignments: list[str], device: str) -> dict[str, Any]:
    import torch
    from shapes import graph_named

    from paretognn.allocator import keep_freed_memory
    from paretognn.methods import method_config
    from paretognn.training.config import parse_assignments
    from paretognn.training.frozen import build_encoder
    from paretognn.training.memory import peak_memory
    from paretognn.training.multitask import MultiTaskModel, MultiTaskStepper
    from paretognn.training.prepare import prepare

    keep_freed_memory()
    graph = graph_named(name)
    held = forget_peak()
    overrides = parse_assignments(assignments)
    config, _ = method_config(graph, preset=preset, overrides=overrides)
    prepared, _ = prepare(graph, config.features, device)
    model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width)).to(device)
    stepper = MultiTaskStepper(model, prepared, config, synchronise=device == "cuda")
    stepper.step()
    stepper.step()
    records = [stepper.step() for _ in range(steps)]
    memory = {
        "graph_gib": round(held / 2**30, 2),
        "process_gib": round((peak_memory() - held) / 2**30, 2),
    }
    if device == "cuda":
        memory["device_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
    stages = {
        stage: round(statistics.median(r.stage_seconds.get(stage, 0.0) for r in records), 4)
        for stage in records[0].stage_seconds
    }
    return {
        "graph": name,
        "preset": preset,
        "set": assignments,
        "seconds": round(statistics.median(r.seconds for r in records), 4),
        "fastest": round(min(r.seconds for r in records), 4),
        "steps": steps,
        "stages": stages,
        "memory": memory,
        "hardware": described(device),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", nargs="+", default=["actor", "wiki-cs-shape", "coauthor-cs-shape"])
    parser.add_argument("--preset", nargs="+", default=["paper", "auto"])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print(json.dumps(measure(asked.graph[0], asked.preset[0], asked.steps, asked.set, asked.device)))
        return
    for name in asked.graph:
        for preset in asked.preset:
            command = [sys.executable, __file__, "--here", "--graph", name, "--preset", preset]
            command += ["--steps", str(asked.steps), "--device", asked.device]
            command += [part for text in asked.set for part in ("--set", text)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            print(done.stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
