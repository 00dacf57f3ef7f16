"""Encoder, heads and the sparse operations under them."""

from paretognn.nn.branched import BranchedGCN
from paretognn.nn.encoder import ENCODERS, Encoder, OwnSettings
from paretognn.nn.features import FeatureScaling, FeatureStore, FeatureView
from paretognn.nn.gcn import GCN, DiffusionSettings, EncoderSettings
from paretognn.nn.norm import BatchNorm
from paretognn.nn.pyg import PyGEncoder
from paretognn.nn.sparse import Csr
from paretognn.nn.view import View

__all__ = [
    "ENCODERS",
    "GCN",
    "BatchNorm",
    "BranchedGCN",
    "Csr",
    "DiffusionSettings",
    "Encoder",
    "EncoderSettings",
    "FeatureScaling",
    "FeatureStore",
    "FeatureView",
    "OwnSettings",
    "PyGEncoder",
    "View",
]
