"""Embeddings from anywhere judged on four downstream tasks: knows labels and graphs, never a model."""

from paretognn.downstream.evaluate import check_request, evaluate_embeddings
from paretognn.downstream.evaluation import ALL, Evaluation
from paretognn.downstream.link_file import load_link_split, save_link_split
from paretognn.downstream.link_prediction import hits_at_k
from paretognn.downstream.links import LinkSplit, split_links
from paretognn.downstream.notices import EvaluationWarning
from paretognn.downstream.partition import metis_partition
from paretognn.downstream.scores import TaskScore
from paretognn.downstream.splits import choose_splits, random_split, split_digest

__all__ = [
    "ALL",
    "Evaluation",
    "EvaluationWarning",
    "LinkSplit",
    "TaskScore",
    "check_request",
    "choose_splits",
    "evaluate_embeddings",
    "hits_at_k",
    "load_link_split",
    "metis_partition",
    "random_split",
    "save_link_split",
    "split_digest",
    "split_links",
]
