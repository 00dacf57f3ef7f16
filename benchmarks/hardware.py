"""What a benchmark ran on, and what that machine can do at most."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import torch

from paretognn.benchmark.hardware import processor


def described(device: str = "cpu") -> dict[str, Any]:
    """Processor or card, threads and versions."""
    name = torch.cuda.get_device_name() if device == "cuda" else processor()
    return {
        "device": name,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def forget_peak() -> int:
    """Resident bytes now, from which on Linux the peak of the process counts anew."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return int(psutil.Process().memory_info().rss)


def seconds(run: Callable[[], Any], repeats: int = 5) -> float:
    """The fastest of some runs, after one of warm-up."""
    run()
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - started)
    return best


def gemm_rate(size: int = 2048, device: str = "cpu") -> float:
    """Floating-point operations a second of a float32 product of square matrices."""
    a = torch.randn(size, size, device=device)
    b, out = torch.randn(size, size, device=device), torch.empty(size, size, device=device)
    return 2 * size**3 / seconds(lambda: torch.mm(a, b, out=out))


def stream_rate(entries: int = 1 << 26, device: str = "cpu") -> float:
    """Bytes a second of a copy of float32 (read and write counted)."""
    a, b = torch.zeros(entries, device=device), torch.zeros(entries, device=device)
    return 2 * 4 * entries / seconds(lambda: b.copy_(a))
