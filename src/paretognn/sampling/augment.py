"""Augmentations: edge dropping, feature masking, node dropping. Each view draws its own."""

from __future__ import annotations

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from paretognn.nn.features import FeatureView
from paretognn.nn.view import View
from paretognn.sampling.normalise import normalised
from paretognn.sampling.subgraph import Subgraph


class Augmentation(BaseModel):
    """Probabilities that an edge is dropped, a feature column masked, a node dropped."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    edge_drop: float = Field(0.0, ge=0, lt=1)
    feature_mask: float = Field(0.0, ge=0, lt=1)
    node_drop: float = Field(0.0, ge=0, lt=1)


def pair_uniform(low: Tensor, high: Tensor, key: Tensor | int) -> Tensor:
    """A number in [0, 1) for every unordered pair that depends on the pair and the key alone (float32 [E]).

    A hash instead of a stream of random numbers: both directions of a pair get the same number without any
    map from entries to pairs, in the whole graph and in any sub-graph.
    """
    h = low * -7046029254386353131 + (high ^ key)
    for shift, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):
        h = (h ^ ((h >> shift) & ((1 << (64 - shift)) - 1))) * factor
    return ((h >> 40) & 0xFFFFFF).to(torch.float32) * (1.0 / (1 << 24))


def clean_view(subgraph: Subgraph) -> View:
    """The sub-graph as it is. The adjacency of the whole graph is made once."""
    if subgraph.indptr is subgraph.parent.indptr:
        adjacency = subgraph.parent.adjacency
    else:
        adjacency = normalised(subgraph.indptr, subgraph.indices, subgraph.weights)
    return View(FeatureView(subgraph.features), (adjacency,), subgraph.nodes, subgraph.seeds)


def augment(subgraph: Subgraph, settings: Augmentation, generator: torch.Generator) -> View:
    """One augmented view of the sub-graph.

    Edges are dropped with both directions together, so that the adjacency stays symmetric. A dropped node
    keeps its row but loses its features and its edges, so that the rows of two views stay aligned.
    """
    indptr, indices, weights = subgraph.indptr, subgraph.indices, subgraph.weights
    n, device = subgraph.num_nodes, subgraph.indices.device
    row_mask = None
    keep = None
    if settings.node_drop > 0:
        row_mask = torch.rand(n, generator=generator, device=device) < settings.node_drop
    if settings.edge_drop > 0 or row_mask is not None:
        rows = torch.repeat_interleave(
            torch.arange(n, device=device), indptr[1:] - indptr[:-1], output_size=len(indices)
        )
        if settings.edge_drop > 0:
            key = torch.randint(2**62, (1,), generator=generator, device=device)
            uniform = pair_uniform(torch.minimum(rows, indices), torch.maximum(rows, indices), key)
            keep = uniform >= settings.edge_drop
        if row_mask is not None:
            alive = ~(row_mask[rows] | row_mask[indices])
            keep = alive if keep is None else keep & alive
    if keep is not None:
        before = torch.zeros(len(indices) + 1, dtype=torch.int64, device=device)
        before[1:] = keep.cumsum(0)
        indptr, indices = before[indptr], indices[keep]
        weights = None if weights is None else weights[keep]
    store = subgraph.features
    column_mask = None
    if settings.feature_mask > 0:
        uniform = torch.rand(store.width, generator=generator, device=device)
        column_mask = (uniform >= settings.feature_mask).to(torch.float32)
    features = FeatureView(store, None, column_mask, row_mask)
    return View(features, (normalised(indptr, indices, weights),), subgraph.nodes, subgraph.seeds)
