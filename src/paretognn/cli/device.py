"""Which device a command runs on."""

from __future__ import annotations

import torch

from paretognn.errors import InputError
from paretognn.training.device import DEVICES, require_device


def choose_device(name: str) -> str:
    """``auto``: CUDA where there is one. InputError for an unknown or absent device."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name not in DEVICES:
        raise InputError(f"--device must be auto, cpu or cuda, not '{name}'")
    return require_device(name)
