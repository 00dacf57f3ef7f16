"""Task weights by an evolutionary search over short runs (AutoSSL-ES; Jin et al., 2022)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from torch import nn

from paretognn.atomic import atomic_write
from paretognn.downstream import split_links
from paretognn.downstream.notices import collected
from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.reconcile import pseudo_homophily
from paretognn.training import RunFolder, TrainConfig, train
from paretognn.training.checkpoint import list_checkpoints
from paretognn.training.config import merge


def searched(
    graph: Graph,
    config: TrainConfig,
    device: str = "cpu",
    say: Callable[[str], None] = lambda line: None,
    encoder: nn.Module | None = None,
    record: Path | None = None,
) -> TrainConfig:
    """``config`` itself, or where it asks for a search, with the weights that one has found.

    CMA-ES over weights in [0, 1]; a candidate is worth the share of edges whose ends lie in one k-means cluster of the
    embeddings that a short run with it ends at. The runs see the graph without the validation and test links of the
    run's link split, so that the weights may serve its link model too. With a file ``record``, what each candidate was
    worth is kept there, and a search that was stopped goes on after the last. InputError where ``cma`` is not
    installed.
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
        worths = _Worths(record)
        best, found = -1.0, config
        for generation in range(asked.generations):
            candidates = strategy.ask()
            worth = []
            for candidate in candidates:
                weighted = _weighted(config, candidate)

                def made(weighted: TrainConfig = weighted) -> float:
                    short = weighted.model_copy(update={"steps": asked.steps})
                    embeddings = train(seen, short, device, encoder=copy.deepcopy(encoder))[1]
                    return pseudo_homophily(embeddings, seen.pairs(), asked.clusters, config.seed)

                worth.append(worths.next(made))
                if worth[-1] > best:
                    best, found = worth[-1], weighted
            strategy.tell(candidates, [1 - w for w in worth])
            say(f"search: generation {generation + 1} of {asked.generations}, best pseudo-homophily {best:.3f}")
    finally:
        np.random.set_state(stream)
    return found


def searched_in(
    folder: RunFolder,
    graph: Graph,
    config: TrainConfig,
    device: str = "cpu",
    say: Callable[[str], None] = lambda line: None,
) -> TrainConfig:
    """`searched` for the run in ``folder``, whose settings it becomes; ``config`` itself where training has begun."""
    if config.search.name == "none" or list_checkpoints(folder.checkpoints):
        return config
    found = searched(graph, config, device, say, record=folder.search_file)
    folder.write_config(found)
    return found


class _Worths:
    """What the candidates were worth, in the order in which the search asks for them; kept in a file."""

    def __init__(self, record: Path | None) -> None:
        self.record = record
        self.known: list[float] = []
        self.asked = 0
        if record is not None and record.exists():
            try:
                self.known = [float(worth) for worth in json.loads(record.read_text(encoding="utf-8"))["worth"]]
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                raise InputError(f"{record}: corrupt; remove it, and the search is made again") from None

    def next(self, make: Callable[[], float]) -> float:
        """That of the next candidate, from the file where it is there."""
        self.asked += 1
        if self.asked > len(self.known):
            self.known.append(make())
            if self.record is not None:
                with atomic_write(self.record) as aside:
                    aside.write_text(json.dumps({"worth": self.known}) + "\n", encoding="utf-8")
        return self.known[self.asked - 1]


def _weighted(config: TrainConfig, weights: Sequence[float]) -> TrainConfig:
    named = {task: float(weight) for task, weight in zip(config.tasks, weights, strict=True)}
    tree = merge(config.model_dump(), {"reconciler": {"settings": {"weights": named}}})
    return TrainConfig.model_validate(tree)


def before_search(found: TrainConfig, asked: TrainConfig) -> TrainConfig:
    """``found`` as it was asked for: the weights that a search has put into it are the run's own."""
    return found if asked.search.name == "none" else found.model_copy(update={"reconciler": asked.reconciler})
