"""From a graph to what training runs on: features chosen, scaled and placed on the device."""

from __future__ import annotations

from torch import Tensor

from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.graph.structural import structural_features
from paretognn.nn import FeatureScaling
from paretognn.nn.off_device import place_features
from paretognn.sampling import DeviceGraph
from paretognn.training.device import require_device


def with_features(graph: Graph) -> Graph:
    """The graph itself, or where it has no features, with structural ones."""
    if graph.features is not None and graph.num_features > 0:
        return graph
    return graph.replace(features=structural_features(graph), feature_columns=None)


def prepare(
    graph: Graph, kind: str, device: str, scaling: FeatureScaling | None = None
) -> tuple[DeviceGraph, FeatureScaling]:
    """Place ``graph`` on ``device``; ``scaling`` is that of the training graph, or None to learn it here.

    InputError for a device that is not there, and where the graph has another number of feature columns than
    ``scaling``.
    """
    require_device(device)
    bare = graph.features is None
    graph = with_features(graph)
    assert graph.features is not None
    if scaling is None:
        scaling = FeatureScaling.fit(graph.features, kind)
    elif graph.features.shape[1] != len(scaling.mean):
        raise InputError(
            f"the graph has {'no' if bare else graph.features.shape[1]} feature columns, the encoder was trained on "
            f"{len(scaling.mean)}"
        )
    return DeviceGraph.from_graph(graph, place_features(graph.features, scaling, device), device), scaling


def beside(rows: Tensor, graph: Graph, placed: DeviceGraph, scaling: FeatureScaling) -> DeviceGraph:
    """``placed``, or where its ``rows`` [N, d] did not fit on its device, the graph on the host, as they are."""
    return placed if rows.device == placed.device else prepare(graph, scaling.kind, "cpu", scaling)[0]
