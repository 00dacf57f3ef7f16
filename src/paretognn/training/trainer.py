"""The training loop: steps, checkpoints, interruption, resume."""

from __future__ import annotations

import json
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from paretognn.errors import InputError, NonFiniteError
from paretognn.graph import Graph
from paretognn.nn import ENCODERS, GCN, BranchedGCN, FeatureScaling, PyGEncoder
from paretognn.sampling import DeviceGraph
from paretognn.training.assembly import Assembly
from paretognn.training.checkpoint import (
    Checkpoint,
    load_tensors,
    newest_checkpoint,
    optimizer_tensors,
    packed,
    restore_optimizer,
    save_checkpoint,
    save_tensors,
    unpacked,
)
from paretognn.training.choice import judge, least
from paretognn.training.config import TrainConfig
from paretognn.training.device import require_device
from paretognn.training.inference import ROWS, embed
from paretognn.training.metrics import MetricsWriter
from paretognn.training.multitask import MultiTaskModel, MultiTaskStepper, seeded
from paretognn.training.prepare import beside, prepare
from paretognn.training.ranks import ALONE, RankLost, Ranks
from paretognn.training.run_folder import RunFolder
from paretognn.training.seeds import stream_seed
from paretognn.training.split_features import split_over
from paretognn.training.stopping import Plateau
from paretognn.training.tracking import Audience, Tracker


class Interrupted(Exception):  # noqa: N818
    """Training was stopped by a signal after ``step``; the run folder holds its checkpoint."""

    def __init__(self, step: int) -> None:
        super().__init__(f"interrupted after step {step}")
        self.step = step


@dataclass(eq=False)
class TrainedEncoder:
    """A frozen encoder with what it needs to embed: the scaling of features, batch-norm statistics, and the blocks
    beside it.

    steps : how many it was trained for; fewer than the settings' where early stopping ended the run.
    """

    config: TrainConfig
    encoder: nn.Module
    scaling: FeatureScaling
    device: str
    assembly: Assembly
    steps: int = 0

    @property
    def width(self) -> int:
        """The number d of embedding dimensions."""
        return self.assembly.width(int(self.encoder.out_dim))  # type: ignore[arg-type]

    def embed(self, graph: Graph, encode: Callable[[nn.Module, DeviceGraph], Tensor] = embed) -> np.ndarray:
        """float32 [N, d] for any graph with the training graph's feature columns; ``encode`` runs the encoder.

        InputError where features are so far from those of training that the numbers overflow.
        """
        prepared, _ = prepare(graph, self.config.features, self.device, self.scaling)
        encoded = encode(self.encoder, prepared)
        rows = self.assembly(encoded, graph, beside(encoded, graph, prepared, self.scaling))
        return _checked(rows, graph, "features of it or its neighbours are too far from those of training")

    def save(self, folder: RunFolder) -> None:
        tensors = {f"encoder.{k}": v for k, v in self.encoder.state_dict().items()}
        tensors["features.mean"] = torch.tensor(self.scaling.mean)
        tensors["features.scale"] = torch.tensor(self.scaling.scale)
        tensors |= {f"assembly.{k}": v for k, v in self.assembly.maps.items()}
        candidates = [self.config.assembly, *self.config.alternatives]
        tensors["assembled"] = torch.tensor(candidates.index(self.assembly.settings))
        tensors["steps"] = torch.tensor(self.steps)
        save_tensors(folder.model_file, tensors)

    @classmethod
    def load(cls, folder: RunFolder, device: str = "cpu", encoder: nn.Module | None = None) -> TrainedEncoder:
        """InputError where the run is not finished, as it was started or extended, its model is damaged, or the device
        is not there."""
        require_device(device)
        config = folder.require_finished().config()
        tensors = load_tensors(folder.model_file)
        try:
            if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values()):
                raise InputError(f"{folder.model_file}: corrupt (it holds NaN or infinite numbers)")
            mean, scale = (tensors.pop(f"features.{part}").float().numpy() for part in ("mean", "scale"))
            if mean.ndim != 1 or mean.shape != scale.shape:
                raise ValueError("one mean and one scale a feature are needed")
            scaling, steps = FeatureScaling(config.features, mean, scale), int(tensors.pop("steps"))
            maps = {k: tensors.pop(k) for k in list(tensors) if k.startswith("assembly.")}
            settings = [config.assembly, *config.alternatives][int(tensors.pop("assembled", torch.tensor(0)))]
            assembly = Assembly.of(settings, {k.removeprefix("assembly."): v for k, v in maps.items()}, device)
            built = build_encoder(config, len(mean), encoder)
            built.load_state_dict({k.removeprefix("encoder."): v for k, v in tensors.items()})
            assembly.check(int(built.out_dim))  # type: ignore[arg-type]
        except InputError:
            raise
        except (IndexError, KeyError, RuntimeError, TypeError, ValueError):
            raise InputError(f"{folder.model_file}: corrupt (it does not match config.yaml)") from None
        if steps < config.steps and config.stopping.name == "never":
            raise InputError(
                f"{folder.path}: was extended from {steps} to {config.steps} steps, which was not finished; "
                f"continue it with: paretognn train --resume --out {folder.path}"
            )
        return cls(config, built.to(device), scaling, device, assembly, steps)


