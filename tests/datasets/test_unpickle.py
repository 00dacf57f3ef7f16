"""Pickles are opened without running anything, whatever they ask for."""

from __future__ import annotations

import builtins
import os
import pickle
import struct
import subprocess
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from paretognn.datasets.unpickle import read_pickle
from paretognn.errors import InputError


class Call:
    """Pickles into a call of ``function(*arguments)``."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.reduced = function, arguments

    def __reduce__(self) -> Any:
        return self.reduced


def read(data: bytes, tmp_path: Path) -> Any:
    path = tmp_path / "ind.x.graph"
    path.write_bytes(data)
    return read_pickle(path)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_matrices_and_containers_come_back(protocol: int, tmp_path: Path) -> None:
    matrix = sp.random(9, 7, 0.3, "csr", dtype=np.float32, random_state=0)
    back = read(pickle.dumps(sp.csr_matrix(matrix), protocol), tmp_path)
    assert (back != matrix).nnz == 0
    for array in (np.arange(12.0).reshape(3, 4), np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))):
        np.testing.assert_array_equal(read(pickle.dumps(array, protocol), tmp_path), array)
    graph = defaultdict(list, {0: [1, 2], 1: [0], 2: [0]})
    assert read(pickle.dumps(graph, protocol), tmp_path) == graph


CALLS = {
    "system": lambda mark: (os.system, f"touch {mark}"),
    "eval": lambda mark: (builtins.eval, f"open({str(mark)!r}, 'w')"),
    "exec": lambda mark: (builtins.exec, f"open({str(mark)!r}, 'w')"),
    "open": lambda mark: (builtins.open, str(mark), "w"),
    "Popen": lambda mark: (subprocess.Popen, ["touch", str(mark)]),
    "getattr": lambda mark: (builtins.getattr, [], "append"),
    "__import__": lambda mark: (builtins.__import__, "os"),
    "loads": lambda mark: (pickle.loads, pickle.dumps(Call(os.system, f"touch {mark}"))),
    "load": lambda mark: (np.load, str(mark)),
}


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", CALLS)
def test_a_hostile_call_is_refused_by_name(name: str, protocol: int, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    data = pickle.dumps({"rows": [Call(*CALLS[name](mark))]}, protocol)
    with pytest.raises(InputError, match=rf"ind\.x\.graph: the pickle asks for '[\w.]*\b{name}'"):
        read(data, tmp_path)
    assert not mark.exists()


HAND_WRITTEN = {
    "attributes of an allowed callable": b"cnumpy.core.multiarray\n_reconstruct\n}X\x01\x00\x00\x00aK\x01sb.",
    "slots of an allowed callable": b"c_codecs\nencode\nN}X\x0c\x00\x00\x00__defaults__)s\x86b.",
    "state for a stand-in itself": b"cnumpy\nndarray\n(K\x01)cnumpy\ndtype\n\x89C\x00tb.",
    "attributes of a built-in": b"c__builtin__\ndict\n}X\x01\x00\x00\x00aK\x01sb.",
    "a dotted name": b"\x80\x04\x8c\x08builtins\x8c\x08int.real\x93.",
    "a persistent id": b"Pid\n.",
    "an extension": b"\x80\x02\x82\x01.",
    "a huge memo": b"Nr\xff\xff\xff\xff.",
    "a huge text memo": b"Np999999999999\n.",
    "a huge string": b"\x8e" + struct.pack("<Q", 1 << 60) + b"abc.",
    "another codec": b"c_codecs\nencode\n(Vx\nVzip\ntR.",
    "array of objects": b"cnumpy\ndtype\n(VO8\nK\x00K\x01tR.",
    "array of records": b"cnumpy\ndtype\n(Vi8,O\nK\x00K\x01tR.",
    "rebuild of another class": b"cnumpy.core.multiarray\n_reconstruct\n(c__builtin__\ndict\n(K\x00tVb\ntR.",
    "nothing": b"",
    "only a stop": b".",
    "not a pickle": b"node_id\tfeature\tlabel\n",
}


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_crafted_opcodes_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ind\.x\.graph"):
        read(HAND_WRITTEN[name], tmp_path)


def test_a_crafted_dtype_state_is_refused(tmp_path: Path) -> None:
    # A structured state with an object field would have raw bytes taken for object pointers.
    class Crafted:
        def __reduce__(self) -> Any:
            fields = {"a": (np.dtype("O"), 0)}
            return np.dtype, ("f8", False, True), (3, "|", None, ("a",), fields, 8, 8, 0)

    with pytest.raises(InputError, match=r"structured type|type 'O8'"):
        read(pickle.dumps(Crafted(), 2), tmp_path)


@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_a_matrix_with_wild_indices_is_refused(part: str, tmp_path: Path) -> None:
    matrix = sp.csr_matrix(np.eye(4))
    getattr(matrix, part)[1] = 10_000_000
    with pytest.raises(InputError):
        read(pickle.dumps(matrix, 2), tmp_path)


@settings(deadline=None)
@given(position=st.integers(0, 400), value=st.integers(0, 255))
def test_one_changed_byte_reads_or_is_refused(
    position: int, value: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = bytearray(pickle.dumps(sp.csr_matrix(np.eye(5, dtype=np.float32)), 2))
    data[position % len(data)] = value
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(bytes(data))
    with suppress(InputError):
        read_pickle(path)
