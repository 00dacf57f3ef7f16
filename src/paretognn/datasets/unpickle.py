"""Planetoid's ``ind.*`` files are pickles. They are opened here without letting a pickle run anything.

Every name that a pickle may ask for resolves to a plain stand-in below; arrays are rebuilt from their bytes
after checks. No constructor of numpy or scipy ever sees a value that was not looked at first: a crafted dtype
state would otherwise turn raw bytes into object pointers.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretognn.datasets.raw import checked, reading
from paretognn.errors import InputError


def read_pickle(path: Path) -> Any:
    """A number array [..], a CSR array [N, D] or plain containers, from a pickle of protocol 2 to 4.

    Raises `InputError` naming the file, and the first name in it that is not on the short list.
    """
    with reading(path):
        data = path.read_bytes()
        for opcode, argument, _ in pickletools.genops(data):
            # The C unpickler allocates its memo up to the largest index named.
            if opcode.name in ("PUT", "LONG_BINPUT") and int(argument or 0) > len(data):
                raise InputError("the pickle names a memo index beyond its own length")
        return _real(_Restricted(io.BytesIO(data), encoding="latin1").load())


class _Dtype:
    """Stands in for ``numpy.dtype``: numbers only."""

    def __init__(self, code: Any, align: Any = False, copy: Any = False) -> None:
        kind = np.dtype(code) if isinstance(code, str) and code[:1] in "biuf" else None
        if kind is None or kind.kind not in "biuf":
            raise InputError(f"the pickle holds an array of type {str(code)[:40]!r}; only numbers are read")
        self.value = kind

    def __setstate__(self, state: Any) -> None:
        order, structure = state[1], state[2:5]
        if order not in ("<", ">", "|", "=") or structure != (None, None, None):
            raise InputError("the pickle holds an array of a structured type; only numbers are read")
        self.value = self.value.newbyteorder(order)


class _Array:
    """Stands in for ``numpy.ndarray``."""

    value: np.ndarray

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, data = state
        if not isinstance(dtype, _Dtype):
            raise InputError("the pickle holds an array without a number type")
        raw = data.encode("latin1") if isinstance(data, str) else data
        flat = np.frombuffer(raw, dtype=dtype.value)
        native = flat.astype(dtype.value.newbyteorder("="))
        self.value = native.reshape(shape, order="F" if fortran else "C")


class _Csr:
    """Stands in for ``scipy.sparse.csr_matrix``."""

    value: sp.csr_array

    def __setstate__(self, state: Any) -> None:
        parts = tuple(state[key].value for key in ("data", "indices", "indptr"))
        self.value = checked(sp.csr_array(parts, shape=state["_shape"]))


class _Reconstruct:
    """Stands in for numpy's ``_reconstruct``. Without slots, so that no pickle can set a thing on it."""

    __slots__ = ()

    def __call__(self, kind: Any, shape: Any, code: Any) -> _Array:
        if kind is not _Array:
            raise InputError("the pickle rebuilds something that is no array")
        return _Array()


class _Encode:
    """Stands in for ``_codecs.encode``, with which protocol 2 writes bytes."""

    __slots__ = ()

    def __call__(self, text: str, encoding: str) -> bytes:
        if encoding != "latin1":
            raise InputError("the pickle asks for a text codec")
        return text.encode("latin1")


_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("numpy.core.multiarray", "_reconstruct"): _Reconstruct(),
    ("numpy._core.multiarray", "_reconstruct"): _Reconstruct(),
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("collections", "defaultdict"): defaultdict,
    ("_codecs", "encode"): _Encode(),
} | {(module, kind.__name__): kind for module in ("builtins", "__builtin__") for kind in (list, dict, int)}


class _Restricted(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise InputError(f"the pickle asks for '{module}.{name}', which is not allowed; nothing was run")
        return _KNOWN[module, name]


def _real(value: Any) -> Any:
    return value.value if isinstance(value, (_Array, _Csr)) else value
