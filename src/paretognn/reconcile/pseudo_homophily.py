"""Task weights learnt while training, so that linked nodes fall into one cluster (AutoSSL-DS; Jin et al., 2022)."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from torch import Tensor
from torch.nn import functional as F

from paretognn.nn.sparse import gather
from paretognn.reconcile.base import Reconciler, ReconcilerSettings, StepContext
from paretognn.sampling import AnySampler, SamplerSettings
from paretognn.state import finite


class PseudoHomophilySettings(ReconcilerSettings):
    """``clusters``: of the embeddings. ``rate``: Adam's, for the weights. ``every``: steps between two updates.
    ``sharpness``: how soft the assignment to clusters is; the distance that counts as 1 is the mean squared one to
    the nearest centre times this. ``sampler``: the sub-graph on which the criterion is taken."""

    clusters: int = Field(5, ge=2)
    rate: float = Field(0.05, gt=0)
    every: int = Field(5, ge=1)
    sharpness: float = Field(0.5, gt=0)
    sampler: AnySampler = SamplerSettings()


class PseudoHomophily(Reconciler):
    """Weights in [0, 1], from 1 / K on. Every few steps they move, by Adam, down the gradient of the criterion that
    one step with them would have: d H(theta - eta sum_k lambda_k g_k) / d lambda_k = -eta <grad H, g_k>.

    eta, and with it the inner optimiser, only scales the gradient, which Adam undoes; grad H is taken where the step
    starts.
    """

    name: ClassVar[str] = "pseudo-homophily"
    Settings: ClassVar[type[ReconcilerSettings]] = PseudoHomophilySettings

    def __init__(self, settings: ReconcilerSettings | None = None) -> None:
        super().__init__(settings)
        self.learnt: dict[str, list[float]] = {}
        """By task: the weight, Adam's two moments, and the number of updates."""

    def weights(self, context: StepContext) -> np.ndarray:
        for task in context.tasks:
            self.learnt.setdefault(task, [1.0 / len(context.tasks), 0.0, 0.0, 0.0])
        if context.step % self.settings.every == 0:
            generator = np.random.default_rng([context.seed, context.step])

            def criterion(z: Tensor, source: Tensor, target: Tensor) -> Tensor:
                return soft_heterophily(z, source, target, self.settings.clusters, self.settings.sharpness, generator)

            for task, slope in zip(context.tasks, -context.alignment(criterion, self.settings.sampler), strict=True):
                self.learnt[task] = _adam(self.learnt[task], float(slope), self.settings.rate)
        found = np.array([self.learnt[task][0] for task in context.tasks])
        return found if found.sum() > 0 else np.full(len(found), 1.0 / len(found))

    def state(self) -> dict[str, Any]:
        return {"learnt": self.learnt}

    def restore(self, state: dict[str, Any]) -> None:
        found = {task: [finite(v) for v in values] for task, values in state["learnt"].items()}
        for weight, _, second, count in found.values():
            if not 0 <= weight <= 1 or second < 0 or count < 0:
                raise ValueError("not a weight with its two moments and a count")
        self.learnt = found


def _adam(state: list[float], slope: float, rate: float) -> list[float]:
    """One update of a weight within [0, 1]."""
    weight, first, second, count = state
    count += 1
    first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
    step = rate * (first / (1 - 0.9**count)) / ((second / (1 - 0.999**count)) ** 0.5 + 1e-30)
    return [min(1.0, max(0.0, weight - step)), first, second, count]


def soft_heterophily(
    z: Tensor, source: Tensor, target: Tensor, clusters: int, sharpness: float, generator: np.random.Generator
) -> Tensor:
    """Mean |p_u - p_v| over edges (u, v), p the soft assignment of z [N, d] to k-means centres. 0 without edges."""
    centres = torch.from_numpy(_k_means(z, clusters, generator)[0]).to(z)
    distance = (z.square().sum(1, keepdim=True) - 2 * z @ centres.T + centres.square().sum(1)).clamp(min=0)
    unit = sharpness * distance.detach().min(1).values.mean().clamp(min=1e-12)
    share = F.softmax(-distance / unit, dim=1)
    if not len(source):
        return share.sum() * 0
    return (gather(share, source) - gather(share, target)).abs().mean()


def pseudo_homophily(embeddings: np.ndarray, pairs: np.ndarray, clusters: int, seed: int) -> float:
    """The share of edges (int [E, 2]) whose ends lie in one k-means cluster of the embeddings [N, d]."""
    assigned = _k_means(torch.from_numpy(embeddings), clusters, np.random.default_rng(seed))[1]
    return float((assigned[pairs[:, 0]] == assigned[pairs[:, 1]]).mean()) if len(pairs) else 0.0


def _k_means(z: Tensor, clusters: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Centres [k, d] and the number of each point's. One thread: those of k-means add up in the order they end in."""
    from sklearn.cluster import KMeans  # takes a second to load
    from sklearn.exceptions import ConvergenceWarning

    points = z.detach().float().cpu().numpy()
    model = KMeans(min(clusters, len(points)), n_init=1, max_iter=50, random_state=int(generator.integers(2**31)))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters
        assigned = model.fit_predict(points)
    return model.cluster_centers_, assigned
