"""What the blocks of `best` take on a large graph, apart from training: a JSON line.

    python benchmarks/positions.py --nodes 1000000 > benchmarks/results/recipe/positions.jsonl

The graph is random, with five edges a node, and so is what stands for the encoder's output: the leading components of
that, the positions and the degrees are fitted, and an embedding is put together.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch
from hardware import described

from paretognn.graph import build_graph
from paretognn.methods import method_config
from paretognn.training.assembly import Assembly
from paretognn.training.memory import peak_memory
from paretognn.training.prepare import prepare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    asked = parser.parse_args()
    draw, n = np.random.default_rng(0), asked.nodes
    ends = draw.integers(0, n, (2, 5 * n))
    graph = build_graph(n, *ends, features=draw.standard_normal((n, 8)).astype(np.float32))
    config, _ = method_config(graph, "best")
    placed, _ = prepare(graph, "none", "cpu")
    encoded = torch.randn(n, 256, generator=torch.Generator().manual_seed(0))
    before, started = peak_memory(), time.perf_counter()
    fitted = Assembly.fit(config.assembly, encoded, graph, placed, 0)
    middle = time.perf_counter()
    rows = fitted(encoded, graph, placed)
    line = {
        "nodes": n,
        "edges": graph.num_edges,
        "columns": rows.shape[1],
        "fit_seconds": round(middle - started, 1),
        "embed_seconds": round(time.perf_counter() - middle, 1),
        "before_gib": round(before / 2**30, 2),
        "peak_gib": round(peak_memory() / 2**30, 2),
        "hardware": described(),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
