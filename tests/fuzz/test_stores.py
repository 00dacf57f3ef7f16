"""Damage to the files of a benchmark store, and the commands that read them."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stores import cell, store_of
from fuzz.outcomes import DOCUMENTED, check_error, exit_of
from fuzz.strategies import damaged_bytes, damaged_json, fuzzed
from made import make_graph
from paretognn.benchmark.cells import FAILED, Store
from paretognn.benchmark.plan import Estimator
from paretognn.benchmark.shared import link_split_file, shared_partition, write_link_split
from paretognn.errors import InputError


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cells")
    store_of(
        folder,
        *(cell(method, 50 + k, seed=s) for k, method in enumerate(("paretognn", "dgi")) for s in (0, 1)),
        cell("paretognn", 60, settings={"encoder": {"hidden_dims": [512, 8]}}, width=8),
        cell("raw-features", 40, kind="control"),
        cell("grace", status=FAILED, error="why"),
    )
    return folder


@fuzzed(60)
@given(data=st.data())
def test_a_damaged_cell_is_left_as_it_is_and_named_or_still_a_cell(
    cells: Path, tmp_path_factory: Any, capsys: Any, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("store")
    shutil.copytree(cells, folder, dirs_exist_ok=True)
    path = data.draw(st.sampled_from(sorted((folder / "cells").iterdir())))
    whole = path.read_bytes()
    path.write_bytes(
        data.draw(damaged_json(whole)) if data.draw(st.integers(0, 3)) else data.draw(damaged_bytes(whole))
    )
    with suppress(InputError):
        Estimator(Store(folder), 2)  # what a plan reads
    code, error = exit_of(["tables", str(folder), "--out", str(folder / "out")], capsys)
    assert code == 0 or str(folder) in error or "judged differently" in error


@fuzzed(40)
@given(data=st.data())
def test_a_damaged_partition_or_split_of_a_store_is_made_anew_or_named(
    tmp_path_factory: Any, data: st.DataObject
) -> None:
    store, graph = Store(tmp_path_factory.mktemp("shared")), make_graph(30)
    partition = shared_partition(store, graph)
    write_link_split(store, graph)
    (file,) = (store.path / "partitions").iterdir()
    whole = file.read_bytes()
    file.write_bytes(data.draw(damaged_bytes(whole)))
    again = shared_partition(store, graph)
    assert again.shape == partition.shape
    assert again.min() >= 0
    assert again.max() < 10
    split = link_split_file(store, graph.name)
    split.write_bytes(data.draw(damaged_bytes(split.read_bytes())))
    try:
        write_link_split(store, graph)
    except DOCUMENTED as error:
        check_error(error, split)
