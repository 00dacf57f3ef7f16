"""A cell made in this process: embeddings of the graph and of the link-train graph, judged."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from paretognn.atomic import WriteError, writing
from paretognn.benchmark.alike import take_encoder, trained_alike
from paretognn.benchmark.cells import CONTROL, DONE, EMBEDDINGS, FAILED, OUT_OF_MEMORY, TRAINED, Cell, CellKey, Store
from paretognn.benchmark.concat_pca import NAME as CONCAT_PCA
from paretognn.benchmark.concat_pca import concat_pca
from paretognn.benchmark.hardware import described, versions
from paretognn.benchmark.job import Job
from paretognn.benchmark.shared import StoreError, shared_partition, write_link_split
from paretognn.datasets import load_dataset
from paretognn.downstream.notices import collected
from paretognn.errors import InputError, NonFiniteError
from paretognn.graph import Graph, summarise
from paretognn.methods.controls import control_embeddings
from paretognn.methods.judge import LinkEmbeddings, judge, link_embeddings, linked
from paretognn.methods.search import before_search, searched_in
from paretognn.sources import GraphSource
from paretognn.training import (
    Interrupted,
    RunFolder,
    TrainConfig,
    TrainedEncoder,
    read_embeddings,
    train,
    write_embeddings,
)
from paretognn.training.memory import peak_memory, require_memory
from paretognn.training.metrics import read_metrics


@dataclass
class _Made:
    """What is judged, and what it cost. source : the cell that the encoder was trained for, where that is another."""

    embeddings: np.ndarray
    link: LinkEmbeddings | None = None
    link_reason: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    step_seconds: float | None = None
    config: TrainConfig | None = None
    source: Cell | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    peak: int = 0
    """Bytes, of an earlier process that was stopped after it had trained."""


def make_cell(job: Job) -> Cell:
    """Make the cell and put it into the store, ``done`` or with the reason why it could not be made.

    `Interrupted`, KeyboardInterrupt, `WriteError` and `StoreError` pass, so that the same job goes on later.
    """
    key = job.cell.key
    try:
        cell = _done(job)
    except (Interrupted, KeyboardInterrupt, WriteError, StoreError):
        raise
    except Exception as error:
        status = OUT_OF_MEMORY if _is_out_of_memory(error) else FAILED
        return unmade(job, status, _one_line(error), peak_memory())
    job.store.put(cell)
    drop_checkpoints(job.store, key)
    return cell


def unmade(job: Job, status: str, reason: str, peak: int | None = None) -> Cell:
    """Record that a cell could not be made."""
    cell = Cell(
        job.cell.key,
        status,
        error=reason,
        peak_memory=peak,
        hardware=_hardware(job),
        versions=versions(),
        command=job.command(),
    )
    job.store.put(cell)
    return cell


def drop_checkpoints(store: Store, key: CellKey) -> None:
    """What a finished cell no longer needs."""
    folder = RunFolder(store.runs / key.name)
    for checkpoints in (folder.checkpoints, RunFolder(folder.link_folder).checkpoints):
        shutil.rmtree(checkpoints, ignore_errors=True)


def _done(job: Job) -> Cell:
    key = job.cell.key
    graph = load_dataset(key.dataset, job.data_root)
    make = _MAKERS[CONCAT_PCA if key.method == CONCAT_PCA else key.kind]
    with collected() as notes:
        write_link_split(job.store, graph)
        made = make(job, graph)
        partition = shared_partition(job.store, graph)
    result = judge(
        made.embeddings,
        graph,
        seeds=job.evaluation_seeds,
        link=made.link,
        link_reason=made.link_reason,
        partition=partition,
    )
    sizes = {"edges": graph.num_edges, "features": graph.num_features}
    result = {**result, **sizes, **made.facts, "warnings": list(dict.fromkeys([*notes, *result["warnings"]]))}
    return Cell(
        key,
        DONE,
        evaluation=result,
        config=None if made.config is None else made.config.model_dump(mode="json"),
        width=made.embeddings.shape[1],
        seconds={**made.seconds, "evaluation": sum(result["seconds"].values())},
        step_seconds=made.step_seconds,
        peak_memory=max((made.source and made.source.peak_memory) or 0, made.peak, peak_memory()),
        hardware=_hardware(job, made.source),
        versions=versions(),
        command=job.command(),
    )


def _trained(job: Job, graph: Graph) -> _Made:
    """A run folder without a copy of the graph; a run that was stopped goes on from its checkpoint, and one that is
    finished, or another that was trained alike, is not trained again."""
    folder = RunFolder(job.store.runs / job.cell.key.name)
    seconds: dict[str, float] = {}
    if not _continues(folder, graph, job.cell.config):
        _require_memory(job)
        _start(folder, graph, job.cell.config)
    config = folder.config()
    alike, source = trained_alike(job.store, job.cell.key, graph, config, described(job.device)["device"])
    if alike is None:
        with _timed(seconds, "training"):
            config = searched_in(folder, graph, config, job.device)
        _require_memory(job)
    _add(seconds, "training", _seconds_of(alike or folder))
    with _timed(seconds, "training"):
        if alike is None:
            _, embeddings = train(graph, config, job.device, folder, resume=True)
        elif alike.path == folder.path:
            embeddings = TrainedEncoder.load(folder, job.device).embed(graph)
        else:
            embeddings = take_encoder(alike, folder, graph, config, job.device)
    write_embeddings(folder.embeddings_file, graph.id_array(), embeddings)
    peak = _largest_peak(folder)

    def link_model(train_graph: Graph) -> np.ndarray:
        home = there = RunFolder(folder.link_folder)
        if alike is not None and RunFolder(alike.link_folder).model_file.exists():
            there = RunFolder(alike.link_folder)
        _add(seconds, "link_training", _seconds_of(there))
        with _timed(seconds, "link_training"):
            if there.path == home.path:
                matrix = link_embeddings(train_graph, config, job.device, folder)
            else:
                matrix = take_encoder(there, home, train_graph, config, job.device)
        write_embeddings(home.embeddings_file, graph.id_array(), matrix)
        return matrix

    link, reason = linked(graph, config, link_model, folder)
    steps = [row["seconds"] for row in read_metrics(folder.metrics_file)]
    return _Made(embeddings, link, reason, seconds, median(steps) if steps else None, config, source, peak=peak)


def _control(job: Job, graph: Graph) -> _Made:
    name, config, seconds = job.cell.key.method, job.cell.config, dict[str, float]()
    with _timed(seconds, "training"):
        embeddings = control_embeddings(name, graph, config, job.device)

    def on_train_graph(train_graph: Graph) -> np.ndarray:
        with _timed(seconds, "link_training"):
            return control_embeddings(name, train_graph, config, job.device)

    link, reason = linked(graph, config, on_train_graph)
    return _Made(embeddings, link, reason, seconds)


def _concatenated(job: Job, graph: Graph) -> _Made:
    """From the embeddings that its five cells keep; seconds are those beyond theirs."""
    seconds = dict[str, float]()
    homes = []
    for key in job.cell.needs:
        cell = job.store.get(key)
        if cell is None or cell.status != DONE:
            state = "is not there" if cell is None else f"is recorded as {cell.status}: {cell.error}"
            raise InputError(f"it needs {key.method}, which {state}")
        home = RunFolder(job.store.runs / key.name)
        if not home.embeddings_file.exists():
            raise InputError(
                f"it needs the embeddings of {key.method}, and {home.embeddings_file} is not there; remove "
                f"{job.store.file(key)} to have them made again"
            )
        homes.append(home)

    def joined(files: list[Path], stage: str) -> np.ndarray:
        blocks = [read_embeddings(file, graph) for file in files]
        with _timed(seconds, stage):
            return concat_pca(blocks, blocks[0].shape[1])

    embeddings = joined([home.embeddings_file for home in homes], "training")
    link_files = [RunFolder(home.link_folder).embeddings_file for home in homes]
    link, reason = linked(graph, job.cell.config, lambda train_graph: joined(link_files, "link_training"))
    return _Made(embeddings, link, reason, seconds)


def _from_file(job: Job, graph: Graph) -> _Made:
    file = job.cell.file
    assert file is not None
    made = _Made(read_embeddings(file.embeddings, graph), facts={"files": file.digests()})
    if file.link_embeddings is not None:
        points = read_embeddings(file.link_embeddings, graph)
        made.link, made.link_reason = linked(graph, job.cell.config, lambda train_graph: points)
    return made


_MAKERS: dict[str, Callable[[Job, Graph], _Made]] = {
    TRAINED: _trained,
    CONTROL: _control,
    CONCAT_PCA: _concatenated,
    EMBEDDINGS: _from_file,
}


def _continues(folder: RunFolder, graph: Graph, asked: TrainConfig) -> bool:
    """Whether what is there is this run, on this graph; the weights that a search has found are the run's own."""
    try:
        folder.require().check_graph(graph)
        return before_search(folder.config(), asked) == asked
    except InputError:
        return False


