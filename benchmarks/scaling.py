"""What each stage takes on graphs that are kept on disk, as they grow: a JSON line for each size.

    python benchmarks/scaling.py --work FOLDER [--nodes 100000 1000000] [--degree 10] [--features 100] [--steps 50]
    python benchmarks/scaling.py --work FOLDER --nodes 2449029 --edges 62800000 --preset paper --name ogbn-products

Tables by ``big_graph.py``, then the commands `import`, `train`, `embed` and `evaluate` (one seed), each a process of
its own that says what it took: seconds, memory of its own (``private``) and pages of mapped files beside it. FOLDER
needs about 20 GB for the shape of ogbn-products, 70 GB for 10 million nodes; what is there is used again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from big_graph import make
from hardware import described


def command(*words: str, work: Path) -> dict[str, Any]:
    started = time.monotonic()
    own = {**os.environ, "TMPDIR": str(work)}
    done = subprocess.run(
        [sys.executable, "-m", "paretognn", *words, "--json"], stdout=subprocess.PIPE, text=True, check=True, env=own
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    gib = {part: round(answer[f"{part}_bytes"] / 2**30, 2) for part in ("private", "mapped")}
    return {"seconds": round(time.monotonic() - started, 1), **{f"{part}_gib": size for part, size in gib.items()}}


def measure(nodes: int, edges: int, asked: argparse.Namespace) -> dict[str, Any]:
    work: Path = asked.work
    tables = work / f"tables-{nodes}-{edges}-{asked.features}"
    if not (tables / "complete").exists():
        make(nodes, edges, asked.features, tables)
        (tables / "complete").touch()
    # A preset of the paper's is found by the data set's name, which is that of the node table.
    named = tables / asked.name
    if not named.exists():
        named.symlink_to(tables / "nodes")
    store, run = work / f"store-{nodes}-{edges}", work / f"run-{nodes}-{edges}"
    for old in (store, run):
        shutil.rmtree(old, ignore_errors=True)
    stages = {
        "import": command(
            "import", "--nodes", str(named), "--edges", str(tables / "edges"), "--out", str(store), work=work
        )
    }
    words = ["--method", "paretognn", "--preset", asked.preset, "--steps", str(asked.steps)]
    stages["train"] = command("train", "--graph", str(store), "--out", str(run), *words, work=work)
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    stages["embed"] = command("embed", str(run), "--out", str(work / "embeddings.parquet"), work=work)
    stages["evaluate"] = command("evaluate", str(run), "--seeds", "1", work=work)
    kept = json.loads((store / "store.json").read_text())["summary"]
    return {
        "nodes": nodes,
        "edges": kept["edges"],
        "features": asked.features,
        "preset": asked.preset,
        "steps": asked.steps,
        "step_seconds": round(sorted(row["seconds"] for row in rows)[len(rows) // 2], 3),
        "store_gib": round(sum(file.stat().st_size for file in store.iterdir()) / 2**30, 2),
        **stages,
        "hardware": described(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--edges", type=int, help="rows of the edge table; default --degree / 2 a node")
    parser.add_argument("--degree", type=int, default=10)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--preset", default="auto")
    parser.add_argument("--name", default="made")
    asked = parser.parse_args()
    for nodes in asked.nodes:
        print(json.dumps(measure(nodes, asked.edges or nodes * asked.degree // 2, asked)), flush=True)


if __name__ == "__main__":
    main()
