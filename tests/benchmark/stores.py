"""Benchmark cells made up for tests: scores without training."""

from statistics import fmean, pstdev

from paretognn.benchmark.cells import DONE, TRAINED, Cell, CellKey, Store

TASKS = ("node_classification", "node_clustering", "link_prediction", "partition_prediction")
HARDWARE = {"device": "a processor", "threads": 2, "cells_at_once": 1}


def config(method="paretognn", steps=500, width=256, rate=0.003):
    return {
        "method": method,
        "preset": "auto",
        "seed": 0,
        "steps": steps,
        "encoder": {"hidden_dims": [512, width], "norm": "batch"},
        "tasks": {"mi_ng": {"sampler": {"name": "saint-walk", "seeds": 320, "hops": 4}, "head": "bilinear"}},
        "optimizer": {"learning_rate": rate, "weight_decay": 1e-5},
        "schedule": {"name": "constant"},
        "checkpoint": {"every_steps": 500},
    }


def judged(scores, dataset="cora", seeds=2, **facts):
    """An evaluation; ``scores`` is one number for all tasks or a mapping by task (None: no score), in percent."""
    by_task = dict.fromkeys(TASKS, scores) if not isinstance(scores, dict) else scores
    tasks = {}
    for task in TASKS:
        score = by_task.get(task)
        # Evaluation seeds lie a tenth of a percent above and below in turn.
        per_seed = [] if score is None else [(score + 0.1 * (-1) ** seed) / 100 for seed in range(seeds)]
        tasks[task] = {
            "mean": None if score is None else fmean(per_seed),
            "std": None if score is None else pstdev(per_seed),
            "per_seed": per_seed,
        }
    means = [score["mean"] for score in tasks.values()]
    return {
        "tasks": tasks,
        "average": None if None in means else fmean(means),
        "evaluation_seeds": list(range(seeds)),
        "split": "random",
        "nodes": 2708,
        "labels": {"classes": list("abcdefg")},
        "split_digests": [f"{dataset}-{seed}" for seed in range(seeds)],
        "partition": {"digest": f"{dataset}-parts"},
        **facts,
    }


def cell(method, scores=None, dataset="cora", *, status=DONE, kind=TRAINED, steps=500, seed=0, evaluation=None, **more):
    """A cell of ``scores`` (see `judged`); ``more`` goes to the key where that has such a field, else to the cell."""
    key = {name: more.pop(name) for name in ("preset", "settings") if name in more}
    trained = kind == TRAINED
    if status == DONE:
        link = {"link_split_digest": f"{dataset}-links-{seed}"}
        more["evaluation"] = judged(scores, dataset, **(link | (evaluation or {})))
        more.setdefault("config", config(method, steps) if trained else None)
        more.setdefault("step_seconds", 0.25 if trained else None)
        more.setdefault("peak_memory", 3 << 29)
    return Cell(
        CellKey(dataset, method, kind, steps=steps if trained else 0, seed=seed, **key),
        status,
        **{"hardware": HARDWARE} | more,
    )


def store_of(path, *cells):
    store = Store(path)
    for one in cells:
        store.put(one)
    return store