def _checked(rows: Tensor, graph: Graph, cause: str) -> np.ndarray:
    """The embeddings float32 [N, d]; InputError naming the first node whose row is not finite."""
    embeddings = rows.float().cpu().numpy()
    lost = np.concatenate(
        [~np.isfinite(part).all(axis=1) for part in np.array_split(embeddings, len(rows) // ROWS + 1)]
    )
    if lost.any():
        first = graph.id_array()[int(lost.argmax())].as_py()
        raise InputError(f"embeddings of {int(lost.sum())} node(s) are not finite, the first '{first}': {cause}")
    return embeddings


def build_encoder(config: TrainConfig, in_dim: int, module: nn.Module | None = None) -> nn.Module:
    """The encoder of ``config`` with weights from its seed, or ``module`` (any PyG encoder) as it is."""
    settings = config.encoder
    if module is not None:
        if settings.operators != ["adjacency"] or settings.name != GCN.name:
            raise InputError(f"the method '{config.method}' has an encoder of its own and takes no other")
        return PyGEncoder(module, in_dim)
    with seeded(stream_seed(config.seed, 0, "init/encoder")):
        if settings.operators != ["adjacency"]:
            return BranchedGCN(in_dim, settings)
        built = ENCODERS.find(settings.name)(in_dim, settings)
    if getattr(built, "out_dim", None) != settings.hidden_dims[-1]:
        raise InputError(
            f"the encoder '{settings.name}' is at fault: its out_dim is {getattr(built, 'out_dim', 'not set')}, where "
            f"the last of encoder.hidden_dims is {settings.hidden_dims[-1]}"
        )
    return built


def untrained(graph: Graph, config: TrainConfig, device: str) -> TrainedEncoder:
    """The encoder as `train` would start it, its batch-norm statistics taken from ``graph``."""
    prepared, scaling = prepare(graph, config.features, device)
    encoder = build_encoder(config, prepared.features.width).to(device)
    return _frozen(graph, config, device, prepared, scaling, encoder)[0]


def _frozen(
    graph: Graph,
    config: TrainConfig,
    device: str,
    prepared: DeviceGraph,
    scaling: FeatureScaling,
    encoder: nn.Module,
    steps: int = 0,
) -> tuple[TrainedEncoder, Tensor]:
    """What embeds from now on, its statistics and blocks those of the training graph; and the embeddings [N, d]."""
    encoded = embed(encoder, prepared, calibrate=True)
    home = beside(encoded, graph, prepared, scaling)
    settings = config.assembly
    if config.alternatives:

        def encode(other: Graph) -> tuple[Tensor, DeviceGraph]:
            if other is graph:
                return encoded, home
            placed, _ = prepare(other, config.features, device, scaling)
            rows = embed(encoder, placed)
            return rows, beside(rows, other, placed, scaling)

        settings = least(judge(graph, encode, (config.assembly, *config.alternatives), config.seed)).assembly
    assembly = Assembly.fit(settings, encoded, graph, home, config.seed)
    return TrainedEncoder(config, encoder, scaling, device, assembly, steps), assembly(encoded, graph, home)


def reassembled(
    trained: TrainedEncoder, graph: Graph, config: TrainConfig, folder: RunFolder
) -> tuple[TrainedEncoder, np.ndarray]:
    """What `train` returns and keeps in ``folder``, of an encoder that was trained on ``graph`` with settings that
    differ from ``config`` in nothing but what is put beside it."""
    prepared, _ = prepare(graph, config.features, trained.device, trained.scaling)
    made, rows = _frozen(graph, config, trained.device, prepared, trained.scaling, trained.encoder, trained.steps)
    embeddings = _checked(rows, graph, "the run that it was trained in is damaged")
    made.save(folder)
    return made, embeddings


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
        trained, rows = _frozen(graph, config, device, prepared, scaling, stepper.model.encoder, stepper.done)
        cause = (
            f"its features are too large, or optimizer.learning_rate is, which after {stepper.done} steps left the "
            "weights out of range"
        )
        embeddings = _checked(rows, graph, cause)
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
        with _Signals(patient=True) if ranks.count > 1 else nullcontext() as signals:
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
    with MetricsWriter(folder.metrics_file, stepper.done) as metrics, _Signals(ranks.count > 1) as signals:
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


def _listening(ranks: Ranks, signals: _Signals) -> Ranks:
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


class _Signals:
    """Turns SIGINT and SIGTERM into a wish to stop after the step that is running; a second SIGINT stops at once, but
    where ``patient``: a launcher hands on a signal that its processes had from the terminal already."""

    def __init__(self, patient: bool) -> None:
        self.patient = patient

    def __enter__(self) -> _Signals:
        self.received = False
        self._old: dict[int, Any] = {}
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                self._old[number] = signal.signal(number, self._receive)
            except ValueError:
                # Handlers can be set in the main thread only; elsewhere the caller's stay.
                break
        return self

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received and number == signal.SIGINT and not self.patient:
            raise KeyboardInterrupt
        self.received = True

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
