"""Which device a command runs on."""

from __future__ import annotations

import torch

from paretognn.errors import InputError


def choose_device(name: str) -> str:
    """``auto``: CUDA where there is one. InputError for an unknown or absent device."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda"):
        raise InputError(f"--device must be auto, cpu or cuda, not '{name}'")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: this machine has no CUDA device; use --device cpu or auto")
    return name
