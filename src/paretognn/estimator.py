"""The estimator: scikit-learn's contract around a run."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data
from torch import nn

from paretognn.downstream import ALL, check_request
from paretognn.downstream.notices import collected
from paretognn.errors import InputError
from paretognn.graph import Graph, as_graph
from paretognn.graph.host import to_host
from paretognn.methods import Method, method_config, run_method, searched
from paretognn.methods.judge import judge, link_embeddings, linked, protocol_split
from paretognn.methods.judged_region import judged_region
from paretognn.neighbours import NeighbourGraph
from paretognn.training import EachStep, RunFolder, Tracker, TrainedEncoder, train
from paretognn.training.device import as_device
from paretognn.training.multitask import StepRecord


@contextmanager
def _torch_as_usual() -> Iterator[None]:
    """A context in which torch makes float32 and keeps gradients, whatever the caller has set."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)


class ParetoGNN(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Self-supervised node embeddings (Ju et al., 2023): ``ParetoGNN().fit(graph).transform(graph)``.

    What X is, in `fit` and `transform`:

    - A graph: a `Graph`, a PyG ``Data``, a networkx graph, a scipy adjacency, or a pair (adjacency, features). All its
      nodes are embedded, in their order. Another graph with the same feature columns is embedded without retraining.
    - With the parameter ``graph``: names of nodes of that graph, [n] or [n, 1], as in its ids (positions, where it has
      none of its own). The encoder is trained on the whole graph, without labels, whichever nodes X names; splits of X,
      as in ``cross_val_score``, are splits of the nodes whose labels a classifier sees.
    - A plain matrix of features [n, D] without a graph: its rows are the nodes, each joined to its ``n_neighbors``
      nearest. New rows take in their nearest rows of training, one by one; a row of training is known again.

    Parameters
    ----------
    method : name of a method (``paretognn``, ``weighted-sum``, ``bgrl``, ...), or a `Method` of one's own.
    preset : ``auto``, ``quick`` or ``paper``.
    steps : optimiser steps; None for the settings', else the preset's.
    seed : training seed.
    device : ``cpu``, ``cuda``, or ``auto``: CUDA where there is one.
    settings : a tree of settings laid over method and preset, as in a config file.
    encoder : any PyG module with ``forward(x, edge_index)`` in place of the built-in one; a copy of it is trained.
    graph : the graph whose nodes X names; None where X is a graph, or a matrix.
    n_neighbors : edges that each row of a plain matrix has at least.

    Attributes
    ----------
    config_ : the resolved settings. encoder_ : the frozen `TrainedEncoder`. embedding_ : float32 [N, d] of all nodes of
    the training graph. history_ : one `StepRecord` a step. n_features_in_, feature_names_in_ : those of a plain matrix.

    Cross-validation over the labelled nodes of a graph::

        model = make_pipeline(ParetoGNN(graph=graph), LogisticRegression())
        cross_val_score(model, nodes, labels)

    Every fold trains anew; ``FrozenEstimator(ParetoGNN(graph=graph).fit(nodes))`` in its place trains once.
    """

    def __init__(
        self,
        method: str | Method | type[Method] = "paretognn",
        preset: str = "auto",
        steps: int | None = None,
        seed: int = 0,
        device: str | torch.device = "cpu",
        settings: dict[str, Any] | None = None,
        encoder: nn.Module | None = None,
        graph: Any = None,
        n_neighbors: int = 10,
    ) -> None:
        self.method = method
        self.preset = preset
        self.steps = steps
        self.seed = seed
        self.device = device
        self.settings = settings
        self.encoder = encoder
        self.graph = graph
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any = None, *, trackers: Sequence[Tracker] = ()) -> ParetoGNN:
        """Train on the graph that X is, or names nodes of; ``y`` is ignored, and so are labels in the graph.
        ``trackers`` are told of every step. Where it fails, or is interrupted, an earlier fit stays as it was."""
        before = self.__dict__.copy()
        try:
            return self._fit(X, trackers)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    @_torch_as_usual()
    def _fit(self, X: Any, trackers: Sequence[Tracker]) -> ParetoGNN:
        self._neighbours: NeighbourGraph | None = None
        self._named: Graph | None = None
        if self.graph is not None:
            own = self._named = as_graph(self.graph)
            _places(own, X)
        elif _is_matrix(X):
            with _text_refused():
                matrix = validate_data(self, X, dtype=np.float32, order="C", ensure_min_samples=2)
            self._neighbours = NeighbourGraph(matrix, self.n_neighbors)
            own = self._neighbours.graph
        else:
            own = _graph(X)
        if self.encoder is not None and own.weights is not None:
            warnings.warn("an encoder that was passed in sees edges without their weights", stacklevel=4)
        device = as_device(self.device)
        config, _ = method_config(own, overrides=self._overrides())
        self.config_ = searched(own, config, device, encoder=self.encoder)
        self.history_: list[StepRecord] = []
        self.encoder_, self.embedding_ = train(
            own,
            self.config_,
            device,
            trackers=[EachStep(self.history_.append), *trackers],
            encoder=copy.deepcopy(self.encoder),
        )
        self._digest = own.digest()
        return self

    def _overrides(self) -> dict[str, Any]:
        """What is laid over the presets. InputError for settings that parameters have, and say otherwise."""
        settings = {} if self.settings is None else self.settings
        if not isinstance(settings, dict):
            raise InputError(f"settings must be a tree (a dict of settings), not {settings!r}")
        if self.encoder is not None and "encoder" in settings:
            raise InputError("settings['encoder'] is of the built-in encoder, and one of your own is passed in")
        own = {"method": self.method, "preset": self.preset, "seed": self.seed}
        for name, value in own.items():
            if name in settings and settings[name] != value:
                raise InputError(
                    f"settings['{name}'] is {settings[name]!r}, and the parameter {name} is {value!r}: say it by the "
                    "parameter alone"
                )
        return {**settings, **own, **({} if self.steps is None else {"steps": self.steps})}

    @_torch_as_usual()
    def transform(self, X: Any) -> np.ndarray:
        """float32 [n, d]: of the nodes that X names, of its rows, or of all nodes of the graph that it is."""
        self._require_fit()
        if not _is_matrix(X):
            own = _graph(X)
            if own.digest() == self._digest and hasattr(self, "embedding_"):
                return self.embedding_.copy()
            return self.encoder_.embed(own)
        if self._named is not None:
            return self.embedding_[_places(self._named, X)]
        if self._neighbours is None:
            raise InputError(f"cannot make a graph of a {type(X).__name__}: it was fitted on a graph; give one")
        rows = validate_data(self, X, dtype=np.float32, order="C", reset=False)
        if len(rows) == len(self.embedding_) and np.array_equal(rows, self._neighbours.features):
            return self.embedding_.copy()
        return self._neighbours.embed(self.encoder_, self.embedding_, rows)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """`fit`, then `transform`."""
        return self.fit(X, y, **fit_params).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """``e0``, ``e1``, ...: the columns of an embeddings file. ``input_features`` is ignored."""
        self._require_fit()
        return np.array([f"e{j}" for j in range(self.encoder_.width)], dtype=object)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write settings and encoder to a run folder, and the graph where X is not one itself; no pickle. An earlier
        estimator's is replaced; InputError for a folder that holds anything else."""
        self._require_fit()
        if self.encoder is not None:
            raise InputError("an encoder that was passed in cannot be saved: its class is not ours to rebuild")
        home = RunFolder(folder)
        if home.path.exists() and not home.path.is_dir():
            raise InputError(f"{home.path}: is a file; an estimator is saved to a folder")
        saved = home.model_file.exists() and home.graph_json.exists() and not home.metrics_file.exists()
        if home.occupied() and not saved:
            raise InputError(f"{home.path}: is not empty, and holds no saved estimator; choose another folder")
        home.write_config(self.config_)
        self.encoder_.save(home)
        if self._neighbours is not None:
            names = getattr(self, "feature_names_in_", None)
            titles = None if names is None else list(names)
            kept = {"rows": {"neighbours": self._neighbours.neighbours, "names": titles}}
            home.save_graph(self._neighbours.graph, kept, copy=True)
        elif self._named is not None:
            home.save_graph(self._named, {"named": True}, copy=True)
        else:
            home.write_json(home.graph_json, {"digest": self._digest, "copy": False})

    @classmethod
    @_torch_as_usual()
    def load(cls, folder: str | os.PathLike[str], device: str | torch.device = "cpu") -> ParetoGNN:
        """A fitted estimator from a run folder, also from one that ``paretognn train`` wrote; to `fit` it on the run's
        graph repeats the run."""
        home = RunFolder(folder)
        trained = TrainedEncoder.load(home, as_device(device))
        config = trained.config
        model = ParetoGNN(run_method(config), config.preset, config.steps, config.seed, trained.device)
        model.config_, model.encoder_, model.history_ = config, trained, []
        model._digest, model._neighbours, model._named = "", None, None
        kept = home.read_json(home.graph_json) if home.graph_json.exists() else {}
        graph = home.graph() if "rows" in kept or "named" in kept else None
        if graph is not None:
            model.embedding_, model._digest = trained.embed(graph), graph.digest()
            if "named" in kept:
                model.graph = model._named = graph
            else:
                model._restore_rows(graph, kept["rows"], home)
        return model

    def _restore_rows(self, graph: Graph, kept: Any, home: RunFolder) -> None:
        try:
            self.n_neighbors, names = int(kept["neighbours"]), kept["names"]
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            self._neighbours = NeighbourGraph(np.asarray(graph.features), self.n_neighbors)
            self.n_features_in_ = graph.num_features
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{home.graph_json}: corrupt (it does not say how rows are joined)") from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # float32 whatever X is
        return tags

    def _require_fit(self) -> None:
        if not hasattr(self, "encoder_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")


def _is_matrix(X: Any) -> bool:
    """Rows, or names of nodes, rather than a graph."""
    return isinstance(X, list | range) or (hasattr(X, "__array__") and not sp.issparse(X))


@contextmanager
def _text_refused() -> Iterator[None]:
    """InputError, in the place of numpy's, where a matrix holds text, such as the ids of a table."""
    try:
        yield
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise InputError(
            f"X holds text ({error}): fit takes a graph, or a matrix of numbers alone, a row a node; tables of "
            "nodes and edges become a graph by read_graph"
        ) from None


def _graph(X: Any) -> Graph:
    if sp.issparse(X) and X.shape[0] != X.shape[1]:
        raise InputError(
            f"a sparse X is an adjacency matrix, and this one is not square: {X.shape}; give sparse features beside "
            "one, as a pair (adjacency, features)"
        )
    return as_graph(X)


def _places(graph: Graph, names: Any) -> np.ndarray:
    """int64 [n]: where the nodes of these names stand. InputError for a name that is none."""
    if not _is_matrix(names):
        raise InputError(f"the graph is a parameter, and X names its nodes; it is a {type(names).__name__}")
    array = np.asarray(names)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"X names nodes of the graph, one a row: its shape must be [n] or [n, 1], not {array.shape}")
    asked = [str(name) for name in array.tolist()]
    known = {name: place for place, name in enumerate(graph.id_array().to_pylist())}
    for name in asked:
        if name not in known:
            raise InputError(f"X names '{name}', which is no node of the graph")
    return np.array([known[name] for name in asked], dtype=np.int64)


