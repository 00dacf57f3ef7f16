"""What a cell was made on and with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import psutil
import torch

from paretognn._version import __version__

_LIBRARIES = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "pymetis")


def described(device: str = "cpu") -> dict[str, Any]:
    """Processor and card, cores, threads that torch uses, bytes of memory."""
    return {
        "device": torch.cuda.get_device_name() if device == "cuda" else processor(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "memory": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.machine()}",
    }


def processor() -> str:
    """The processor's name, as the system gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
        return names[0]
    except (OSError, IndexError):
        return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Of this package, Python and the libraries that a score depends on."""
    found = {"paretognn": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
