"""Named rows of the house: methods, their presets, and the training-free controls."""

from paretognn.methods.controls import CONTROLS, control_embeddings
from paretognn.methods.presets import PRESETS, preset_settings
from paretognn.methods.rows import DEFAULT, METHODS, Method, method_config, run_method
from paretognn.methods.search import searched, searched_in

__all__ = [
    "CONTROLS",
    "DEFAULT",
    "METHODS",
    "PRESETS",
    "Method",
    "control_embeddings",
    "method_config",
    "preset_settings",
    "run_method",
    "searched",
    "searched_in",
]
