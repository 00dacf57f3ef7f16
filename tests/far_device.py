"""A made second device, for machines without a GPU: its tensors are computed on the CPU, and an operation on tensors,
or on a generator, of another device is the error that it is on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

FAR = torch.device("meta")
"""A device that torch knows everywhere and never computes on, so that its name is free."""
_COPIES = {torch.ops.aten.copy_.default, torch.ops.aten._to_copy.default}


class FarTensor(torch.Tensor):
    """A tensor that says it is on FAR; ``near`` on the CPU has its numbers."""

    near: torch.Tensor
    is_cuda = True  # so that what is chosen on CUDA runs

    @staticmethod
    def __new__(cls, near: torch.Tensor) -> FarTensor:
        placed = (near.stride(), near.storage_offset()) if near.layout is torch.strided else ()
        made = torch.Tensor._make_wrapper_subclass(cls, near.shape, *placed, dtype=near.dtype, device=FAR)
        made.near = near
        return made

    def __init__(self, near: torch.Tensor) -> None:
        """All is done by `__new__`."""

    @classmethod
    def __torch_dispatch__(cls, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(operation, args, kwargs or {})


class _Generator(torch.Generator):
    """One of the CPU's, or of FAR's, which are known by their seeds: an operation sees no more of a generator."""

    far_seeds: ClassVar[set[int]] = set()
    far: bool

    @staticmethod
    def __new__(cls, device: torch.device | str = "cpu") -> _Generator:
        made = super().__new__(cls, "cpu")
        made.far = torch.device(device).type == FAR.type
        return made

    def manual_seed(self, seed: int) -> _Generator:
        if self.far:
            self.far_seeds.add(seed)
        super().manual_seed(seed)
        return self


def _run(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    far = any(isinstance(x, FarTensor) for x in tensors)
    if far and operation not in _COPIES:
        strays = [tuple(x.shape) for x in tensors if not isinstance(x, FarTensor) and x.dim()]
        assert not strays, f"{operation}: tensors of shapes {strays} are not on the device of the others"
    if operation is torch.ops.aten.copy_.default:
        far = isinstance(args[0], FarTensor)
    if kwargs.get("device") is not None:
        far = torch.device(kwargs["device"]).type == FAR.type
        kwargs = {**kwargs, "device": torch.device("cpu")}
    generator = kwargs.get("generator")
    if generator is not None:
        assert (generator.initial_seed() in _Generator.far_seeds) == far, f"{operation}: a generator of elsewhere"
    args, kwargs = tree_map(lambda x: x.near if isinstance(x, FarTensor) else x, (args, kwargs))
    out = operation(*args, **kwargs)
    number = operation is torch.ops.aten._local_scalar_dense.default
    if isinstance(tensors[-1] if tensors else None, FarTensor) and (number or (operation in _COPIES and not far)):
        for found in _reads:
            found.append(tuple(tensors[-1].shape))
    if not far:
        return out
    known = {id(x.near): [x] for x in tensors if isinstance(x, FarTensor)}  # what was changed in place
    return tree_map(lambda x: (known.get(id(x)) or [FarTensor(x)])[0] if isinstance(x, torch.Tensor) else x, out)


_reads: list[list[tuple[int, ...]]] = []


@contextmanager
def read() -> Iterator[list[tuple[int, ...]]]:
    """The shapes of the tensors that are brought from FAR to the CPU in its context, and of numbers that are asked for.
    What an operation waits for by itself, as for the length of its result, is not seen."""
    _reads.append([])
    yield _reads[-1]
    _reads.pop()


class _Dispatched(TorchDispatchMode):
    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(operation, args, kwargs or {})


@contextmanager
def far_device(monkeypatch: pytest.MonkeyPatch, fits: bool = True) -> Iterator[str]:
    """Its name, as a setting takes it. ``fits`` False: there is no room on it for the features of a graph or for a
    matrix with a row for every node."""
    with monkeypatch.context() as patched, _Dispatched():
        patched.setattr("paretognn.training.device.DEVICES", ("cpu", FAR.type))
        patched.setattr(torch, "Generator", _Generator)
        for place in ("nn.off_device", "training.inference"):
            patched.setattr(f"paretognn.{place}.fits", lambda size, device: fits)
        yield FAR.type