def _require_memory(job: Job) -> None:
    try:
        require_memory(job.cell.memory, job.device)
    except InputError as error:
        raise MemoryError(str(error)) from None


def _start(folder: RunFolder, graph: Graph, config: TrainConfig) -> None:
    if folder.path.exists():
        shutil.rmtree(folder.path)
    with writing(folder.path):
        folder.path.mkdir(parents=True)
    source = GraphSource(dataset=graph.name).to_json()
    folder.save_graph(graph, {"summary": summarise(graph), "source": source}, copy=False)
    folder.write_config(config)


def _seconds_of(folder: RunFolder) -> float:
    """Of the steps that an earlier process made."""
    return sum(row["seconds"] for row in read_metrics(folder.metrics_file)) if folder.metrics_file.exists() else 0.0


def _largest_peak(folder: RunFolder) -> int:
    """Bytes, of this process or an earlier one of the cell, which is kept for the next."""
    file = folder.path / "peak.json"
    before = folder.read_json(file).get("bytes", 0) if file.exists() else 0
    peak = max(int(before), peak_memory())
    folder.write_json(file, {"bytes": peak})
    return peak


def _hardware(job: Job, source: Cell | None = None) -> dict[str, Any]:
    content = {**described(job.device), "cells_at_once": job.at_once}
    if job.device == "cuda":
        trained = source.hardware.get("peak_device_memory", 0) if source else 0
        content["peak_device_memory"] = max(trained, torch.cuda.max_memory_allocated())
    return content


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    _add(seconds, stage, time.perf_counter() - started)


def _add(seconds: dict[str, float], stage: str, more: float) -> None:
    seconds[stage] = round(seconds.get(stage, 0.0) + more, 3)


def _is_out_of_memory(error: Exception) -> bool:
    if isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError | OSError) and any(
        sign in text for sign in ("can't allocate memory", "cannot allocate memory", "not enough memory")
    )


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, (InputError, NonFiniteError, MemoryError)) and text:
        return text
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__
