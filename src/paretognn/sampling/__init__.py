"""Sub-graphs and views, drawn on the graph's own device from a seeded generator."""

from paretognn.sampling.augment import Augmentation, augment, clean_view
from paretognn.sampling.device_graph import DeviceGraph
from paretognn.sampling.diffusion import diffused
from paretognn.sampling.sage import sage_view, sample_neighbours
from paretognn.sampling.sampler import SAMPLERS, AnySampler, Sampler, SamplerSettings
from paretognn.sampling.subgraph import Subgraph, induced, k_hop, random_nodes, saint_nodes, saint_walks, whole

__all__ = [
    "SAMPLERS",
    "AnySampler",
    "Augmentation",
    "DeviceGraph",
    "Sampler",
    "SamplerSettings",
    "Subgraph",
    "augment",
    "clean_view",
    "diffused",
    "induced",
    "k_hop",
    "random_nodes",
    "sage_view",
    "saint_nodes",
    "saint_walks",
    "sample_neighbours",
    "whole",
]
