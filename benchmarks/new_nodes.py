"""What a node that joins after training loses: a JSON line a graph and method.

    python benchmarks/new_nodes.py --graphs citeseer digits reed98 > benchmarks/results/recipe/new_nodes.jsonl

A tenth of the nodes is held out. Their class is told by a probe from the embeddings of other nodes, once where the
model was trained on the graph without them and embeds them as new nodes, once where it was trained on the whole graph.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np
from hardware import described
from shapes import graph_named

from paretognn.downstream.labels import encode_labels
from paretognn.downstream.node_classification import classify
from paretognn.graph import Graph, Split
from paretognn.graph.region import induced_graph
from paretognn.methods import method_config
from paretognn.training import TrainedEncoder, train
from paretognn.training.assembly import Assembly, AssemblySettings


def encoder_alone(trained: TrainedEncoder) -> TrainedEncoder:
    return replace(trained, assembly=Assembly(AssemblySettings(), {}))


def splits_of(codes: np.ndarray, new: np.ndarray, seeds: int) -> list[Split]:
    """A tenth of the labelled nodes to learn from and a tenth to choose by, none of them new; the new ones to test."""
    labelled = np.flatnonzero(codes >= 0)
    known, asked = np.setdiff1d(labelled, new), np.intersect1d(labelled, new)
    tenth = len(labelled) // 10
    drawn = (np.random.default_rng(seed).permutation(known) for seed in range(seeds))
    return [Split(order[:tenth], order[tenth : 2 * tenth], asked) for order in drawn]


def study(graph: Graph, steps: int, seeds: int) -> list[dict[str, object]]:
    graph = graph.replace(ids=graph.id_array())
    codes, _ = encode_labels(graph.labels)
    new = np.sort(np.random.default_rng(0).permutation(graph.num_nodes)[: graph.num_nodes // 10])
    known = np.setdiff1d(np.arange(graph.num_nodes), new)
    before = induced_graph(graph, known)
    config, _ = method_config(before, "best", overrides={"steps": steps})
    (joined, _), (whole, _) = (train(each, config) for each in (before, graph))
    splits, lines = splits_of(codes, new, seeds), []
    for method, made in (("best", lambda trained: trained), ("paretognn", encoder_alone)):
        later = made(joined).embed(graph)
        later[known] = made(joined).embed(before)
        scores = (classify(rows, codes, splits) for rows in (later, made(whole).embed(graph)))
        accuracy = [round(100 * (score.mean or 0.0), 1) for score in scores]
        lines.append({"method": method, "new nodes": accuracy[0], "trained with them": accuracy[1]})
    joined_to_known = int(np.count_nonzero(np.diff(graph.adjacency()[new][:, known].indptr)))
    return [{**line, "nodes": len(new), "joined to a known one": joined_to_known} for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", default=["citeseer", "digits", "reed98"])
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--seeds", type=int, default=10, help="evaluation seeds")
    asked = parser.parse_args()
    for name in asked.graphs:
        facts = {"steps": asked.steps, "evaluation_seeds": asked.seeds, "hardware": described()}
        for line in study(graph_named(name), asked.steps, asked.seeds):
            print(json.dumps({"graph": name, **line, **facts}), flush=True)


if __name__ == "__main__":
    main()
