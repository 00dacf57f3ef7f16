"""One multi-task step: K losses, K gradients, one reconciled update (eq. 1-5)."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from paretognn.errors import NonFiniteError
from paretognn.pretext import PretextTask, task_class
from paretognn.reconcile import Reconciler, StepContext, reconciler_class
from paretognn.reconcile.base import Criterion
from paretognn.sampling import DeviceGraph, Sampler, clean_view
from paretognn.training.config import ScheduleSettings, TrainConfig
from paretognn.training.ranks import ALONE, Ranks
from paretognn.training.seeds import stream, stream_seed
from paretognn.training.stopwatch import Stopwatch

_GRAM_CHUNK = 1 << 12
_OPTIMIZERS = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}


@dataclass(frozen=True)
class StepRecord:
    """What one step reports; the keys of ``metrics.jsonl``.

    stage_seconds : of ``seconds``, those of each task's ``sampling``, ``forward`` and ``backward``
        (``mi_ng/forward``), of the ``solver``, of the ``optimizer`` and, with several processes, of their ``exchange``.
    """

    step: int
    losses: dict[str, float]
    weights: dict[str, float]
    gradient_norms: dict[str, float]
    cosines: dict[str, float]
    combined_norm2: float
    head_gradient_norms: dict[str, float]
    learning_rate: float
    seconds: float
    stage_seconds: dict[str, float]

    def scalars(self) -> dict[str, float]:
        """All but the stages' seconds, by name: ``loss/mi_ng``, ``weight/mi_ng``, ``cosine/mi_ng.feat_rec``,
        ``learning_rate``, ..."""
        by_task = {
            "loss": self.losses,
            "weight": self.weights,
            "gradient_norm": self.gradient_norms,
            "head_gradient_norm": self.head_gradient_norms,
            "cosine": {pair.replace("|", "."): cosine for pair, cosine in self.cosines.items()},
        }
        found = {f"{what}/{name}": value for what, values in by_task.items() for name, value in values.items()}
        own = {"combined_norm2": self.combined_norm2, "learning_rate": self.learning_rate, "seconds": self.seconds}
        return found | own


class MultiTaskModel(nn.Module):
    """One shared encoder and one head a task; built from the seed alone."""

    def __init__(self, config: TrainConfig, in_dim: int, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        width = int(encoder.out_dim)  # type: ignore[arg-type]
        heads: dict[str, nn.Module] = {}
        for name, settings in config.tasks.items():
            with seeded(stream_seed(config.seed, 0, f"init/{name}")):
                heads[name] = task_class(name)(settings, in_dim, width)
        self.tasks = nn.ModuleDict(heads)


_STREAMS = threading.RLock()


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """A context in which torch's global streams, of the CPU and a CUDA ``device``, start from ``seed``: what draws from
    them, such as dropout in an encoder of one's own, repeats. The caller's states come back. The streams are those of
    all threads, of which one at a time is in here."""
    with _STREAMS:
        state = torch.get_rng_state()
        cuda = None if device is None or device.type != "cuda" else torch.cuda.get_rng_state(device)
        torch.default_generator.manual_seed(seed)
        if cuda is not None:
            torch.cuda.manual_seed(seed)
        try:
            yield
        finally:
            torch.set_rng_state(state)
            if cuda is not None and device is not None:
                torch.cuda.set_rng_state(cuda, device)


class MultiTaskStepper:
    """Holds the model, the optimiser and the gradient buffer, and makes steps.

    synchronise : wait for a CUDA device after every stage, so that ``stage_seconds`` mean what they say.
    ranks : the processes that step together. Each computes K gradients on sub-graphs of its own; their means over the
        ranks are reconciled, so that a step is one on as many times the nodes.
    """

    def __init__(
        self,
        model: MultiTaskModel,
        graph: DeviceGraph,
        config: TrainConfig,
        synchronise: bool = False,
        ranks: Ranks = ALONE,
    ) -> None:
        self.model, self.graph, self.config, self.ranks = model, graph, config, ranks
        self.names = tuple(config.tasks)
        self.reconciler: Reconciler = reconciler_class(config.reconciler.name)(config.reconciler.settings)
        self.reconciler.check_tasks(self.names)
        for name in self.names:
            self._task(name).start(graph, model.encoder, stream_seed(config.seed, 0, f"start/{name}"))
        self.shared = [p for p in model.encoder.parameters() if p.requires_grad]
        size = sum(p.numel() for p in self.shared)
        padded = -(-size // _GRAM_CHUNK) * _GRAM_CHUNK
        self._padded = torch.zeros(len(self.names), padded, device=graph.device)
        self.gradients = self._padded[:, :size]
        self._combined = torch.zeros(size, device=graph.device)
        self.optimizer = _OPTIMIZERS[config.optimizer.name](
            [p for p in model.parameters() if p.requires_grad],
            lr=config.optimizer.learning_rate,
            weight_decay=config.optimizer.weight_decay,
            fused=graph.device.type in ("cpu", "cuda"),
        )
        self.done = 0
        self.stopwatch = Stopwatch(synchronise)

    def step(self) -> StepRecord:
        """One optimiser step. NonFiniteError, naming task and step, or RankLost, before any weight changes."""
        started = time.perf_counter()
        self.model.train()
        number = self.done + 1
        losses = torch.stack([self._task_gradient(row, name, number) for row, name in enumerate(self.names)])
        if self.ranks.count > 1:
            with self.stopwatch.stage("exchange"):
                self._average(losses)
        norms = torch.stack([self._head_norm(name) for name in self.names])
        with self.stopwatch.stage("solver"):
            # Losses, head norms and the Gram matrix reach the host in one transfer.
            numbers = torch.cat([losses.double(), norms.double(), self._gram().flatten()])
            host = self.ranks.lead(numbers).cpu().numpy()
            k = len(self.names)
            values, head_norm, gram = host[:k], host[k : 2 * k], host[2 * k :].reshape(k, k)
            self._check_finite("loss", values)
            self._check_finite("gradient", np.diag(gram) + head_norm)
            alpha, combination = self._reconcile(values, gram)
        rate = learning_rate(self.config.schedule, self.config.optimizer.learning_rate, self.done)
        with self.stopwatch.stage("optimizer"):
            self._apply(alpha, combination, rate)
            for name in self.names:
                self._task(name).after_step(self.model.encoder, number)
        self.done = number
        return self._record(number, values, gram, head_norm, alpha, combination, rate, time.perf_counter() - started)

    def _task(self, name: str) -> PretextTask:
        task: PretextTask = self.model.tasks[name]  # type: ignore[assignment]
        return task

    def _task_gradient(self, row: int, name: str, number: int) -> Tensor:
        """The task's loss, added up over its batches; its gradients are in their row, and at the head's parameters."""
        task = self._task(name)
        generator = stream(self.config.seed, number, self.ranks.stream(name), self.graph.device)
        heads = self._head(name)
        losses: list[Tensor] = []
        parts = task.batches(self.graph, self.model.encoder, generator)
        for place in itertools.count():
            with self.stopwatch.stage(f"{name}/sampling"):
                drawn = next(parts, None)
            if drawn is None:
                break
            share, batch = drawn
            with self.stopwatch.stage(f"{name}/forward"), self._seeded(number, f"{name}/{place}" if place else name):
                loss = task.loss(self.model.encoder, batch)
                loss = loss if share == 1 else share * loss
            with self.stopwatch.stage(f"{name}/backward"):
                grads = torch.autograd.grad(loss, [*self.shared, *heads], allow_unused=True)
            self._keep(row, heads, grads, add=place > 0)
            losses.append(loss.detach())
            del drawn, batch, loss, grads  # before the next part is drawn
        return sum(losses[1:], losses[0])

    def _keep(self, row: int, heads: list[nn.Parameter], grads: tuple[Tensor | None, ...], add: bool) -> None:
        """Gradients into their row and the head's parameters, or ``add`` to what is there."""
        place = 0
        for parameter, grad in zip(self.shared, grads, strict=False):
            target = self.gradients[row, place : place + parameter.numel()]
            if grad is not None:
                (target.add_ if add else target.copy_)(grad.reshape(-1))
            elif not add:
                target.zero_()
            place += parameter.numel()
        for parameter, grad in zip(heads, grads[len(self.shared) :], strict=True):
            if not add or parameter.grad is None:
                parameter.grad = grad
            elif grad is not None:
                parameter.grad += grad

    def _head(self, name: str) -> list[nn.Parameter]:
        return [p for p in self._task(name).parameters() if p.requires_grad]

    def _head_norm(self, name: str) -> Tensor:
        square = torch.zeros((), device=self.graph.device)
        for parameter in self._head(name):
            if parameter.grad is not None:
                square = square + parameter.grad.square().sum()
        return square.sqrt()

    def _average(self, losses: Tensor) -> None:
        """Gradients and losses become their means over the ranks; a head that a rank did not use counts as zeros."""
        heads = [parameter for name in self.names for parameter in self._head(name)]
        used = torch.tensor([float(p.grad is not None) for p in heads], device=losses.device)
        parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in heads]
        flat = torch.cat([losses, used, *(part.flatten() for part in parts)])
        self.ranks.average([self._padded, flat])
        first, second, *means = flat.split([len(losses), len(used), *(p.numel() for p in heads)])
        losses.copy_(first)
        for parameter, share, mean in zip(heads, second.tolist(), means, strict=True):
            parameter.grad = mean.view_as(parameter).clone() if share > 0 else None

    def _seeded(self, number: int, name: str) -> AbstractContextManager[None]:
        """For what draws from torch's global streams inside an encoder or head."""
        name = self.ranks.stream(f"{name}/encoder")
        return seeded(stream_seed(self.config.seed, number, name), self.graph.device)

    def _gram(self) -> Tensor:
        """G G^T float64 [K, K], added up in float64 over products of short chunks."""
        chunks = self._padded.view(len(self.names), -1, _GRAM_CHUNK).transpose(0, 1)
        gram = torch.bmm(chunks, chunks.transpose(1, 2)).sum(0, dtype=torch.float64)
        return 0.5 * (gram + gram.T)

    def _check_finite(self, what: str, numbers: np.ndarray) -> None:
        for name, number in zip(self.names, numbers, strict=True):
            if not np.isfinite(number):
                raise NonFiniteError(name, self.done + 1, what)

    def _reconcile(self, loss: np.ndarray, gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Task weights alpha [K], and the coefficients [K] of the raw gradient rows in the step."""
        settings = self.config.reconciler
        norm = np.sqrt(np.diag(gram))
        active = np.flatnonzero(norm > 0)
        alpha = np.zeros(len(norm))
        if not len(active):
            return alpha, alpha
        scale = np.ones(len(norm))
        if settings.normalise in ("l2", "loss+"):
            scale[active] /= norm[active]
        if settings.normalise in ("loss", "loss+"):
            scale[active] /= np.maximum(np.abs(loss[active]), 1e-12)
        rows = np.ix_(active, active)
        context = StepContext(
            tasks=tuple(self.names[k] for k in active),
            gram=gram[rows] * scale[active, None] * scale[None, active],
            losses=loss[active],
            step=self.done,
            seed=self.config.seed,
            alignment=lambda criterion, sampler: self._alignment(criterion, sampler)[active] * scale[active],
        )
        alpha[active] = self.reconciler.weights(context)
        self._check_finite("weight", alpha)
        return alpha, alpha * scale if settings.step_on == "normalised" else alpha

    def _alignment(self, criterion: Criterion, sampler: Sampler) -> np.ndarray:
        """Inner products [K] of the criterion's gradient by the shared parameters with the rows of gradients."""
        generator = stream(self.config.seed, self.done + 1, "alignment", self.graph.device)
        view = clean_view(sampler.sample(self.graph, generator))
        source, target = view.edge_index()
        with seeded(stream_seed(self.config.seed, self.done + 1, "alignment/encoder"), self.graph.device):
            value = criterion(self.model.encoder(view), source, target)
        grads = torch.autograd.grad(value, self.shared, allow_unused=True)
        parts = [torch.zeros_like(p) if g is None else g for p, g in zip(self.shared, grads, strict=True)]
        flat = torch.cat([part.flatten() for part in parts])
        products = self.ranks.lead(self.gradients @ flat).double().cpu().numpy()  # each saw another sub-graph
        self._check_finite("alignment", products)
        return products

    def _apply(self, alpha: np.ndarray, combination: np.ndarray, rate: float) -> None:
        torch.mul(self.gradients[0], float(combination[0]), out=self._combined)
        for row, weight in zip(self.gradients[1:], combination[1:], strict=True):
            self._combined.add_(row, alpha=float(weight))
        place = 0
        for parameter in self.shared:
            parameter.grad = self._combined[place : place + parameter.numel()].view_as(parameter)
            place += parameter.numel()
        if self.config.reconciler.heads == "weighted":
            for k, name in enumerate(self.names):
                for parameter in self.model.tasks[name].parameters():
                    if parameter.grad is not None:
                        parameter.grad.mul_(float(alpha[k]))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()

    def _record(
        self,
        number: int,
        loss: np.ndarray,
        gram: np.ndarray,
        head_norm: np.ndarray,
        alpha: np.ndarray,
        combination: np.ndarray,
        rate: float,
        seconds: float,
    ) -> StepRecord:
        norm = np.sqrt(np.diag(gram))
        cosines = {
            f"{a}|{self.names[j]}": float(gram[i, j] / (norm[i] * norm[j]) if norm[i] * norm[j] > 0 else 0.0)
            for i, a in enumerate(self.names)
            for j in range(i + 1, len(self.names))
        }
        return StepRecord(
            step=number,
            losses=self._by_task(loss),
            weights=self._by_task(alpha),
            gradient_norms=self._by_task(norm),
            cosines=cosines,
            combined_norm2=float(max(0.0, combination @ gram @ combination)),
            head_gradient_norms=self._by_task(head_norm),
            learning_rate=rate,
            seconds=seconds,
            stage_seconds=self.stopwatch.take(),
        )

    def _by_task(self, values: np.ndarray) -> dict[str, float]:
        return {name: float(v) for name, v in zip(self.names, values, strict=True)}


def learning_rate(schedule: ScheduleSettings, base: float, done: int) -> float:
    """The rate of the step after ``done`` steps."""
    if done < schedule.warmup_steps:
        return base * (done + 1) / schedule.warmup_steps
    if schedule.name == "constant":
        return base
    span = max(1, schedule.horizon_steps - schedule.warmup_steps)
    share = min(1.0, (done - schedule.warmup_steps) / span)
    return base * (schedule.final_fraction + (1 - schedule.final_fraction) * 0.5 * (1 + math.cos(math.pi * share)))
