"""The estimator: scikit-learn's contract around a run."""

from __future__ import annotations

import copy
import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from torch import nn

from paretognn.downstream import ALL, check_request
from paretognn.downstream.notices import collected
from paretognn.errors import InputError
from paretognn.graph import Graph, as_graph
from paretognn.methods import Method, method_config, run_method, searched
from paretognn.methods.judge import judge, link_embeddings, open_link_split, protocol_split
from paretognn.training import RunFolder, TrainedEncoder, train
from paretognn.training.multitask import StepRecord


class ParetoGNN(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Self-supervised node embeddings (Ju et al., 2023): ``ParetoGNN().fit(graph).transform(graph)``.

    A graph is a `Graph`, a PyG ``Data``, a networkx graph, or a pair (scipy adjacency, features).

    Parameters
    ----------
    method : name of a method (``paretognn``, ``weighted-sum``, ``bgrl``, ...), or a `Method` of one's own.
    preset : ``auto``, ``quick`` or ``paper``.
    steps : optimiser steps; None for the preset's.
    seed : training seed.
    device : ``cpu`` or ``cuda``.
    settings : a tree of settings laid over method and preset, as in a config file.
    encoder : any PyG module with ``forward(x, edge_index)`` in place of the built-in one; a copy of it is trained.

    Attributes
    ----------
    config_ : the resolved settings. encoder_ : the frozen `TrainedEncoder`. embedding_ : float32 [N, d] of
    the training graph. history_ : one `StepRecord` a step.
    """

    def __init__(
        self,
        method: str | Method | type[Method] = "paretognn",
        preset: str = "auto",
        steps: int | None = None,
        seed: int = 0,
        device: str = "cpu",
        settings: dict[str, Any] | None = None,
        encoder: nn.Module | None = None,
    ) -> None:
        self.method = method
        self.preset = preset
        self.steps = steps
        self.seed = seed
        self.device = device
        self.settings = settings
        self.encoder = encoder

    def fit(self, graph: Any, y: Any = None) -> ParetoGNN:
        """Train on ``graph``; ``y`` is ignored, and labels in the graph are never looked at."""
        own = as_graph(graph)
        overrides = dict(self.settings or {})
        overrides |= {"method": self.method, "preset": self.preset, "seed": self.seed}
        if self.steps is not None:
            overrides["steps"] = self.steps
        config, _ = method_config(own, overrides=overrides)
        self.config_ = searched(own, config, self.device, encoder=self.encoder)
        self.history_: list[StepRecord] = []
        self.encoder_, self.embedding_ = train(
            own, self.config_, self.device, progress=self.history_.append, encoder=copy.deepcopy(self.encoder)
        )
        self._digest = own.digest()
        return self

    def transform(self, graph: Any) -> np.ndarray:
        """float32 [N, d] for the training graph, or any other with the same feature columns."""
        self._require_fit()
        own = as_graph(graph)
        if own.digest() == self._digest:
            return self.embedding_.copy()
        return self.encoder_.embed(own)

    def fit_transform(self, graph: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """`fit`, then the embeddings of the training graph."""
        return self.fit(graph, y).embedding_.copy()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write settings and encoder to a run folder; no pickle."""
        self._require_fit()
        if self.encoder is not None:
            raise InputError("an encoder that was passed in cannot be saved: its class is not ours to rebuild")
        home = RunFolder(folder)
        home.write_config(self.config_)
        self.encoder_.save(home)
        home.write_json(home.graph_json, {"digest": self._digest, "copy": False})

    @classmethod
    def load(cls, folder: str | os.PathLike[str], device: str = "cpu") -> ParetoGNN:
        """A fitted estimator from a run folder, also from one that ``paretognn train`` wrote; to `fit` it on the run's
        graph repeats the run."""
        home = RunFolder(folder)
        trained = TrainedEncoder.load(home, device)
        config = trained.config
        model = cls(run_method(config), config.preset, config.steps, config.seed, device)
        model.config_, model.encoder_, model.history_ = config, trained, []
        model._digest = ""
        return model

    def _require_fit(self) -> None:
        if not hasattr(self, "encoder_"):
            raise NotFittedError("this ParetoGNN is not fitted yet; call fit(graph) first")


def evaluate(
    model: ParetoGNN | np.ndarray,
    graph: Any,
    *,
    seeds: int = 10,
    split: str | None = None,
    tasks: list[str] | None = None,
    controls: bool = False,
    link: bool = True,
) -> dict[str, Any]:
    """Judge a fitted estimator, or embeddings [N, d] from anywhere, on the four tasks.

    For an estimator, link prediction trains a second model on the graph without the test links; ``link=False``
    leaves that out. Embeddings alone get no link score: they have seen the test links. Returns the content
    of ``evaluation.json``.
    """
    own: Graph = as_graph(graph)
    chosen = tuple(tasks) if tasks is not None else ALL
    if not isinstance(model, ParetoGNN):
        matrix = np.asarray(model)
        config = (
            method_config(own, overrides={"encoder": {"hidden_dims": [512, matrix.shape[1]]}})[0] if controls else None
        )
        return judge(matrix, own, tasks=chosen, seeds=seeds, split=split, controls=config)
    check_request(own, chosen, seeds, split or protocol_split(own))  # before the link model takes its time
    links, reason = None, None
    with collected() as notes:
        if link and "link_prediction" in chosen:
            try:
                pairs = open_link_split(own, model.config_)
            except InputError as error:
                reason = str(error)
            else:
                fresh = copy.deepcopy(model.encoder)
                links = (link_embeddings(pairs.train_graph(own), model.config_, model.device, encoder=fresh), pairs)
    result = judge(
        model.transform(own), own, tasks=chosen, seeds=seeds, split=split, link=links, link_reason=reason,
        controls=model.config_ if controls else None,
    )  # fmt: skip
    return {**result, "warnings": list(dict.fromkeys([*notes, *result["warnings"]]))}
