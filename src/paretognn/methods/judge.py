"""A run judged: the four tasks, the second model for link prediction, the controls beside.

The link model is trained with the run's own settings on the graph without validation and test pairs, one
split and one model for the run's training seed, as a run of its own in ``RUN/link``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from paretognn.datasets.registry import DATASETS
from paretognn.downstream import (
    ALL,
    LinkSplit,
    check_request,
    evaluate_embeddings,
    load_link_split,
    metis_partition,
    save_link_split,
    split_links,
)
from paretognn.downstream.notices import collected
from paretognn.downstream.partition import PARTS
from paretognn.errors import DamagedError, InputError
from paretognn.graph import Graph
from paretognn.methods.controls import CONTROLS, control_embeddings
from paretognn.methods.judged_region import judged_region
from paretognn.training import RunFolder, TrainConfig, TrainedEncoder, train
from paretognn.training.cost import CostLog
from paretognn.training.embeddings import read_npy, write_npy
from paretognn.training.tracking import Tracker

Say = Callable[[str], None]
LinkEmbeddings = tuple[np.ndarray, LinkSplit]


def protocol_split(graph: Graph) -> str:
    """The split of the paper's protocol: the public one for the OGB data sets, else random 10/10/80."""
    known = graph.name in DATASETS and DATASETS[graph.name].public_split_only
    return "public" if known and graph.splits else "random"


def open_link_split(graph: Graph, config: TrainConfig, folder: RunFolder | None = None) -> LinkSplit:
    """The link split of the run's training seed; with a ``folder`` it is kept in ``RUN/link``.

    InputError where the graph has too few edges to split, DamagedError where the one that is kept cannot be read.
    """
    if folder is None:
        return split_links(graph, config.seed)
    path = folder.link_folder / "split.parquet"
    if path.exists():
        try:
            return load_link_split(path, graph)
        except InputError as error:
            raise DamagedError(f"{error}; remove {folder.link_folder} to train the link model anew") from None
    split = split_links(graph, config.seed)
    save_link_split(path, split, graph)
    return split


def linked(
    graph: Graph, config: TrainConfig, make: Callable[[Graph], np.ndarray], folder: RunFolder | None = None
) -> tuple[LinkEmbeddings | None, str | None]:
    """What ``make`` makes of the graph without the held-out links, beside the split (`open_link_split`); or None, and
    the reason why there is none.

    DamagedError as there.
    """
    try:
        split = open_link_split(graph, config, folder)
    except DamagedError:
        raise
    except InputError as error:
        return None, str(error)
    return (make(split.train_graph(graph)), split), None


def link_embeddings(
    train_graph: Graph,
    config: TrainConfig,
    device: str = "cpu",
    folder: RunFolder | None = None,
    trackers: Sequence[Tracker] = (),
    encoder: nn.Module | None = None,
) -> np.ndarray:
    """Embeddings float32 [N, d] of the second model, trained as the first but on ``train_graph``.

    With the run's ``folder`` it is kept in ``RUN/link``: trained on first need, continued where an earlier
    call was stopped, and extended where the run has been.
    """
    if folder is None:
        return train(train_graph, config, device, trackers=trackers, encoder=encoder)[1]
    home = RunFolder(folder.link_folder)
    resume = home.exists()
    if not resume or home.config() != config:
        if resume and home.config().model_copy(update={"steps": config.steps}) != config:
            raise InputError(f"{home.path}: belongs to a run with other settings; remove it, and evaluate again")
        home.model_file.unlink(missing_ok=True)  # first: a kill in between must not leave it under the new settings
        home.write_config(config)
    if home.model_file.exists():
        return TrainedEncoder.load(home, device, encoder).embed(train_graph)
    return train(train_graph, config, device, home, resume=resume, trackers=trackers, encoder=encoder)[1]


