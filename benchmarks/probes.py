"""What the tolerance of the probes costs and changes: a JSON line on standard output for each graph and tolerance.

    python benchmarks/probes.py --graphs cora chameleon [--embeddings smoothed-features] [--seeds 10]

The embeddings are those of a training-free control. 1e-6 goes with float64 throughout, 1e-4 is what the evaluation
does: links in float32.
"""

from __future__ import annotations

import argparse
import json

from hardware import described
from shapes import graph_named

from paretognn.downstream import evaluate_embeddings, link_prediction, metis_partition, probe, split_links
from paretognn.methods import control_embeddings, method_config

TASKS = ("node_classification", "link_prediction", "partition_prediction")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", default=["cora", "chameleon"])
    parser.add_argument("--embeddings", default="smoothed-features")
    parser.add_argument("--seeds", type=int, default=10, help="evaluation seeds")
    asked = parser.parse_args()
    single = link_prediction.SINGLE_PRECISION_ABOVE
    for name in asked.graphs:
        graph = graph_named(name)
        config, _ = method_config(graph)
        split, partition = split_links(graph, 0), metis_partition(graph)
        points, linked = (
            control_embeddings(asked.embeddings, each, config) for each in (graph, split.train_graph(graph))
        )
        for tolerance, float32_above in ((1e-6, 2**40), (1e-4, single)):
            probe.PROBE_TOLERANCE = link_prediction.PROBE_TOLERANCE = tolerance
            link_prediction.SINGLE_PRECISION_ABOVE = float32_above
            found = evaluate_embeddings(
                points, graph, tasks=TASKS, seeds=asked.seeds, link=(linked, split), partition=partition
            )
            line = {
                "graph": name,
                "embeddings": asked.embeddings,
                "tolerance": tolerance,
                "scores": {task: round(100 * (found.tasks[task].mean or 0.0), 3) for task in TASKS},
                "seconds": {task: found.seconds[task] for task in TASKS},
                "evaluation_seeds": asked.seeds,
                "hardware": described(),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
