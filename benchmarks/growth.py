"""Step time and memory as one size of the graph or of the model grows: JSON lines.

    python benchmarks/growth.py [--steps 5] [--only nodes degree features width]

Synthetic graphs at the fixed sub-graph sizes of the preset ``auto``; each line a process of its own. ``memory``
is what training takes above the loaded graph; ``graph_gib`` is what the process holds with the graph loaded.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from shapes import SHAPES, Shape
from step import measure

BASE = {"nodes": 100_000, "pairs": 500_000, "features": 128}
GROWTH: dict[str, list[tuple[dict[str, int], list[str]]]] = {
    "nodes": [({"nodes": n, "pairs": 5 * n}, []) for n in (10_000, 100_000, 1_000_000)],
    "degree": [({"pairs": p}, []) for p in (250_000, 1_000_000, 4_000_000)],
    "features": [({"features": d}, []) for d in (64, 256, 1024)],
    "width": [({}, [f"encoder.hidden_dims=[{2 * d}, {d}]"]) for d in (64, 128, 256, 512)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(GROWTH), default=list(GROWTH))
    parser.add_argument("--here", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        sizes, settings = json.loads(asked.here)
        SHAPES["grown"] = Shape(**sizes)
        print(json.dumps({**sizes, **measure("grown", "auto", asked.steps, settings, "cpu")}))
        return
    for axis in asked.only:
        for change, settings in GROWTH[axis]:
            here = json.dumps([{**BASE, **change}, settings])
            command = [sys.executable, __file__, "--here", here, "--steps", str(asked.steps)]
            line: dict[str, Any] = json.loads(
                subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            )
            print(json.dumps({"grows": axis, **line}), flush=True)


if __name__ == "__main__":
    main()
