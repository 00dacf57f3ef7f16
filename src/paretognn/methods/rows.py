"""Methods by name: each is a row of four choices (encoder, pretext tasks, reconciler, optimiser)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.graph.own_features import own_features_tell
from paretognn.methods.controls import CONTROLS
from paretognn.methods.presets import preset_settings
from paretognn.methods.published import published_settings, published_table
from paretognn.methods.recipe import candidates, recipe
from paretognn.nn import GCN
from paretognn.pretext import PAPER
from paretognn.reconcile import TORCHJD, reconciler_class
from paretognn.registry import Registry
from paretognn.sampling.diffusion import check_size
from paretognn.training.config import TrainConfig, make_config, merge, plain, whole


@dataclass(frozen=True)
class Method:
    """A row by name. ``row`` makes its settings from a preset's and the graph that it will be trained on."""

    name: str
    row: Callable[[dict[str, Any], Graph], dict[str, Any]]


def _reconciled(
    settings: dict[str, Any], graph: Graph, name: str, normalise: str = "none", **own: Any
) -> dict[str, Any]:
    """The five tasks by another reconciler."""
    return merge(settings, {"reconciler": {"name": name, "normalise": normalise, "settings": own}})


def _single(settings: dict[str, Any], graph: Graph, task: str) -> dict[str, Any]:
    return {**_reconciled(settings, graph, "weighted-sum"), "tasks": {task: settings["tasks"][task]}}


def _published(settings: dict[str, Any], graph: Graph, name: str) -> dict[str, Any]:
    return published_settings(name, settings, graph)


