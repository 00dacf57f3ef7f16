"""One evaluation seed a core.

The probes are long runs of small operations. Threads inside an operation wait for each other after every one
of them, and where another process holds a core those waits add up to many times the work; seeds never wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Item = TypeVar("Item")
Result = TypeVar("Result")

MEMORY = 4 * 2**30
"""Bytes that simultaneous items may take together; an item above it runs alone."""


def map_seeds(function: Callable[[Item], Result], items: Sequence[Item], bytes_each: int = 0) -> list[Result]:
    """``[function(item) for item in items]``, on as many threads as torch may use.

    Arithmetic inside an item has one thread, so that results do not depend on the number of cores; only where
    ``bytes_each`` keeps items from running side by side does each get a share of the cores.
    """
    cores = torch.get_num_threads()
    wanted = min(cores, len(items))
    workers = max(1, min(wanted, MEMORY // max(bytes_each, 1)))
    inner = 1 if workers == wanted else cores // workers

    def limit() -> None:
        torch.set_num_threads(inner)
        threadpool_limits(inner)

    # Both limits reach beyond the thread that sets them, so they are restored here.
    with threadpool_limits(inner), ThreadPoolExecutor(workers, initializer=limit) as pool:
        try:
            return list(pool.map(function, items))
        finally:
            torch.set_num_threads(cores)
