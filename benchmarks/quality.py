"""Scores along a training run, against steps and seconds: a JSON line on standard output for every mark.

    python benchmarks/quality.py --graph cora --preset auto --marks 25 50 100 200 500 --folder F [--set KEY=VALUE ...]

One model is trained, on the graph without validation and test links, and judged on all four tasks, so that a
curve costs one training. Its scores lie a little below those of `paretognn evaluate`, whose node, cluster and
partition scores come from a model that saw every link. ``seconds`` is the time of the steps up to the mark.
``plateau`` is the step with which early stopping (``stopping.name=plateau``, as it is by default) would have ended the
run by then, or null.

A folder that holds a part of the run is continued; marks that it has scored are printed as they were.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from hardware import described
from shapes import graph_named

from paretognn.allocator import keep_freed_memory
from paretognn.downstream import evaluate_embeddings, metis_partition, split_links
from paretognn.methods import method_config
from paretognn.training import RunFolder, train
from paretognn.training.config import parse_assignments
from paretognn.training.metrics import read_metrics
from paretognn.training.stopping import Plateau, StoppingSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", required=True)
    parser.add_argument("--method", default="paretognn")
    parser.add_argument("--preset", default="auto")
    parser.add_argument("--marks", nargs="+", type=int, default=[25, 50, 100, 200, 500])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--seeds", type=int, default=3, help="evaluation seeds")
    parser.add_argument("--folder", type=Path, required=True)
    asked = parser.parse_args()
    keep_freed_memory()
    graph = graph_named(asked.graph)
    overrides = parse_assignments(asked.set)
    config, _ = method_config(graph, method=asked.method, preset=asked.preset, overrides=overrides)
    split = split_links(graph, config.seed)
    seen = split.train_graph(graph)
    partition = metis_partition(graph)
    run = RunFolder(asked.folder)
    asked.folder.mkdir(parents=True, exist_ok=True)
    for steps in sorted(asked.marks):
        kept = asked.folder / f"scores-{steps}.json"
        if not kept.exists():
            marked = config.model_copy(update={"steps": steps})
            resume = run.exists()
            run.write_config(marked)
            _, embeddings = train(seen, marked, folder=run, resume=resume)
            rows = [row["seconds"] for row in read_metrics(run.metrics_file) if row["step"] <= steps]
            scores = evaluate_embeddings(
                embeddings, graph, seeds=asked.seeds, link=(embeddings, split), partition=partition
            )
            line = {
                "graph": asked.graph,
                "method": asked.method,
                "preset": asked.preset,
                "set": asked.set,
                "steps": steps,
                "seconds": round(sum(rows), 1),
                "median_step": round(sorted(rows)[len(rows) // 2], 4),
                "scores": {name: round(100 * (s.mean or 0.0), 2) for name, s in scores.tasks.items()},
                "average": round(100 * (scores.average or 0.0), 2),
                "evaluation_seeds": asked.seeds,
                "training_seeds": 1,
                "hardware": described(),
            }
            kept.write_text(json.dumps(line), encoding="utf-8")
        line = json.loads(kept.read_text(encoding="utf-8"))
        print(json.dumps({**line, "plateau": plateau(run, steps)}), flush=True)


def plateau(run: RunFolder, steps: int) -> int | None:
    rule = Plateau(StoppingSettings(name="plateau"))
    rows = (row for row in read_metrics(run.metrics_file) if row["step"] <= steps)
    return next((row["step"] for row in rows if rule.reached(row["losses"])), None)


if __name__ == "__main__":
    main()
