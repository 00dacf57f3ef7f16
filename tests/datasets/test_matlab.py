"""The reader of MATLAB files against scipy's, and on what scipy's does not survive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from paretognn.datasets.matlab import read_mat
from paretognn.errors import InputError


def assert_same(path: Path) -> None:
    found, expected = read_mat(path), scipy.io.loadmat(path)
    for name, matrix in found.items():
        if sp.issparse(matrix):
            assert (matrix != sp.csc_array(expected[name])).nnz == 0
        else:
            np.testing.assert_array_equal(matrix, expected[name])


@pytest.mark.parametrize("compressed", [False, True])
def test_as_scipy_reads_it(compressed: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    content = {
        "A": sp.random(7, 5, 0.3, "csc", random_state=0),
        "empty": sp.csc_matrix((4, 4)),
        "table": rng.integers(0, 60_000, (6, 3)).astype(np.uint16),
        "bytes": rng.integers(-9, 9, (1, 2)).astype(np.int8),
        "values": rng.normal(size=(3, 4)),
        "text": "passed over",
        "complex": np.array([[1j]]),
        "cell": np.array([[1], "x"], dtype=object),
    }
    path = tmp_path / "data.mat"
    scipy.io.savemat(path, content, do_compression=compressed)
    assert set(read_mat(path)) == {"A", "empty", "table", "bytes", "values"}
    assert_same(path)


@pytest.mark.parametrize("name", ["reed98", "cornell5"])
def test_as_scipy_reads_the_real_files(name: str, data_root: Path) -> None:
    path = data_root / f"LINKX/{name}/raw/data.mat"
    assert set(read_mat(path)) == {"A", "local_info"}
    assert_same(path)


def test_another_level_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF")
    with pytest.raises(InputError, match=r"data\.mat: not a MATLAB file of level 5"):
        read_mat(path)


def test_pointers_that_decrease_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.mat"
    matrix = sp.csc_matrix(np.eye(4))
    scipy.io.savemat(path, {"A": matrix})
    pointers = np.arange(5, dtype="<i4").tobytes()
    path.write_bytes(path.read_bytes().replace(pointers, pointers[:-4] + bytes(4)))
    with pytest.raises(InputError, match=r"data\.mat: a sparse matrix has row pointers that decrease"):
        read_mat(path)