def _evolved(settings: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """AutoSSL with weights from an evolutionary search over short runs in place of weights learnt in one."""
    tree = published_settings("autossl", settings, graph)
    clusters = tree["reconciler"]["settings"]["clusters"]
    search = {"name": "evolution", "steps": max(1, settings["steps"] // 10), "clusters": clusters}
    return {**tree, "reconciler": {"name": "weighted-sum", "normalise": "none"}, "search": search}


_paretognn = partial(_reconciled, name="mgda", normalise="l2")


def _best(settings: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """ParetoGNN's encoder beside what needs no training."""
    return {**_paretognn(settings, graph), "assembly": recipe(settings, own_features_tell(graph))}


def _auto(settings: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """ParetoGNN's encoder, its output put together as a judge without labels prefers after training."""
    first, *others = candidates(settings, own_features_tell(graph))
    return {**_paretognn(settings, graph), "assembly": first, "alternatives": others}


_SINGLE = {task.name.replace("_", "-"): task.name for task in PAPER}

_OWN: dict[str, Method] = {
    method.name: method
    for method in (
        Method("best", _best),
        Method("auto", _auto),
        Method("paretognn", _paretognn),
        Method("weighted-sum", partial(_reconciled, name="weighted-sum")),
        *(Method(name, partial(_single, task=task)) for name, task in _SINGLE.items()),
        *(Method(name, partial(_published, name=name)) for name in published_table()),
        Method("autossl-es", _evolved),
        Method("paretomtl", partial(_reconciled, name="pareto-mtl")),
        *(
            Method(f"paretomtl-{name}", partial(_reconciled, name="pareto-mtl", prefer=task))
            for name, task in _SINGLE.items()
        ),
        # On gradients of length 1, as MGDA: on theirs as they are, PCGrad and CAGrad weigh tasks by thousands or by 0.
        *(Method(r.name, partial(_reconciled, name=r.name, normalise="l2")) for r in TORCHJD),
        Method("random-weights", partial(_reconciled, name="random")),
    )
}
DEFAULT = "best"
"""What is trained on the command line where no method is named."""
METHODS: Registry[Method] = Registry("method", "methods", Method, _OWN.items(), classes=False)


def method_config(
    graph: Graph,
    method: str | Method | type[Method] = "paretognn",
    preset: str = "auto",
    overrides: dict[str, Any] | None = None,
) -> tuple[TrainConfig, str]:
    """The resolved settings of a method on a graph, and a sentence on what was chosen for it.

    ``overrides`` is a tree laid over method and preset; a ``sampler`` in it takes the place of every task's.
    InputError for unknown names and settings, and where a package that the method needs is not installed.
    """
    overrides = plain(overrides or {})
    row = find_method(overrides.pop("method", method))
    preset = overrides.pop("preset", preset)
    sampler = overrides.pop("sampler", None)
    steps = overrides.get("steps")
    settings, why = preset_settings(preset, graph, whole(steps))
    tree = {"method": row.name, "preset": preset, **row.row(merge(settings, _widths(overrides)), graph)}
    if sampler is not None:
        tree = _sampled(tree, sampler)
    if "assembly" in overrides and tree.pop("alternatives", None):
        tree.pop("assembly")  # it is asked for, not to be chosen
    for part in ("encoder", "reconciler"):
        asked, own = overrides.get(part), tree.get(part, {})
        name = own.get("name", GCN.name)
        if isinstance(asked, dict) and asked.get("name", name) != name:
            tree[part] = {k: v for k, v in own.items() if k != "settings"}  # those are another's
    if graph.stored is not None and row.row in (_best, _auto):
        tree = {name: value for name, value in tree.items() if name not in ("assembly", "alternatives")}
        why += "; the graph is on disk, so nothing stands beside the encoder's output"
    config = make_config(merge(tree, overrides))
    if graph.stored is not None and config.assembles:
        raise InputError(
            "blocks, components and smoothing of the encoder's output need the graph in memory, and this one is on disk"
        )
    reconciler = reconciler_class(config.reconciler.name)
    reconciler.require()
    reconciler(config.reconciler.settings).check_tasks(tuple(config.tasks))
    if "diffusion" in config.encoder.operators:
        check_size(graph.num_nodes)
    return config, why


def _widths(overrides: dict[str, Any]) -> dict[str, Any]:
    """The encoder's widths where they are asked for, so that a row can fit others to them; what is no such is left to
    the check of all settings."""
    encoder = overrides.get("encoder")
    widths = encoder.get("hidden_dims") if isinstance(encoder, dict) else None
    if not isinstance(widths, list) or not widths:
        return {}
    counts = [whole(width) for width in widths]
    return {} if None in counts else {"encoder": {"hidden_dims": counts}}


def run_method(config: TrainConfig) -> Method:
    """The row of a run: its settings as they are, whatever preset and graph. Steps and seed are not a row's."""
    tree = config.model_dump(mode="json", exclude={"method", "preset", "seed", "steps"})
    return Method(config.method, partial(_as_in_run, tree=tree))


def _as_in_run(settings: dict[str, Any], graph: Graph, tree: dict[str, Any]) -> dict[str, Any]:
    return {**tree, "steps": settings["steps"]}


def _sampled(tree: dict[str, Any], sampler: dict[str, Any]) -> dict[str, Any]:
    """With one sampler for all tasks, and for a criterion of the reconciler's."""
    reconciler = tree["reconciler"]
    tasks = {task: {**values, "sampler": sampler} for task, values in tree["tasks"].items()}
    if "sampler" in reconciler.get("settings", {}):
        reconciler = {**reconciler, "settings": {**reconciler["settings"], "sampler": sampler}}
    return {**tree, "tasks": tasks, "reconciler": reconciler}


def find_method(method: str | Method | type[Method]) -> Method:
    """By name, instance or class (which takes no arguments). InputError for an unknown name."""
    if isinstance(method, Method):
        return method
    if isinstance(method, type) and issubclass(method, Method):
        return method()  # type: ignore[call-arg]
    if method in CONTROLS:
        raise InputError(f"'{method}' is a control, with nothing to train: `evaluate` and `benchmark` score it")
    return METHODS.find(method)
