"""Which device a command runs on."""

from __future__ import annotations

from paretognn.errors import InputError
from paretognn.training.device import DEVICES, as_device


def choose_device(name: str) -> str:
    """``auto``: CUDA where there is one. InputError for an unknown or absent device."""
    if name not in ("auto", *DEVICES):
        raise InputError(f"--device must be auto, cpu or cuda, not '{name}'")
    return as_device(name)
