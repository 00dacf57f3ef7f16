"""A view: what an encoder is given. A sub-graph after augmentation, its adjacency already normalised."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from paretognn.nn.features import FeatureView
from paretognn.nn.sparse import Csr


@dataclass(eq=False)
class View:
    """One encoder input.

    features : the features of the view's M source nodes.
    adjacencies : one normalised matrix for every layer (the last is repeated where there are fewer than
        layers); square for a sub-graph, [rows of layer l+1, rows of layer l] for sampled blocks, whose
        target nodes are the first of their source nodes.
    nodes : int64 [n] ids in the graph of the rows that come out; None for all.
    seeds : int64 [S] positions of the seed nodes among these rows; None for all.
    """

    features: FeatureView
    adjacencies: tuple[Csr, ...]
    nodes: Tensor | None = None
    seeds: Tensor | None = None

    @property
    def num_rows(self) -> int:
        """Rows of the encoder's output."""
        return self.adjacencies[-1].shape[0]

    def adjacency(self, layer: int) -> Csr:
        return self.adjacencies[min(layer, len(self.adjacencies) - 1)]

    def edge_index(self) -> Tensor:
        """int64 [2, E] (source, target) over the view's source nodes, as PyG writes it; without self-loops."""
        edges = [torch.stack([a.indices.long(), a.row_of_entry()]) for a in self.adjacencies]
        joined = edges[0] if len(edges) == 1 else torch.unique(torch.cat(edges, 1), dim=1)
        return joined[:, joined[0] != joined[1]]
