"""Task weights by an evolutionary search over short runs (AutoSSL-ES; Jin et al., 2022)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
from torch import nn

from paretognn.downstream import split_links
from paretognn.downstream.notices import collected
from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.reconcile import pseudo_homophily
from paretognn.training import TrainConfig, train
from paretognn.training.config import merge


def searched(
    graph: Graph,
    config: TrainConfig,
    device: str = "cpu",
    say: Callable[[str], None] = lambda line: None,
    encoder: nn.Module | None = None,
) -> TrainConfig:
    """``config`` itself, or where it asks for a search, with the weights that one has found.

    CMA-ES over weights in [0, 1]; a candidate is worth the share of edges whose ends lie in one k-means cluster of the
    embeddings that a short run with it ends at. The runs see the graph without the validation and test links of the
    run's link split, so that the weights may serve its link model too. InputError where ``cma`` is not installed.
    """
    asked = config.search
    if asked.name == "none":
        return config
    try:
        import cma  # an extra
    except ImportError:
        raise InputError("the evolutionary search needs a further package: pip install 'paretognn[autossl]'") from None
    try:
        with collected():
            seen = split_links(graph, config.seed).train_graph(graph)
    except InputError:
        seen = graph  # too few edges to split: there will be no link model
    stream = np.random.get_state()  # cma draws from NumPy's global stream, and seeds it
    try:
        strategy = cma.CMAEvolutionStrategy(
            [0.5] * len(config.tasks),
            0.5,
            {"bounds": [0, 1], "popsize": asked.population, "seed": config.seed + 1, "verbose": -9},
        )
        best, found = -1.0, config
        for generation in range(asked.generations):
            candidates = strategy.ask()
            worth = []
            for candidate in candidates:
                weighted = _weighted(config, candidate)
                short = weighted.model_copy(update={"steps": asked.steps})
                embeddings = train(seen, short, device, encoder=copy.deepcopy(encoder))[1]
                worth.append(pseudo_homophily(embeddings, seen.pairs(), asked.clusters, config.seed))
                if worth[-1] > best:
                    best, found = worth[-1], weighted
            strategy.tell(candidates, [1 - w for w in worth])
            say(f"search: generation {generation + 1} of {asked.generations}, best pseudo-homophily {best:.3f}")
    finally:
        np.random.set_state(stream)
    return found


def _weighted(config: TrainConfig, weights: Sequence[float]) -> TrainConfig:
    named = {task: float(weight) for task, weight in zip(config.tasks, weights, strict=True)}
    tree = merge(config.model_dump(), {"reconciler": {"settings": {"weights": named}}})
    return TrainConfig.model_validate(tree)
