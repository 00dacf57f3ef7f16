"""Node embeddings for attributed graphs by multi-task self-supervision with Pareto-reconciled gradients."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paretognn._version import __version__

if TYPE_CHECKING:
    from paretognn.datasets import load_dataset
    from paretognn.errors import InputError
    from paretognn.estimator import BGRL, CCASSG, DGI, GRACE, MVGRL, AutoSSL, GraphMAE, ParetoGNN, evaluate
    from paretognn.graph import Graph, read_graph
    from paretognn.training.tensorboard import TensorBoard
    from paretognn.training.tracking import Tracker

# Loaded on first use, so that reading a table does not wait for torch.
_HOME = {
    "AutoSSL": "paretognn.estimator",
    "BGRL": "paretognn.estimator",
    "CCASSG": "paretognn.estimator",
    "DGI": "paretognn.estimator",
    "GRACE": "paretognn.estimator",
    "GraphMAE": "paretognn.estimator",
    "MVGRL": "paretognn.estimator",
    "Graph": "paretognn.graph",
    "InputError": "paretognn.errors",
    "ParetoGNN": "paretognn.estimator",
    "TensorBoard": "paretognn.training.tensorboard",
    "Tracker": "paretognn.training.tracking",
    "evaluate": "paretognn.estimator",
    "load_dataset": "paretognn.datasets",
    "read_graph": "paretognn.graph",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'paretognn' has no attribute '{name}'")


__all__ = [
    "BGRL",
    "CCASSG",
    "DGI",
    "GRACE",
    "MVGRL",
    "AutoSSL",
    "Graph",
    "GraphMAE",
    "InputError",
    "ParetoGNN",
    "TensorBoard",
    "Tracker",
    "__version__",
    "evaluate",
    "load_dataset",
    "read_graph",
]
