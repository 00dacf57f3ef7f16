"""Random streams that need no saved state: each is a function of the run's seed, the step and a name."""

from __future__ import annotations

import hashlib

import torch


def stream_seed(seed: int, step: int, name: str) -> int:
    """A 63-bit seed for one purpose (a task's name, ``init``) at one step."""
    digest = hashlib.blake2b(f"{seed}/{step}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") & (2**63 - 1)


def stream(seed: int, step: int, name: str, device: torch.device | str) -> torch.Generator:
    """A generator on ``device``, seeded by `stream_seed`; adding a task changes no other task's stream."""
    return torch.Generator(device).manual_seed(stream_seed(seed, step, name))