def _named(name: str, method: str, paper: str) -> type[ParetoGNN]:
    """`ParetoGNN` with ``method`` settled."""

    def init(
        self: ParetoGNN,
        preset: str = "auto",
        steps: int | None = None,
        seed: int = 0,
        device: str | torch.device = "cpu",
        settings: dict[str, Any] | None = None,
        encoder: nn.Module | None = None,
        graph: Any = None,
        n_neighbors: int = 10,
    ) -> None:
        ParetoGNN.__init__(self, method, preset, steps, seed, device, settings, encoder, graph, n_neighbors)

    text = f"{paper} as an estimator: `ParetoGNN` with the method ``{method}``, and its other parameters."
    return type(name, (ParetoGNN,), {"__init__": init, "__doc__": text, "__module__": __name__})


DGI = _named("DGI", "dgi", "Deep Graph Infomax (Velickovic et al., 2019)")
GRACE = _named("GRACE", "grace", "GRACE (Zhu et al., 2020)")
MVGRL = _named("MVGRL", "mvgrl", "MVGRL (Hassani and Khasahmadi, 2020)")
BGRL = _named("BGRL", "bgrl", "BGRL (Thakoor et al., 2022)")
CCASSG = _named("CCASSG", "cca-ssg", "CCA-SSG (Zhang et al., 2021)")
GraphMAE = _named("GraphMAE", "graphmae", "GraphMAE (Hou et al., 2022)")
AutoSSL = _named("AutoSSL", "autossl", "AutoSSL (Jin et al., 2022)")


