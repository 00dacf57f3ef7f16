"""One encoding and one contrast, forward and backward, beside the same work in PyTorch Geometric: JSON lines.

    python benchmarks/pyg.py [--graph actor wiki-cs-shape coauthor-cs-shape] [--rounds 15] [--device cuda]

All see the same sub-graph (``walks`` and ``topology``: those of the preset ``auto`` for most tasks and for topology
reconstruction; ``whole``: the whole graph), the same widths, batch norm and PReLU, and start from the
same weights; the largest difference of their outputs is printed. ``edge_index``: GCNConv as it is mostly written,
normalising in every call. ``csr``: GCNConv with a torch CSR ``adj_t`` whose normalisation was made once. Both take
dense features, as GCNConv does. ``dense contrast``: InfoNCE from whole similarity matrices.

The rounds go in turns through all of them; a time is the median over the rounds, a ratio the median of the rounds'
ratios. The time to draw the sub-graph and to build the view or the adjacency is in none of them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from hardware import described
from shapes import graph_named
from torch import Tensor, nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_torch_csr_tensor

from paretognn.allocator import keep_freed_memory
from paretognn.methods import method_config
from paretognn.nn import GCN
from paretognn.nn.norm import EPS
from paretognn.pretext import info_nce
from paretognn.sampling import Augmentation, augment, whole
from paretognn.training.prepare import prepare


class PyG(nn.Module):
    """The encoder of ``ours`` from PyG's layers."""

    def __init__(self, ours: GCN, normalise: bool) -> None:
        super().__init__()
        self.convolutions, self.norms, self.activations = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        for weight in ours.weights:
            convolution = GCNConv(*weight.shape, bias=False, normalize=normalise)
            convolution.lin.weight.data.copy_(weight.detach().T)
            self.convolutions.append(convolution)
            self.norms.append(nn.BatchNorm1d(weight.shape[1], eps=EPS))
            self.activations.append(nn.PReLU())

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        for convolution, norm, activation in zip(self.convolutions, self.norms, self.activations, strict=True):
            x = activation(norm(convolution(x, edges)))
        return x


def dense_info_nce(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    first, second = nn.functional.normalize(first, dim=1), nn.functional.normalize(second, dim=1)
    total = first.new_zeros(())
    for a, b in ((first, second), (second, first)):
        intra, inter = torch.exp(a @ a.T / temperature), torch.exp(a @ b.T / temperature)
        total = total - torch.log(inter.diagonal() / (intra.sum(1) - intra.diagonal() + inter.sum(1))).mean()
    return total / 2


def in_turns(runs: dict[str, Callable[[], Any]], rounds: int, device: str) -> dict[str, list[float]]:
    """Seconds of every round of every run, after two rounds of warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 2):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            if device == "cuda":
                torch.cuda.synchronize()
            if turn >= 2:
                taken[name].append(time.perf_counter() - started)
    return taken


def compared(taken: dict[str, list[float]], ours: str) -> dict[str, Any]:
    return {
        "milliseconds": {name: round(1e3 * statistics.median(times), 2) for name, times in taken.items()},
        "times_slower": {
            name: round(statistics.median(t / own for t, own in zip(times, taken[ours], strict=True)), 2)
            for name, times in taken.items()
            if name != ours
        },
    }


def encoders(name: str, which: str, rounds: int, device: str) -> dict[str, Any]:
    graph = graph_named(name)
    config, _ = method_config(graph)
    prepared, _ = prepare(graph, config.features, device)
    generator = torch.Generator(device).manual_seed(0)
    tasks: dict[str, Any] = {"walks": config.tasks["rep_decor"], "topology": config.tasks["topo_rec"]}
    subgraph = whole(prepared) if which == "whole" else tasks[which].sampler.sample(prepared, generator)
    view = augment(subgraph, Augmentation(edge_drop=0.2), generator)
    x = view.features.dense().contiguous()
    torch.manual_seed(0)
    ours = GCN(prepared.features.width, config.encoder).to(device)
    plain, cached = (PyG(ours, normalise).to(device) for normalise in (True, False))
    edge_index, adjacency = view.edge_index(), view.adjacencies[0]
    full = torch.stack([adjacency.indices.long(), adjacency.row_of_entry()])
    adj_t = to_torch_csr_tensor(full.flip(0), adjacency.values, size=adjacency.shape)
    difference = max(
        float((ours(view) - other).detach().abs().max()) for other in (plain(x, edge_index), cached(x, adj_t))
    )

    def both_ways(module: nn.Module, *given: Any) -> Callable[[], Any]:
        return lambda: torch.autograd.grad(module(*given).square().mean(), list(module.parameters()))

    runs = {
        "ours": both_ways(ours, view),
        "edge_index": both_ways(plain, x, edge_index),
        "csr": both_ways(cached, x, adj_t),
    }
    sizes = {"nodes": view.num_rows, "entries": adjacency.nnz, "features": x.shape[1]}
    sparse = prepared.features.sparse is not None
    return {
        "graph": name,
        "part": "encoder",
        "sub-graph": which,
        **sizes,
        "stored": "sparse" if sparse else "dense",
        "largest_difference": round(difference, 6),
        **compared(in_turns(runs, rounds, device), "ours"),
        "rounds": rounds,
        "hardware": described(device),
    }


def contrast(rows: int, rounds: int, device: str) -> dict[str, Any]:
    torch.manual_seed(0)
    views = [torch.randn(rows, 256, device=device, requires_grad=True) for _ in range(2)]
    runs = {
        "ours": lambda: torch.autograd.grad(info_nce(*views, 0.1), views),
        "dense contrast": lambda: torch.autograd.grad(dense_info_nce(*views, 0.1), views),
    }
    return {
        "part": "contrast",
        "rows": rows,
        **compared(in_turns(runs, rounds, device), "ours"),
        "rounds": rounds,
        "hardware": described(device),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", nargs="+", default=["actor", "wiki-cs-shape", "coauthor-cs-shape"])
    parser.add_argument("--rows", nargs="+", type=int, default=[512, 1024, 5120])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    asked = parser.parse_args()
    keep_freed_memory()
    for name in asked.graph:
        for which in ("walks", "topology", "whole"):
            print(json.dumps(encoders(name, which, asked.rounds, asked.device)), flush=True)
    for rows in asked.rows:
        print(json.dumps(contrast(rows, max(3, asked.rounds // 3), asked.device)), flush=True)


if __name__ == "__main__":
    main()
