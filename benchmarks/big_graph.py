"""A made graph of any size as tables: communities, a heavy-tailed degree distribution, features around a centre each.

    python benchmarks/big_graph.py --nodes 2449029 --edges 62800000 --features 100 --out FOLDER

Writes FOLDER/nodes/*.parquet and FOLDER/edges/*.parquet, piece by piece. The default is the shape of ogbn-products:
of its rows some repeat others, and about 62 million edges are left.
Degrees are those of a Chung-Lu graph whose weights have the tail of a log-normal (sigma 1), as products' have about;
four of five edges stay inside a community.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PIECE = 1 << 20
COMMUNITY = 5000


def make(nodes: int, edges: int, features: int, out: Path, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    shutil.rmtree(out, ignore_errors=True)
    (out / "nodes").mkdir(parents=True)
    (out / "edges").mkdir()
    communities = max(1, nodes // COMMUNITY)
    ids = 10**9 + rng.permutation(nodes)
    classes = 47
    centres = rng.standard_normal((classes, features), dtype=np.float32)
    # Nodes of a community follow one another; the ids say nothing of it.
    bounds = np.linspace(0, nodes, communities + 1).astype(np.int64)
    kind = rng.integers(0, classes, communities)
    community = np.searchsorted(bounds, np.arange(nodes), side="right") - 1
    for place, start in enumerate(range(0, nodes, PIECE // 4)):
        rows = slice(start, min(start + PIECE // 4, nodes))
        label = kind[community[rows]]
        values = centres[label] + 2 * rng.standard_normal((len(label), features), dtype=np.float32)
        columns = {"id": ids[rows], **{f"x{j}": values[:, j] for j in range(features)}, "label": label}
        pq.write_table(pa.table(columns), out / "nodes" / f"{place:05d}.parquet", compression="none")
    weight = np.cumsum(np.exp(rng.standard_normal(nodes)))
    offsets = np.concatenate([[0.0], weight])
    written, place = 0, 0
    while written < edges:
        count = min(4 * PIECE, edges - written)
        source = np.searchsorted(weight, rng.random(count) * weight[-1])
        inside = rng.random(count) < 0.8
        low, high = offsets[bounds[community[source]]], offsets[bounds[community[source] + 1]]
        draw = rng.random(count)
        target = np.searchsorted(weight, np.where(inside, low + draw * (high - low), draw * weight[-1]))
        ends = {"source": ids[np.minimum(source, nodes - 1)], "target": ids[np.minimum(target, nodes - 1)]}
        pq.write_table(pa.table(ends), out / "edges" / f"{place:05d}.parquet")
        written, place = written + count, place + 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=2_449_029)
    parser.add_argument("--edges", type=int, default=62_800_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    make(asked.nodes, asked.edges, asked.features, asked.out, asked.seed)
