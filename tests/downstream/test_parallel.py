import threading

import torch

from paretognn.downstream.parallel import MEMORY, map_seeds


def test_results_in_order_and_threads_restored():
    before = torch.get_num_threads()
    assert map_seeds(lambda seed: seed * seed, range(20)) == [seed * seed for seed in range(20)]
    assert torch.get_num_threads() == before


def test_large_items_run_one_at_a_time():
    running, most, lock = 0, 0, threading.Lock()

    def item(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        torch.ones(200_000).sum()
        with lock:
            running -= 1

    map_seeds(item, range(10), bytes_each=MEMORY)
    assert most == 1
