"""Devices by name."""

from __future__ import annotations

import torch

from paretognn.errors import InputError

DEVICES = ("cpu", "cuda")


def require_device(name: str) -> str:
    """The name; InputError for an unknown or absent device."""
    if name not in DEVICES:
        raise InputError(f"device must be one of {', '.join(DEVICES)}, not '{name}'")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda: this machine has no CUDA device; use cpu")
    return name


def as_device(device: str | torch.device) -> str:
    """A device by name; ``auto``: CUDA where there is one. InputError for an unknown or absent device."""
    name = str(device)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return require_device(name)
