"""Estimated against measured peak memory of training, one process a shape, as JSON lines on standard output.

    python benchmarks/memory.py [--steps 3] [--data-root DATA]

Each shape is a made graph, or with a folder of the public data sets one of them; ``ratio`` is estimate over measured
peak resident memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from typing import Any

SHAPES: list[dict[str, Any]] = [
    {"nodes": 2_000, "pairs": 8_000, "features": 500, "density": 1.0, "preset": "auto"},
    {"nodes": 3_000, "pairs": 6_000, "features": 3_000, "density": 0.01, "preset": "auto"},
    {"nodes": 12_000, "pairs": 216_000, "features": 300, "density": 1.0, "preset": "auto"},
    {"nodes": 18_000, "pairs": 82_000, "features": 6_800, "density": 0.009, "preset": "auto"},
    {"nodes": 200_000, "pairs": 1_200_000, "features": 128, "density": 1.0, "preset": "auto"},
    {"nodes": 7_600, "pairs": 26_000, "features": 930, "density": 0.006, "preset": "paper"},
]

PUBLIC: list[dict[str, Any]] = [
    {"dataset": dataset, "method": method, "preset": "auto"}
    for dataset, method in (
        ("cora", "bgrl"),
        ("cora", "topo-rec"),
        ("chameleon", "autossl"),
        ("actor", "grace"),
        ("citeseer", "graphmae"),
        ("amazon-photo", "mvgrl"),
        ("amazon-photo", "paretognn"),
        ("amazon-computers", "cca-ssg"),
    )
]
"""Measured with ``--data-root``."""


def made(shape: dict[str, Any]) -> Any:
    import numpy as np
    import scipy.sparse as sp

    from paretognn.graph import build_graph

    rng = np.random.default_rng(0)
    n, d = shape["nodes"], shape["features"]
    features: Any
    if shape["density"] < 1:
        features = sp.csr_array(sp.random_array((n, d), density=shape["density"], rng=rng, dtype=np.float32))
    else:
        features = rng.standard_normal((n, d), dtype=np.float32)
    ends = rng.integers(n, size=(2, shape["pairs"]))
    return build_graph(n, ends[0], ends[1], features=features)


def measure(shape: dict[str, Any], steps: int, data_root: str | None) -> dict[str, Any]:
    from paretognn.allocator import keep_freed_memory
    from paretognn.datasets import load_dataset
    from paretognn.methods import method_config
    from paretognn.training import train
    from paretognn.training.memory import estimate

    graph = load_dataset(shape["dataset"], data_root) if "dataset" in shape else made(shape)
    method = shape.get("method", "paretognn")
    config, _ = method_config(graph, method, preset=shape["preset"], overrides={"steps": steps})
    keep_freed_memory()
    train(graph, config)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    needed = estimate(graph, config)
    return {**shape, "steps": steps, "peak_bytes": peak, "estimate_bytes": needed, "ratio": round(needed / peak, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--data-root")
    parser.add_argument("--shape", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.shape:
        print(json.dumps(measure(json.loads(arguments.shape), arguments.steps, arguments.data_root)))
        return
    root = [] if arguments.data_root is None else ["--data-root", arguments.data_root]
    for shape in [*SHAPES, *(PUBLIC if root else [])]:
        command = [sys.executable, __file__, "--steps", str(arguments.steps), *root, "--shape", json.dumps(shape)]
        print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
