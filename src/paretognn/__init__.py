"""Node embeddings for attributed graphs by multi-task self-supervision with Pareto-reconciled gradients."""

from importlib.metadata import version

from paretognn.datasets import load_dataset
from paretognn.errors import InputError
from paretognn.estimator import ParetoGNN, evaluate
from paretognn.graph import Graph, read_graph

__version__ = version("paretognn")
__all__ = ["Graph", "InputError", "ParetoGNN", "evaluate", "load_dataset", "read_graph"]