def judge(
    embeddings: np.ndarray,
    graph: Graph,
    *,
    tasks: Sequence[str] = ALL,
    seeds: int = 10,
    split: str | None = None,
    link: LinkEmbeddings | None = None,
    link_reason: str | None = None,
    controls: TrainConfig | None = None,
    partition: np.ndarray | None = None,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """The content of ``evaluation.json``: scores of the embeddings, and with ``controls`` (the settings that
    give their width, features and seed) those of the training-free controls on the same splits. ``split`` None is
    `protocol_split`."""
    with collected() as notes:
        if partition is None and "partition_prediction" in tasks:
            partition = metis_partition(graph)
    split = split or protocol_split(graph)
    say("scoring the embeddings")
    shared: dict[str, Any] = {"tasks": tasks, "seeds": seeds, "split": split, "partition": partition}
    result = evaluate_embeddings(embeddings, graph, link=link, link_reason=link_reason, **shared).to_json()
    result["warnings"] = list(dict.fromkeys([*notes, *result["warnings"]]))
    if controls is not None:
        result["controls"] = {}
        train_graph = None if link is None else link[1].train_graph(graph)
        for name in CONTROLS:
            say(f"scoring the control '{name}'")
            own_link = None
            if link is not None and train_graph is not None:
                own_link = (control_embeddings(name, train_graph, controls), link[1])
            scores = evaluate_embeddings(
                control_embeddings(name, graph, controls),
                graph,
                link=own_link,
                link_reason=link_reason,
                **shared,
            ).to_json()
            result["controls"][name] = {
                "tasks": scores["tasks"],
                "average": scores["average"],
                "seconds": scores["seconds"],
            }
        result["verdict"] = verdict(result)
    return result


def verdict(result: dict[str, Any]) -> str:
    """One sentence: did training pay on this graph?"""
    own, field = _comparable(result["tasks"])
    best, best_name = max((_comparable(c["tasks"], field)[0], name) for name, c in result["controls"].items())
    count = {4: "four tasks"}.get(len(field), f"{len(field)} task{'s' if len(field) != 1 else ''}")
    if not field:
        return "no task could be scored, so there is nothing to compare"
    gain = 100 * (own - best)
    if gain >= 0:
        return f"training is {gain:.1f} points above the best training-free control ({best_name}), average of {count}"
    return (
        f"training did not pay: it is {-gain:.1f} points below the best training-free control "
        f"({best_name}), average of {count}"
    )


def _comparable(tasks: dict[str, Any], field: list[str] | None = None) -> tuple[float, list[str]]:
    """Mean over the tasks of ``field`` (default: those that have a score), a missing one counting 0."""
    field = [t for t, score in tasks.items() if score["mean"] is not None] if field is None else field
    means = [tasks[t]["mean"] or 0.0 for t in field]
    return (float(np.mean(means)) if means else 0.0), field


def judge_run(
    folder: RunFolder,
    graph: Graph,
    device: str = "cpu",
    *,
    tasks: Sequence[str] = ALL,
    seeds: int = 10,
    split: str | None = None,
    link_split: Path | None = None,
    controls: bool = True,
    region: int | None = None,
    trackers: Sequence[Tracker] = (),
    say: Say = lambda line: None,
    encoder: nn.Module | None = None,
) -> dict[str, Any]:
    """Judge a finished run on its training graph, or on a ``region`` of it (`judged_region`), training its link model
    on first need; that of a region is kept in a folder of its own, ``RUN/region-DIGEST/link``."""
    if link_split is not None:
        raise InputError("--link-split goes with --embeddings; a run has its own split in its link folder")
    trained = TrainedEncoder.load(folder, device, encoder)
    config = trained.config
    whole, judged, home = graph, judged_region(graph, region), folder
    graph = judged.graph
    if judged.nodes is not None:
        home = RunFolder(folder.path / f"region-{judged.facts['region']['digest'][:8]}")
    check_request(graph, tasks, seeds, split or protocol_split(graph))  # before the link model takes its time
    link, reason, costs = None, None, CostLog()

    def second_model(seen: Graph) -> np.ndarray:
        say("link prediction: the second model, which never sees the test links")
        with costs.stage("link model"):
            return link_embeddings(seen, config, device, home, trackers, encoder)

    with collected() as notes:
        if "link_prediction" in tasks:
            link, reason = linked(graph, config, second_model, home)
        partition = kept_partition(home.path / "partition.npy", graph) if "partition_prediction" in tasks else None
    with costs.stage("scoring"):
        result = judge(
            judged.rows(trained.embed(whole)),
            graph,
            tasks=tasks,
            seeds=seeds,
            split=split,
            link=link,
            link_reason=reason,
            controls=config if controls else None,
            partition=partition,
            say=say,
        )
    costs.write(folder)
    run = {
        "method": config.method,
        "preset": config.preset,
        "steps": trained.steps,
        "training_seeds": [config.seed],
    }
    return {**judged.told(result, notes), "run": run}


def kept_partition(path: Path, graph: Graph) -> np.ndarray:
    """The METIS partition of the graph, kept in the file ``path``; made anew where the file holds none."""
    if path.exists():
        try:
            kept = read_npy(path)
        except (OSError, InputError):
            kept = np.empty(0)
        whole = kept.shape == (graph.num_nodes,) and np.issubdtype(kept.dtype, np.integer)
        if whole and kept.min() >= 0 and kept.max() < PARTS:
            return np.asarray(kept)
    partition = metis_partition(graph)
    write_npy(path, partition)
    return partition
