"""Methods by name: each is a row of four choices (encoder, pretext tasks, reconciler, optimiser)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paretognn.errors import InputError, suggest
from paretognn.graph import Graph
from paretognn.methods.presets import preset_settings
from paretognn.training.config import TrainConfig, make_config, merge

Row = Callable[[dict[str, Any]], dict[str, Any]]


def _pareto(settings: dict[str, Any]) -> dict[str, Any]:
    return merge({"reconciler": {"name": "mgda", "normalise": "l2"}}, settings)


def _weighted_sum(settings: dict[str, Any]) -> dict[str, Any]:
    return merge(settings, {"reconciler": {"name": "weighted-sum", "normalise": "none"}})


def _single(task: str) -> Row:
    def row(settings: dict[str, Any]) -> dict[str, Any]:
        return {**_weighted_sum(settings), "tasks": {task: settings["tasks"][task]}}

    return row


METHODS: dict[str, Row] = {
    "paretognn": _pareto,
    "weighted-sum": _weighted_sum,
    "feat-rec": _single("feat_rec"),
    "topo-rec": _single("topo_rec"),
    "rep-decor": _single("rep_decor"),
    "mi-ng": _single("mi_ng"),
    "mi-nsg": _single("mi_nsg"),
}


def method_config(
    graph: Graph, method: str = "paretognn", preset: str = "auto", overrides: dict[str, Any] | None = None
) -> tuple[TrainConfig, str]:
    """The resolved settings of a method on a graph, and a sentence on the preset.

    ``overrides`` is a tree laid over method and preset. InputError for unknown names and settings.
    """
    overrides = overrides or {}
    method = overrides.get("method", method)
    preset = overrides.get("preset", preset)
    if method not in METHODS:
        raise InputError(f"unknown method '{method}'{suggest(str(method), METHODS)}; known: {', '.join(METHODS)}")
    settings, why = preset_settings(preset, graph)
    tree = merge({"method": method, "preset": preset, **METHODS[method](settings)}, overrides)
    return make_config(tree), why
