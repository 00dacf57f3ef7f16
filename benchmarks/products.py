"""Ways to multiply a sparse matrix by a dense one on a CPU, forward and backward: a JSON line for each width.

    python benchmarks/products.py [--width 64 128 256 512] [--rounds 7]

``adjacency``: the normalised adjacency of the Wiki-CS shape (symmetric). ``features``: the sparse features of the
Coauthor-CS shape, where backward is the weight's gradient. Milliseconds, the fastest of the rounds. ``ours`` is
`paretognn.nn.sparse.Csr`: embedding_bag both ways, with the matrix itself (symmetric) or its transpose, made once.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import torch
from hardware import described, seconds
from shapes import SHAPES
from torch import Tensor
from torch.nn import functional as F

from paretognn.allocator import keep_freed_memory
from paretognn.nn import FeatureScaling, FeatureStore
from paretognn.nn.sparse import Csr
from paretognn.sampling import DeviceGraph
from paretognn.sampling.normalise import normalised


def ways(matrix: Csr) -> dict[str, Callable[[Tensor], Tensor]]:
    csr = torch.sparse_csr_tensor(matrix.indptr.long(), matrix.indices.long(), matrix.values, matrix.shape)
    row, column = matrix.row_of_entry(), matrix.indices.long()

    def bag(x: Tensor) -> Tensor:
        return F.embedding_bag(
            matrix.indices, x, matrix.indptr, mode="sum", per_sample_weights=matrix.values, include_last_offset=True
        )

    def scatter(x: Tensor) -> Tensor:
        return x.new_zeros(matrix.shape[0], x.shape[1]).index_add(0, row, x[column] * matrix.values[:, None])

    return {
        "ours": lambda x: matrix @ x,
        "embedding_bag, autograd": bag,
        "torch.sparse.mm": lambda x: torch.sparse.mm(csr, x),
        "csr @": lambda x: csr @ x,
        "index_add": scatter,
    }


def measure(kind: str, matrix: Csr, width: int, rounds: int) -> dict[str, object]:
    x = torch.randn(matrix.shape[1], width, requires_grad=True)
    upstream = torch.randn(matrix.shape[0], width)
    times: dict[str, dict[str, float]] = {}
    for name, product in ways(matrix).items():
        few = 2 if name == "index_add" else rounds
        with torch.no_grad():
            forward = seconds(lambda product=product: product(x), few)
        both = seconds(lambda product=product: torch.autograd.grad(product(x), x, upstream), few)
        times[name] = {"forward": round(1e3 * forward, 2), "both": round(1e3 * both, 2)}
    if kind == "features":
        dense = matrix.to_dense()
        times["dense product"] = {
            "forward": round(1e3 * seconds(lambda: dense @ x.detach(), 2), 2),
            "both": round(1e3 * seconds(lambda: torch.autograd.grad(dense @ x, x, upstream), 2), 2),
        }
    return {
        "matrix": kind,
        "shape": matrix.shape,
        "entries": matrix.nnz,
        "width": width,
        "milliseconds": times,
        "hardware": described(),
        "when": time.strftime("%Y-%m-%d"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", nargs="+", type=int, default=[64, 128, 256, 512])
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    keep_freed_memory()
    wiki, coauthor = SHAPES["wiki-cs-shape"].make(), SHAPES["coauthor-cs-shape"].make()
    store = FeatureStore.scaled(coauthor.features, FeatureScaling.fit(coauthor.features, "standardise"))
    graph = DeviceGraph.from_graph(wiki, store)
    matrices = {"adjacency": normalised(graph.indptr, graph.indices, graph.weights), "features": store.sparse}
    for kind, matrix in matrices.items():
        assert matrix is not None
        for width in asked.width:
            print(json.dumps(measure(kind, matrix, width, asked.rounds)), flush=True)


if __name__ == "__main__":
    main()
