"""Matrices in MATLAB's level 5 files, in Python: scipy's compiled reader crashes on damaged ones."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from paretognn.datasets.raw import checked, reading
from paretognn.errors import InputError

HEADER = 128
MATRIX, COMPRESSED = 14, 15
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
SPARSE, NUMERIC = 5, range(6, 16)
COMPLEX = 0x0800
LARGEST = 1 << 31
Order: TypeAlias = Literal["<", ">"]

Matrix: TypeAlias = np.ndarray | sp.csc_array


def read_mat(path: Path) -> dict[str, Matrix]:
    """The real matrices of the file by name, dense [R, C] or sparse; anything else in it is passed over.

    Raises `InputError` for a file that is damaged or of another level (7.3 is HDF5).
    """
    with reading(path):
        data = path.read_bytes()
        mark = data[126:HEADER]
        if mark not in (b"IM", b"MI") or data[124:126] not in (b"\x00\x01", b"\x01\x00"):
            raise InputError("not a MATLAB file of level 5")
        order: Order = "<" if mark == b"IM" else ">"
        matrices: dict[str, Matrix] = {}
        for kind, body in _elements(data[HEADER:], order):
            if kind == COMPRESSED:
                inner = zlib.decompressobj().decompress(body, LARGEST)
                kind, body = next(_elements(inner, order))
            if kind == MATRIX:
                name, matrix = _matrix(body, order)
                if matrix is not None:
                    matrices[name] = matrix
        return matrices


def _elements(data: bytes, order: Order) -> Iterator[tuple[int, bytes]]:
    """Type and content of each element in turn. A short one has its content within the tag's eight bytes."""
    view, at = memoryview(data), 0
    while at < len(data):
        tag = np.frombuffer(view[at : at + 8], f"{order}u4")
        if len(tag) < 2:
            raise InputError("an element is cut short")
        first, size = int(tag[0]), int(tag[1])
        if first >> 16:
            kind, size, start = first & 0xFFFF, first >> 16, at + 4
            after = at + 8
        else:
            kind, start = first, at + 8
            after = start + size + (0 if kind == COMPRESSED else -size % 8)
        body = bytes(view[start : start + size])
        if len(body) < size or (start == at + 4 and size > 4):
            raise InputError("an element is cut short")
        yield kind, body
        at = after


def _matrix(data: bytes, order: Order) -> tuple[str, Matrix | None]:
    parts = _elements(data, order)
    flags, shape = (_numbers(*next(parts), order) for _ in range(2))
    name = next(parts)[1].decode("ascii")
    kind = int(flags[0]) & 0xFF
    if int(flags[0]) & COMPLEX or kind not in (SPARSE, *NUMERIC) or len(shape) != 2:
        return name, None
    rows, columns = (int(n) for n in shape)
    if kind in NUMERIC:
        return name, _numbers(*next(parts), order).reshape((rows, columns), order="F")
    indices, indptr, values = (_numbers(*part, order) for part in parts)
    used = int(indptr[-1])
    return name, checked(sp.csc_array((values[:used], indices[:used], indptr), shape=(rows, columns)))


def _numbers(kind: int, body: bytes, order: Order) -> np.ndarray:
    """The numbers of an element, in the machine's own byte order."""
    dtype = np.dtype(TYPES[kind])
    return np.frombuffer(body, dtype.newbyteorder(order)).astype(dtype)
