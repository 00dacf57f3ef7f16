"""The paper's own figures, shipped with the package, under the names of the command line."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import Any

from paretognn.benchmark.ranks import OUT

TASKS = ("node_classification", "node_clustering", "link_prediction", "partition_prediction")
AVERAGE = "average_performance"
METRICS = (AVERAGE, *TASKS)

SINGLE_TASKS = ("feat-rec", "topo-rec", "rep-decor", "mi-ng", "mi-nsg")
VARIANTS = (*SINGLE_TASKS, "weighted-sum", "paretognn")
BASELINES = ("dgi", "grace", "mvgrl", "autossl", "bgrl", "cca-ssg", "graphmae")
PARETOMTL = tuple(f"paretomtl-{task}" for task in SINGLE_TASKS)
CONTROLS = ("raw-features", "smoothed-features", "spectral", "untrained", "concat-pca")

DATASETS = (
    "wiki-cs", "pubmed", "amazon-photo", "amazon-computers", "coauthor-cs", "coauthor-physics",
    "chameleon", "squirrel", "actor",
)  # fmt: skip
LARGE = ("ogbn-arxiv", "ogbn-products")

Scores = dict[str, dict[str, dict[str, float]]]
"""Metric -> method -> data set (or ``rank``) -> percent, `OUT` where out of memory."""


def command_line_name(printed: str) -> str:
    """``ParetoMTL-FeatRec`` -> ``paretomtl-feat-rec``."""
    for joined in ("FeatRec", "TopoRec", "RepDecor"):
        printed = printed.replace(joined, joined.replace("Rec", "-Rec").replace("Decor", "-Decor"))
    return printed.lower()


@cache
def group_scores(table: str) -> Scores:
    """One of the two tables by group, ``table1_pretext_tasks`` or ``table2_baselines``, its printed ranks too."""
    scores: Scores = defaultdict(lambda: defaultdict(dict))
    for row in _rows(table):
        scores[row["metric"]][command_line_name(row["method"])][row["dataset"]] = _number(row["mean"])
    return scores


def paper_scores() -> dict[tuple[str, str, str], float]:
    """Every score of the paper in percent, by data set, method and metric; `OUT` where out of memory."""
    scores = {
        (dataset, method, metric): value
        for table in ("table1_pretext_tasks", "table2_baselines")
        for metric, methods in group_scores(table).items()
        for method, values in methods.items()
        for dataset, value in values.items()
        if dataset != "rank"
    }
    for row in _rows("table_paretomtl"):
        dataset = row.pop("dataset")
        scores |= {(dataset, command_line_name(name), AVERAGE): _number(text) for name, text in row.items()}
    for row in _rows("table3_large_graphs"):
        method = command_line_name(row["method"])
        columns = {AVERAGE: "average"} | {task: task for task in TASKS}
        scores |= {(row["dataset"], method, metric): _number(row[name]) for metric, name in columns.items()}
    return scores


def paper_cost() -> dict[tuple[str, str], tuple[float, float, str]]:
    """Seconds for 1,000 steps, peak GB and hardware, by data set and method; `OUT` where out of memory."""
    return {
        (row["dataset"], command_line_name(row["method"])): (
            _number(row["seconds_per_1000_iterations"]),
            _number(row["peak_gpu_memory_gb"]),
            row["hardware"],
        )
        for row in _rows("table_training_cost")
    }


def paper_statistics() -> dict[str, dict[str, str]]:
    """Nodes, edges, features, type and split by data set."""
    return {row["dataset"]: row for row in _rows("dataset_statistics")}


def paper_settings(dataset: str) -> dict[str, Any] | None:
    """The hyper-parameters of ``paretognn --preset paper`` as a tree of settings; None for another data set."""
    text = files("paretognn").joinpath("methods/paper_hyperparameters.json").read_text("utf-8")
    row = json.loads(text).get(dataset)
    if row is None:
        return None
    encoder = {k: row["encoder"][k] for k in ("hidden_dims", "norm", "activation")}
    optimizer = {k: row["optimizer"][k] for k in ("learning_rate", "weight_decay")}
    tasks = {task: _task(settings) for task, settings in row.items() if "sampler" in settings}
    return {"steps": row["train"]["steps"], "encoder": encoder, "optimizer": optimizer, "tasks": tasks}


def _task(row: dict[str, Any]) -> dict[str, Any]:
    names = {"seed_nodes": "seeds", "k": "hops"}
    sampler = {"name": row["sampler"]} | {names[k]: v for k, v in row.items() if k in names and v != "full"}
    if "full" in (row["sampler"], row.get("seed_nodes")):
        sampler = {"name": "full"}
    rest = {k.removesuffix("_ratio"): v for k, v in row.items() if k not in (*names, "sampler")}
    return {"sampler": sampler, **rest}


def _rows(name: str) -> list[dict[str, str]]:
    text = files("paretognn.benchmark").joinpath(f"reference/{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def _number(text: str) -> float:
    return OUT if text == "OOM" else float(text)
