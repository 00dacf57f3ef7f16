"""The processes of one run, started by PyTorch's own launcher (torchrun): gloo between CPUs, nccl between GPUs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor

from paretognn.errors import InputError

_PATIENCE = timedelta(hours=12)
"""How long a process waits for the others, one of which may search for settings meanwhile; one that ends is noticed at
once."""


class RankLost(RuntimeError):  # noqa: N818
    """Another process of the run has ended; this one's weights are those after ``step``."""

    step = 0


@dataclass(frozen=True)
class Ranks:
    """This process among those of a run: the ``index``-th of ``count``. Each draws sub-graphs of its own; weights are
    equal on all after every step. The first, the leader, keeps the run folder."""

    index: int = 0
    count: int = 1

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
            _heard(partial(dist.all_reduce, tensor))
            tensor /= self.count

    def lead(self, tensor: Tensor) -> Tensor:
        """The tensor, with the leader's numbers."""
        if self.count > 1:
            _heard(lambda: dist.broadcast(tensor, 0))
        return tensor

    def any(self, wish: bool) -> bool:
        """Whether one of the ranks wishes it."""
        if self.count == 1:
            return wish
        wishes = torch.tensor([float(wish)], device=_device())
        _heard(lambda: dist.all_reduce(wishes))
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


ALONE = Ranks()


def _device() -> str:
    """Where what is exchanged must lie."""
    return "cuda" if dist.get_backend() == "nccl" else "cpu"


def _heard(exchange: Callable[[], object]) -> None:
    try:
        exchange()
    except RuntimeError as error:
        raise RankLost(f"another process of the run has ended ({str(error).splitlines()[0][:120]})") from None


@contextmanager
def joined(device: str) -> Iterator[Ranks]:
    """The ranks that torchrun started, or this process alone. With ``device`` "cuda", each takes a GPU of its machine.

    InputError where the others cannot be reached, or a machine has fewer GPUs than processes.
    """
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