@_torch_as_usual()
def evaluate(
    model: ParetoGNN | np.ndarray,
    graph: Any,
    *,
    seeds: int = 10,
    split: str | None = None,
    tasks: list[str] | None = None,
    controls: bool = False,
    link: bool = True,
    region: int | None = None,
) -> dict[str, Any]:
    """Judge a fitted estimator, or embeddings [N, d] from anywhere, on the four tasks.

    For an estimator, link prediction trains a second model on the graph without the test links; ``link=False``
    leaves that out. Embeddings alone get no link score: they have seen the test links. A ``region`` of at most so many
    nodes is judged in place of all, which is 50,000 where the graph is on disk. Returns the content of
    ``evaluation.json``.
    """
    own: Graph = as_graph(graph)
    chosen = tuple(tasks) if tasks is not None else ALL
    whole, judged = own, judged_region(own, region)
    own = judged.graph
    check_request(own, chosen, seeds, split or protocol_split(own))  # before what takes its time
    matrix = judged.rows(model.transform(whole) if isinstance(model, ParetoGNN) else to_host(model))
    if not isinstance(model, ParetoGNN):
        config = (
            method_config(own, overrides={"encoder": {"hidden_dims": [512, matrix.shape[1]]}})[0] if controls else None
        )
        result = judge(matrix, own, tasks=chosen, seeds=seeds, split=split, controls=config)
        return judged.told(result)
    links, reason = None, None

    def second_model(seen: Graph) -> np.ndarray:
        return link_embeddings(seen, model.config_, as_device(model.device), encoder=copy.deepcopy(model.encoder))

    with collected() as notes:
        if link and "link_prediction" in chosen:
            links, reason = linked(own, model.config_, second_model)
    result = judge(
        matrix, own, tasks=chosen, seeds=seeds, split=split, link=links, link_reason=reason,
        controls=model.config_ if controls else None,
    )  # fmt: skip
    return judged.told(result, notes)
