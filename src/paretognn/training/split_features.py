"""Features split over the processes of a run: each holds the rows of its own nodes in memory, and has the rest sent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.graph.mapped import node_parts
from paretognn.nn import FeatureScaling, FeatureStore
from paretognn.nn.off_device import MappedStore
from paretognn.sampling import DeviceGraph
from paretognn.training.ranks import Ranks


def split_over(ranks: Ranks, graph: Graph, placed: DeviceGraph, scaling: FeatureScaling) -> DeviceGraph:
    """``placed`` with features split over the ranks by the parts of the graph's store. Walks and hops begin at a rank's
    own nodes, so that most of the rows that it needs are its own.

    InputError where the graph is not mapped from a store with parts, or they do not divide among the ranks.
    """
    if graph.stored is None or not isinstance(graph.features, np.memmap):
        raise InputError("--split-features is for an imported graph that is mapped from disk (1 GiB or more)")
    part = node_parts(graph.stored.folder)
    count = int(part.max()) + 1
    if count % ranks.count:
        raise InputError(
            f"{graph.stored.folder}: has {count} parts for {ranks.count} processes; import the graph with --parts "
            f"{ranks.count}, or start as many processes as divide {count}"
        )
    owner = part % ranks.count
    store = SplitStore(graph.features, scaling, owner, ranks, placed.device)
    return replace(placed, features=store, own=torch.from_numpy(np.flatnonzero(owner == ranks.index)).to(placed.device))


class SplitStore(FeatureStore):
    """Of features [N, D] mapped from disk, those that this rank owns, in memory.

    owner : the rank [N] of every node. `take` is an exchange: every rank calls it as often as the others, which
        sampling does, once for each task of a step.
    """

    def __init__(
        self, features: np.memmap, scaling: FeatureScaling, owner: np.ndarray, ranks: Ranks, device: torch.device
    ) -> None:
        super().__init__(None)
        own = np.flatnonzero(owner == ranks.index)
        self._ranks, self._shape = ranks, features.shape
        self._owner = torch.from_numpy(owner.astype(np.int64)).to(device)
        self._rows = MappedStore(features, scaling, device).take(torch.from_numpy(own)).rows()
        self._place = torch.full((len(owner),), -1, dtype=torch.int64, device=device)
        self._place[torch.from_numpy(own).to(device)] = torch.arange(len(own), device=device)

    @property
    def num_rows(self) -> int:
        return int(self._shape[0])

    @property
    def width(self) -> int:
        return int(self._shape[1])

    @property
    def device(self) -> torch.device:
        return self._rows.device

    def take(self, rows: Tensor) -> FeatureStore:
        owner = self._owner[rows]
        order = torch.argsort(owner, stable=True)
        asked = torch.bincount(owner, minlength=self._ranks.count)
        ones = [1] * self._ranks.count
        of_us = self._ranks.swap(asked, ones, ones).tolist()
        from_each = asked.tolist()
        wanted = self._ranks.swap(rows[order], from_each, of_us)
        sent = self._ranks.swap(self._rows[self._place[wanted]], of_us, from_each)
        found = torch.empty_like(sent)
        found[order] = sent
        return FeatureStore(found)

    def whole(self) -> FeatureStore:
        return self.take(torch.arange(self.num_rows, device=self.device))
