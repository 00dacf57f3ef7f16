"""The published methods of the comparison: each its authors' pretext task and settings, on the encoder, the features
and the steps that all rows share."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from paretognn.graph import Graph
from paretognn.methods.presets import widest_sampler
from paretognn.training.config import merge

RATE_LIMIT = 3e-3
CONTRAST = 2048
"""Nodes that the sampled presets let GRACE contrast; the authors take all, at a cost of the square of their number."""


def published_settings(method: str, settings: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """The row of ``method`` from a preset's ``settings``: their steps and encoder, and the widest sub-graph that they
    allow, for the authors train on whole graphs; tasks and optimiser from the authors.

    Their learning rate is for their number of steps. For fewer it is raised in proportion, to at most `RATE_LIMIT`:
    theirs would leave the encoder where it started. For more it is lowered in proportion: on citeseer CCA-SSG, made for
    20 to 100 steps, loses six points in 500 of its own rate.

    DGI, MVGRL, CCA-SSG and AutoSSL have no batch norm, as in their authors' code; GRACE, which has none there either,
    is better with one (docs/trials.md).
    """
    table = published_table()[method]
    own = merge(table["default"], table.get(graph.name, {}))
    authors_steps = own.pop("authors_steps")
    sampler = widest_sampler(settings, graph)
    steps = settings["steps"]
    rate = own["optimizer"]["learning_rate"]
    scaled = rate * authors_steps / steps
    if scaled > rate:
        scaled = max(rate, min(RATE_LIMIT, scaled))
    base = {
        "steps": steps,
        "encoder": settings["encoder"],
        "features": settings.get("features", "row"),
        "schedule": {"name": "constant", "horizon_steps": steps},
        "reconciler": {"name": "weighted-sum", "normalise": "none"},
        "tasks": {task: {"sampler": sampler} for task in own["tasks"]},
    }
    tree = merge(merge(base, own), {"optimizer": {"learning_rate": scaled}})
    return merge(tree, _by_preset(method, settings))


def _by_preset(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """What follows the preset's steps or sub-graphs."""
    steps, tasks = settings["steps"], settings["tasks"]
    if method == "bgrl":
        return {"schedule": {"warmup_steps": steps // 10}, "tasks": {"bgrl": {"horizon_steps": steps}}}
    if method == "grace" and isinstance(tasks["mi_nsg"]["contrast"], int):
        return {"tasks": {"mi_nsg": {"contrast": CONTRAST}}}
    if method == "autossl":
        return {"reconciler": {"settings": {"sampler": tasks["mi_ng"]["sampler"]}}}
    return {}


@cache
def published_table() -> dict[str, Any]:
    """By method: the authors' ``default`` steps and settings, and what differs by data set."""
    text = files("paretognn.methods").joinpath("published_settings.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table
