"""The Ray cluster that a command works on."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paretognn.errors import InputError

RETRIES = 3
"""How often what a lost machine was at is begun again elsewhere."""


@contextmanager
def connected() -> Iterator[None]:
    """Connected to the cluster at RAY_ADDRESS, else the one that runs on this machine, else one of this machine alone.

    InputError where Ray is not installed, or the cluster cannot be reached.
    """
    try:
        import ray
    except ImportError:
        raise InputError("Ray is not installed: pip install 'paretognn[ray]'") from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # of a cluster that is started here
    try:
        _knock(os.environ.get("RAY_ADDRESS", ""))
        ray.init(log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except (OSError, RuntimeError, ValueError) as error:
        where = os.environ.get("RAY_ADDRESS", "this machine")
        raise InputError(f"the Ray cluster at {where} cannot be reached ({said(error)})") from None
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """OSError where nobody answers; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def said(error: BaseException) -> str:
    """The first line of an error of Ray's, of which there are often many."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def machines() -> list[dict[str, float]]:
    """What each machine of the cluster has: ``CPU``, ``GPU``, ``memory`` in bytes."""
    import ray

    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def cluster_device(asked: str) -> str:
    """``auto``: CUDA where the cluster has a GPU. InputError for an unknown or absent device."""
    has = any(machine.get("GPU") for machine in machines())
    if asked == "auto":
        return "cuda" if has else "cpu"
    if asked not in ("cpu", "cuda"):
        raise InputError(f"--device must be auto, cpu or cuda, not '{asked}'")
    if asked == "cuda" and not has:
        raise InputError("--device cuda: no machine of the Ray cluster has a GPU; use cpu")
    return asked


def share(device: str) -> dict[str, Any]:
    """What one piece of work takes of a machine, as Ray's options: two cores where a machine has them, or a GPU."""
    if device == "cuda":
        return {"num_cpus": 1, "num_gpus": 1}
    return {"num_cpus": int(min(2, max((machine.get("CPU", 0) for machine in machines()), default=1))) or 1}


def places(device: str) -> int:
    """How many pieces of work, each with its `share`, the machines hold at once."""
    taken = share(device)
    counts = [
        min(int(machine.get(name, 0) // taken[option]) for option, name in _NAMES.items() if option in taken)
        for machine in machines()
    ]
    return max(1, sum(counts))


_NAMES = {"num_cpus": "CPU", "num_gpus": "GPU"}
