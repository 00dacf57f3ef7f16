"""How well nodes of low and of high degree are predicted from their embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretognn.downstream import random_split
from paretognn.downstream.probe import fit_probe

BINS = 5
SAMPLE = 20_000


@dataclass(frozen=True, eq=False)
class ByDegree:
    """names : of B groups of test nodes, by degree. accuracy, nodes : of each group. left_out : whether some labelled
    nodes are in no part."""

    names: tuple[str, ...]
    accuracy: np.ndarray
    nodes: np.ndarray
    left_out: bool


def accuracy_by_degree(units: np.ndarray, codes: np.ndarray, degrees: np.ndarray, seed: int = 0) -> ByDegree:
    """Test accuracy of the linear probe on one random split (10/10/80), for groups of about equally many test nodes;
    of `SAMPLE` random labelled nodes where there are more.

    units : float32 [N, d]. codes : int64 [N], -1 where unknown: those nodes take no part. degrees : int64 [N].
    Raises InputError where `random_split` does.
    """
    labelled = np.flatnonzero(codes >= 0)
    left_out = len(labelled) > SAMPLE
    if left_out:
        chosen = np.random.default_rng(seed).choice(labelled, SAMPLE, replace=False)
        codes = np.where(np.isin(np.arange(len(codes)), chosen), codes, -1)
    split = random_split(codes, seed)
    right = fit_probe(units, codes, split).predict(units[split.test]) == codes[split.test]
    own = degrees[split.test]
    starts = np.unique(np.quantile(own, np.linspace(0, 1, BINS + 1)[:-1], method="lower"))
    group = np.searchsorted(starts, own, side="right") - 1
    nodes = np.bincount(group, minlength=len(starts))
    last = [*(starts[1:] - 1), own.max()]
    names = tuple(
        f"{a}" if a == b else f"{a}–{b}" for a, b in zip(starts.tolist(), np.asarray(last).tolist(), strict=True)
    )
    return ByDegree(names, np.bincount(group, right, len(starts)) / nodes, nodes, left_out)
