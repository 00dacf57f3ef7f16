"""Time of the evaluation on made embeddings, as JSON on standard output.

    python benchmarks/evaluation.py [--nodes 20000] [--width 256] [--pairs 100000] [--classes 10] [--seeds 10]
        [--no-one-probe]

Under ``seconds``: the four tasks, all seeds; ``gib``: what they took above graph and embeddings, at most. Under
``one_probe``: one training set and the 21 values of C, by the batched solver (one thread, as the evaluation runs it)
and by scikit-learn warm-started along the ascending path, with its default tolerance and with one that reaches the
same solution. ``disagreeing`` counts predictions on all nodes, over all C, that differ from scikit-learn run to
convergence.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from hardware import described, forget_peak
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from paretognn.downstream import evaluate_embeddings, random_split, split_links
from paretognn.downstream.logistic import fit_path
from paretognn.downstream.parallel import map_seeds
from paretognn.downstream.probe import C_GRID
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph
from paretognn.training.memory import peak_memory


def made(nodes: int, width: int, pairs: int, classes: int) -> tuple[Graph, np.ndarray]:
    """A graph of communities inside classes, and embeddings with a decaying spectrum around both."""
    rng = np.random.default_rng(0)
    groups = 20 * classes
    group = rng.integers(groups, size=nodes)
    labels = np.where(rng.random(nodes) < 0.9, group % classes, rng.integers(classes, size=nodes))
    scale = np.geomspace(1, 0.03, width)
    centres = rng.standard_normal((groups, width)) + rng.standard_normal((classes, width))[np.arange(groups) % classes]
    embeddings = scale * (1 + centres[group] + 1.5 * rng.standard_normal((nodes, width)))
    source = rng.integers(nodes, size=pairs)
    members = np.argsort(group, kind="stable")
    start, size = np.searchsorted(group[members], np.arange(groups)), np.bincount(group, minlength=groups)
    near = members[start[group[source]] + (rng.random(pairs) * size[group[source]]).astype(np.int64)]
    target = np.where(rng.random(pairs) < 0.8, near, rng.integers(nodes, size=pairs))
    names = tuple(str(i) for i in range(classes))
    return build_graph(nodes, source, target, labels=labels, label_names=names), embeddings.astype(np.float32)


def timed(run: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The result; wall-clock and processor seconds (the two differ where other processes share the cores)."""
    wall, processor = time.perf_counter(), time.process_time()
    result = run()
    return result, {
        "wall": round(time.perf_counter() - wall, 2),
        "processor": round(time.process_time() - processor, 2),
    }


def by_scikit_learn(features: np.ndarray, targets: np.ndarray, fresh: np.ndarray, tolerance: float) -> np.ndarray:
    model = LogisticRegression(tol=tolerance, max_iter=20_000, warm_start=True)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for C in C_GRID:
            found.append(model.set_params(C=C).fit(features, targets).predict(fresh))
    return np.stack(found, axis=1)


def one_probe(graph: Graph, embeddings: np.ndarray) -> dict[str, Any]:
    assert graph.labels is not None
    points = (embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)).astype(np.float64)
    train = random_split(graph.labels, 0).train
    features, targets = points[train], graph.labels[train]
    exact, converged = timed(lambda: by_scikit_learn(features, targets, points, 1e-7))
    quick, default = timed(lambda: by_scikit_learn(features, targets, points, 1e-4))
    ours, batched = timed(lambda: map_seeds(lambda _: fit_path(features, targets, C_GRID).predict(points), [0])[0])
    return {
        "batched": batched | {"disagreeing": int((ours != exact).sum())},
        "scikit-learn, tol 1e-4": default | {"disagreeing": int((quick != exact).sum())},
        "scikit-learn, tol 1e-7": converged,
        "predictions": int(exact.size),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, value in {"nodes": 20_000, "width": 256, "pairs": 100_000, "classes": 10, "seeds": 10}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--one-probe", action=argparse.BooleanOptionalAction, default=True)
    settings = vars(parser.parse_args())
    probed = settings.pop("one_probe")
    graph, embeddings = made(*(settings[name] for name in ("nodes", "width", "pairs", "classes")))
    link = embeddings, split_links(graph, 0)
    held = forget_peak()
    evaluation, whole = timed(lambda: evaluate_embeddings(embeddings, graph, seeds=settings["seeds"], link=link))
    report = {
        "settings": settings | {"edges": graph.num_edges},
        "hardware": {**described(), "scikit-learn": sklearn.__version__, "numpy": np.__version__},
        "seconds": evaluation.seconds,
        "evaluation": whole,
        "gib": round((peak_memory() - held) / 2**30, 2),
        "means": {name: score.mean for name, score in evaluation.tasks.items()},
        "C": {name: score.details.get("C") for name, score in evaluation.tasks.items()},
    }
    if probed:
        report["one_probe"] = one_probe(graph, embeddings)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
