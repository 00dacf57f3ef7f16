"""The processes of one run, started by PyTorch's own launcher (torchrun): gloo between CPUs, nccl between GPUs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from paretognn.errors import InputError, WorkLostError

_PATIENCE = timedelta(hours=12)
"""How long a process waits for the others, one of which may search for settings meanwhile; one that ends is noticed at
once."""


_LOOK, _GRACE = 5e-5, 10.0
"""Seconds between looks for the others' answer; and until, once told to stop, a process no longer waits for it.
Launchers kill after 30."""


class RankLost(WorkLostError):  # noqa: N818
    """Another process of the run has ended; this one's weights are those after ``step``."""

    step = 0


@dataclass(frozen=True)
class Ranks:
    """This process among those of a run: the ``index``-th of ``count``. Each draws sub-graphs of its own; weights are
    equal on all after every step. The first, the leader, keeps the run folder.

    stopping : whether this process was told to end; it then waits for the others' answer no longer than moments.
    """

    index: int = 0
    count: int = 1
    stopping: Callable[[], bool] = lambda: False

    @property
    def leads(self) -> bool:
        return self.index == 0

    def stream(self, name: str) -> str:
        """The name of a random stream of this rank's own; the leader's are those of a process alone."""
        return name if self.leads else f"{name}/rank-{self.index}"

    def average(self, tensors: Sequence[Tensor]) -> None:
        """Each tensor becomes its mean over the ranks, the same bits on all."""
        if self.count == 1:
            return
        for tensor in tensors:
            self._heard(partial(dist.all_reduce, tensor))
            tensor /= self.count

    def lead(self, tensor: Tensor) -> Tensor:
        """The tensor, with the leader's numbers."""
        if self.count > 1:
            self._heard(partial(dist.broadcast, tensor, 0))
        return tensor

    def swap(self, rows: Tensor, sent: list[int], received: list[int]) -> Tensor:
        """Of ``rows`` [sum of sent, ...], in the order of the ranks, so many go to each; so many come from each."""
        out = rows.new_empty(sum(received), *rows.shape[1:])
        self._heard(partial(dist.all_to_all_single, out, rows.contiguous(), received, sent))
        return out

    def any(self, wish: bool) -> bool:
        """Whether one of the ranks wishes it."""
        if self.count == 1:
            return wish
        wishes = torch.tensor([float(wish)], device=_device())
        self._heard(partial(dist.all_reduce, wishes))
        return bool(wishes.item() > 0)

    def shared(self, content: bytes) -> bytes:
        """The leader's bytes, on all; no pickle, which the launcher's own exchange of objects would be."""
        if self.count == 1:
            return content
        length = self.lead(torch.tensor([len(content)], device=_device()))
        sent = torch.zeros(int(length), dtype=torch.uint8, device=_device())
        if self.leads and len(sent):
            sent.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
        return self.lead(sent).cpu().numpy().tobytes()

    def _heard(self, exchange: Callable[..., Any]) -> None:
        """Done, with what the others had to say; RankLost where one of them has ended or, once this process is to stop,
        does not answer."""
        try:
            work = exchange(async_op=True)
            if _device() == "cpu":
                self._await(work)
            work.wait()
        except RankLost:
            raise
        except RuntimeError as error:
            reason = str(error).splitlines()[0][:120]
            raise RankLost(f"another process of the run has ended ({reason})") from None

    def _await(self, work: Any) -> None:
        """In Python, where signals are heard: a wait inside gloo would not end with one, nor always with its peer."""
        told = None
        while not work.is_completed():
            time.sleep(_LOOK)
            if told is None and self.stopping():
                told = time.monotonic()
            if told is not None and time.monotonic() - told > _GRACE:
                raise RankLost("another process of the run does not answer")


ALONE = Ranks()


def _device() -> str:
    """Where what is exchanged must lie."""
    return "cuda" if dist.get_backend() == "nccl" else "cpu"


@contextmanager
def joined(device: str) -> Iterator[Ranks]:
    """The ranks that torchrun or Ray Train started, or this process alone. With ``device`` "cuda", each takes a GPU of
    its machine.

    InputError where the others cannot be reached, or a machine has fewer GPUs than processes.
    """
    if dist.is_initialized():  # by the program that started this
        yield Ranks(dist.get_rank(), dist.get_world_size())
        return
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1 or "RANK" not in os.environ:
        yield ALONE
        return
    if device == "cuda":
        place = int(os.environ.get("LOCAL_RANK", "0"))
        if place >= torch.cuda.device_count():
            raise InputError(f"there is no GPU for process {place} of this machine: use --nproc-per-node gpu")
        torch.cuda.set_device(place)
    try:
        dist.init_process_group("nccl" if device == "cuda" else "gloo", timeout=_PATIENCE)
    except (RuntimeError, ValueError) as error:
        raise InputError(f"the processes of the run do not reach each other: {str(error).splitlines()[0]}") from None
    try:
        yield Ranks(dist.get_rank(), count)
    finally:
        dist.destroy_process_group()


def on_this_machine() -> int:
    """Processes of the run that share this machine's memory."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def launch(ranks: Ranks) -> str:
    """How such a run is started, for people to copy."""
    if ranks.count == 1:
        return "paretognn"
    here = on_this_machine()
    alone = " --standalone" if here == ranks.count else ""
    return f"torchrun{alone} --nproc-per-node {here} -m paretognn"
