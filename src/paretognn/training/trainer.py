"""The training loop: steps, checkpoints, interruption, resume."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from paretognn.errors import InputError, NonFiniteError
from paretognn.graph import Graph
from paretognn.sampling import DeviceGraph
from paretognn.training.checkpoint import (
    Checkpoint,
    newest_checkpoint,
    optimizer_tensors,
    packed,
    restore_optimizer,
    save_checkpoint,
    unpacked,
)
from paretognn.training.config import TrainConfig
from paretognn.training.frozen import TrainedEncoder, build_encoder, checked, freeze
from paretognn.training.metrics import MetricsWriter
from paretognn.training.multitask import MultiTaskModel, MultiTaskStepper
from paretognn.training.prepare import prepare
from paretognn.training.ranks import ALONE, RankLost, Ranks
from paretognn.training.run_folder import RunFolder
from paretognn.training.signals import Signals
from paretognn.training.split_features import split_over
from paretognn.training.stopping import Plateau
from paretognn.training.tracking import Audience, Tracker


class Interrupted(Exception):  # noqa: N818
    """Training was stopped by a signal after ``step``; the run folder holds its checkpoint."""

    def __init__(self, step: int) -> None:
        super().__init__(f"interrupted after step {step}")
        self.step = step


def train(
    graph: Graph,
    config: TrainConfig,
    device: str = "cpu",
    folder: RunFolder | None = None,
    resume: bool = False,
    trackers: Sequence[Tracker] = (),
    encoder: nn.Module | None = None,
    ranks: Ranks = ALONE,
    split_features: bool = False,
) -> tuple[TrainedEncoder, np.ndarray]:
    """Train on ``graph`` and return the frozen encoder and the embeddings float32 [N, d] of its nodes.

    With a ``folder``, metrics, checkpoints and the model are kept there, and ``resume`` continues from the
    newest checkpoint, ending bit for bit where an uninterrupted run would have. Raises `Interrupted` on
    SIGINT or SIGTERM, once the checkpoint is written, and `NonFiniteError`, after which the folder holds
    the last good state. InputError where another process trains in the folder. ``trackers`` are told of every step.

    Of several ``ranks`` the leader calls this, the others `follow`, with ``split_features`` each with a share of the
    features in memory (`paretognn.training.split_features`); `RankLost` where one of them ends before its time,
    after which too the folder holds the last good state.
    """
    with nullcontext() if folder is None else folder.held():
        if folder is not None:
            folder.sweep()
        if ranks.count > 1:
            ranks.shared(json.dumps([config.model_dump(mode="json"), graph.digest(), split_features]).encode())
        prepared, scaling = prepare(graph, config.features, device)
        placed = split_over(ranks, graph, prepared, scaling) if split_features else prepared
        stepper = _stepped(placed, config, folder, resume, trackers, encoder, ranks)
        trained, rows = freeze(graph, config, device, prepared, scaling, stepper.model.encoder, stepper.done)
        cause = (
            f"its features are too large, or optimizer.learning_rate is, which after {stepper.done} steps left the "
            "weights out of range"
        )
        embeddings = checked(rows, graph, cause)
        if folder is not None:
            trained.save(folder)
    return trained, embeddings


def follow(graph: Graph, device: str, ranks: Ranks) -> None:
    """Step with the leader of ``ranks``, which calls `train` with its settings, the same graph and device. InputError
    where the graph is another."""
    settings, digest, split_features = json.loads(ranks.shared(b""))
    if digest != graph.digest():
        raise InputError(f"process {ranks.index} reads another graph than the first")
    config = TrainConfig.model_validate(settings)
    placed, scaling = prepare(graph, config.features, device)
    if split_features:
        placed = split_over(ranks, graph, placed, scaling)
    _stepped(placed, config, None, True, (), None, ranks)


def _stepped(
    prepared: DeviceGraph,
    config: TrainConfig,
    folder: RunFolder | None,
    resume: bool,
    trackers: Sequence[Tracker],
    encoder: nn.Module | None,
    ranks: Ranks,
) -> MultiTaskStepper:
    """All steps made, or gone on with."""
    model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width, encoder))
    model.to(prepared.device)
    stepper = MultiTaskStepper(model, prepared, config, ranks=ranks)
    plateau = Plateau(config.stopping)
    kept = newest_checkpoint(folder.checkpoints) if folder is not None and resume else None
    if ranks.count > 1:
        kept = unpacked(*(ranks.shared(part) for part in packed(kept)))
    ended = kept is not None and _restore(stepper, plateau, kept, folder)
    if not ended:
        _tracked(stepper, plateau, folder, trackers)
    return stepper


def _tracked(
    stepper: MultiTaskStepper, plateau: Plateau, folder: RunFolder | None, trackers: Sequence[Tracker]
) -> None:
    if stepper.done >= stepper.config.steps:
        return
    audience = Audience(trackers)
    audience.started(stepper.config, stepper.done)
    try:
        _loop(stepper, plateau, folder, audience)
    except BaseException as error:
        audience.ended("interrupted" if isinstance(error, Interrupted | KeyboardInterrupt | RankLost) else "failed")
        raise
    audience.ended("finished")


def _loop(stepper: MultiTaskStepper, plateau: Plateau, folder: RunFolder | None, audience: Audience) -> None:
    config, ranks = stepper.config, stepper.ranks
    ended = reached = False
    if folder is None:
        with Signals(patient=True) if ranks.count > 1 else nullcontext() as signals:
            if signals is not None:
                ranks = stepper.ranks = _listening(ranks, signals)
            while not ended:
                record = stepper.step()
                ended = plateau.reached(record.losses) or stepper.done >= config.steps
                audience.stepped(record)
                if ranks.any(signals is not None and signals.received) and not ended:
                    raise Interrupted(stepper.done)
        return
    saved_at, saved_when = stepper.done, time.monotonic()
    with MetricsWriter(folder.metrics_file, stepper.done) as metrics, Signals(ranks.count > 1) as signals:
        ranks = stepper.ranks = _listening(ranks, signals)

        @contextmanager
        def saved_if_lost() -> Iterator[None]:
            try:
                yield
            except (NonFiniteError, RankLost) as error:
                if isinstance(error, RankLost):
                    error.step = stepper.done
                metrics.flush()
                _save(stepper, plateau, folder, reached)
                raise

        while not ended:
            with saved_if_lost():
                record = stepper.step()
            reached = plateau.reached(record.losses)
            ended = reached or stepper.done >= config.steps
            metrics.write(record)
            audience.stepped(record)
            with saved_if_lost():
                stopped = ranks.any(signals.received)
            due = stepper.done - saved_at >= config.checkpoint.every_steps
            due = due or time.monotonic() - saved_when >= config.checkpoint.every_seconds
            if due or stopped or ended:
                metrics.flush()
                _save(stepper, plateau, folder, reached)
                saved_at, saved_when = stepper.done, time.monotonic()
            if stopped and not ended:
                raise Interrupted(stepper.done)


def _listening(ranks: Ranks, signals: Signals) -> Ranks:
    return replace(ranks, stopping=lambda: signals.received)


def _names(stepper: MultiTaskStepper) -> list[str]:
    return [name for name, p in stepper.model.named_parameters() if p.requires_grad]


def _save(stepper: MultiTaskStepper, plateau: Plateau, folder: RunFolder, reached: bool) -> None:
    tensors = {f"model.{k}": v for k, v in stepper.model.state_dict().items()}
    tensors |= optimizer_tensors(stepper.optimizer, _names(stepper))
    state: dict[str, Any] = {
        "seed": stepper.config.seed,
        "torch": torch.__version__,
        "stopping": {**plateau.state(), "reached": reached},
        "reconciler": stepper.reconciler.state(),
    }
    save_checkpoint(folder.checkpoints, stepper.done, tensors, state, stepper.config.checkpoint.keep)


def _restore(stepper: MultiTaskStepper, plateau: Plateau, kept: Checkpoint, folder: RunFolder | None) -> bool:
    """Continue from a checkpoint; True where it is that of a run that early stopping has ended."""
    tensors, state, problems = kept
    for problem in problems:
        warnings.warn(f"{problem}; going on from step {state['step']}", stacklevel=4)
    try:
        weights = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
        stepper.model.load_state_dict(weights)
        restore_optimizer(stepper.optimizer, _names(stepper), tensors)
        stepper.done = int(state["step"])
        plateau.restore(state["stopping"])
        stepper.reconciler.restore(state["reconciler"])
        ended = bool(state["stopping"]["reached"])
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        where = "the run" if folder is None else folder.checkpoints
        raise InputError(f"{where}: the checkpoint does not match config.yaml") from None
    stepper.model.to(stepper.graph.device)
    return ended
