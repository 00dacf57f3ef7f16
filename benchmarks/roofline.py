"""How near each part of a step is to what the machine allows: JSON lines.

    python benchmarks/roofline.py [--graph actor wiki-cs-shape coauthor-cs-shape] [--preset auto] [--rounds 9]
        [--device cuda]

First the machine's own rates: a float32 matrix product of 2048 x 2048 and a copy of 256 MiB. Then for each part,
forward and backward together: ``flops`` and ``bytes`` that it needs (every matrix read and written once, whatever
the cache does), the time these take at the machine's rates (the larger of both), and the time measured. ``times`` is
measured over needed. For sparse products ``gathered`` counts a row of the dense matrix for every stored entry, as a
gather moves them; ``times_gathered`` is measured over that.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from hardware import described, gemm_rate, seconds, stream_rate
from shapes import graph_named

from paretognn.allocator import keep_freed_memory
from paretognn.methods import method_config
from paretognn.nn import GCN
from paretognn.nn.features import FeatureStore
from paretognn.nn.sparse import Csr
from paretognn.pretext import info_nce
from paretognn.pretext.reconstruction import cosines
from paretognn.sampling import Augmentation, augment
from paretognn.training.multitask import MultiTaskModel, MultiTaskStepper
from paretognn.training.prepare import prepare

FLOAT = 4


@dataclass
class Part:
    """A piece of work and what it needs; ``gathered`` bytes for sparse products."""

    name: str
    kind: str
    run: Callable[[], Any]
    flops: float
    bytes: float
    gathered: float | None = None


def parts(name: str, preset: str, device: str) -> Iterator[Part]:
    graph = graph_named(name)
    config, _ = method_config(graph, preset=preset)
    prepared, _ = prepare(graph, config.features, device)
    generator = torch.Generator(device).manual_seed(0)
    sampler: Any = config.tasks["rep_decor"]
    subgraph = sampler.sampler.sample(prepared, generator)
    view = augment(subgraph, Augmentation(edge_drop=0.2), generator)
    torch.manual_seed(0)
    encoder = GCN(prepared.features.width, config.encoder).to(device)
    adjacency, store = view.adjacencies[0], view.features.store
    rows, wide, width = view.num_rows, *config.encoder.hidden_dims
    columns = store.width
    upstream = torch.ones(rows, wide, device=device)

    for size in (wide, width):
        h = torch.randn(rows, size, device=device, requires_grad=True)
        yield _sparse(f"adjacency product, width {size}", adjacency, h)
    weight = encoder.weights[0]
    if store.sparse is not None:
        yield _sparse(f"features product, width {wide}", store.sparse, weight)
    else:
        x = store.dense
        yield Part(
            "features product, dense",
            "dense",
            lambda: torch.autograd.grad(x @ weight, weight, upstream),
            2 * 2 * rows * columns * wide,
            FLOAT * (2 * rows * columns + 3 * rows * wide + 2 * columns * wide),
        )
    yield _reconstruction(store.take(torch.arange(0, rows, 2, device=device)), width)
    h = torch.randn(rows, wide, device=device, requires_grad=True)
    second, narrow = encoder.weights[1], torch.ones(rows, width, device=device)
    yield Part(
        f"layer product {wide} to {width}",
        "dense",
        lambda: torch.autograd.grad(h @ second, (h, second), narrow),
        3 * 2 * rows * wide * width,
        FLOAT * (3 * rows * wide + 3 * rows * width + 3 * wide * width),
    )
    finish = [h, *encoder.norms[0].parameters(), *encoder.activations[0].parameters()]
    yield Part(
        f"batch norm and PReLU, width {wide}",
        "memory",
        lambda: torch.autograd.grad(encoder.finish(h, 0), finish, upstream),
        0,
        # Forward: read, write. Backward: the upstream gradient and the input read, one gradient written.
        FLOAT * 5 * rows * wide,
    )
    contrast: Any = config.tasks["mi_nsg"]
    anchors = rows if isinstance(contrast.contrast, str) else min(rows, contrast.contrast)
    views = [torch.randn(anchors, width, device=device, requires_grad=True) for _ in range(2)]
    yield Part(
        f"contrast of {anchors:,} nodes",
        "dense",
        lambda: torch.autograd.grad(info_nce(*views, 0.1), views),
        # The symmetric half of W W^T, and the whole of C W.
        3 * (2 * anchors) ** 2 * width,
        FLOAT * 4 * anchors * width,
    )
    model = MultiTaskModel(config, prepared.features.width, encoder).to(device)
    stepper = MultiTaskStepper(model, prepared, config)
    stepper.step()
    parameters = sum(p.numel() for p in stepper.shared)
    tasks = len(stepper.names)
    yield Part("Gram matrix", "memory", stepper._gram, 2 * tasks**2 * parameters, FLOAT * tasks * parameters)
    stepped = sum(p.numel() for p in model.parameters() if p.grad is not None)
    yield Part("AdamW", "memory", stepper.optimizer.step, 0, FLOAT * 7 * stepped)


def _reconstruction(features: FeatureStore, width: int) -> Part:
    """The cosines of half of the nodes, which are masked, with the features that are decoded for them."""
    rows, columns = features.num_rows, features.width
    decoder = torch.randn(columns, width, device=features.device, requires_grad=True)
    hidden = torch.randn(rows, width, device=features.device, requires_grad=True)
    stored = rows * columns if features.sparse is None else features.sparse.nnz
    return Part(
        "feature reconstruction, cosines",
        "dense",
        lambda: torch.autograd.grad(cosines(hidden, decoder, features).square().sum(), (hidden, decoder)),
        # V^T V and H (V^T V), for the gradients H^T H and V (H^T H); X V and its gradient.
        4 * (columns + rows) * width**2 + 4 * stored * width,
        FLOAT * (5 * columns * width + 5 * rows * width + stored),
    )


def _sparse(name: str, matrix: Csr, dense: torch.Tensor) -> Part:
    n, m, d = *matrix.shape, dense.shape[1]
    upstream = torch.ones(n, d, device=dense.device)
    matrix.transpose()
    return Part(
        name,
        "sparse",
        lambda: torch.autograd.grad(matrix @ dense, dense, upstream),
        4 * matrix.nnz * d,
        2 * FLOAT * ((n + m) * d + 2 * matrix.nnz),
        2 * FLOAT * (matrix.nnz * (d + 2) + (n + m) / 2 * d),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", nargs="+", default=["actor", "wiki-cs-shape", "coauthor-cs-shape"])
    parser.add_argument("--preset", default="auto")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    asked = parser.parse_args()
    keep_freed_memory()
    gemm, stream = gemm_rate(device=asked.device), stream_rate(device=asked.device)
    rates = {"gemm_gflops": round(gemm / 1e9, 1), "stream_gb_per_s": round(stream / 1e9, 1)}
    print(json.dumps({"rates": rates, "hardware": described(asked.device)}), flush=True)
    for name in asked.graph:
        for part in parts(name, asked.preset, asked.device):
            measured = seconds(part.run, asked.rounds)
            needed = max(part.flops / gemm, part.bytes / stream)
            line = {
                "graph": name,
                "part": part.name,
                "kind": part.kind,
                "mflops": round(part.flops / 1e6, 1),
                "mbytes": round(part.bytes / 1e6, 1),
                "needed_ms": round(1e3 * needed, 2),
                "measured_ms": round(1e3 * measured, 2),
                "times": round(measured / needed, 2),
            }
            if part.gathered is not None:
                line["gathered_mbytes"] = round(part.gathered / 1e6, 1)
                line["times_gathered"] = round(measured / max(part.flops / gemm, part.gathered / stream), 2)
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
