"""Any small graph as tables on disk through the command line: rows under their ids, or one line and exit code 2."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fuzz.outcomes import check_evaluation, check_table, exit_of
from fuzz.strategies import SAMPLERS, RawGraph, damaged_bytes, damaged_tree, fuzzed, narrow, raw_graphs
from paretognn.cli.main import run
from paretognn.training.config import SearchSettings


def columns_of(raw: RawGraph) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    nodes: dict[str, list[Any]] = {"id": list(raw.ids)}
    if raw.features is not None:
        nodes |= {f"x{j}": column.tolist() for j, column in enumerate(raw.features.T)}
    if raw.labels is not None:
        nodes["label"] = list(raw.labels)
    edges: dict[str, list[Any]] = {
        "source": [raw.ids[a] for a, _ in raw.edges],
        "target": [raw.ids[b] for _, b in raw.edges],
    }
    if raw.weights is not None:
        edges["weight"] = list(raw.weights)
    return nodes, edges


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    if path.suffix == ".parquet":
        text = {"id", "label", "source", "target"}
        kinds = {name: pa.string() if name in text else pa.float64() for name in columns}
        pq.write_table(pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()}), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "settings.yaml"
    path.write_text(yaml.safe_dump({**narrow(), "preset": "quick", "steps": 2}))
    return path


@fuzzed(25)
@given(data=st.data())
def test_any_tables_give_a_row_a_node_or_one_line(
    tmp_path_factory: Any, config: Path, capsys: Any, data: st.DataObject
) -> None:
    raw = data.draw(raw_graphs())
    folder = tmp_path_factory.mktemp("tables")
    suffix = data.draw(st.sampled_from([".csv", ".tsv", ".parquet"]))
    files = [write(folder / f"{name}{suffix}", part) for name, part in zip("ne", columns_of(raw), strict=True)]
    before = [file.read_bytes() for file in files]
    tables = ["--edges", str(files[1])]
    if data.draw(st.integers(0, 5)):
        tables = ["--nodes", str(files[0]), *tables]
    out, made = folder / "run", folder / "made.csv"
    sampler = data.draw(st.sampled_from(SAMPLERS))
    chosen = ["--sampler", str(sampler["name"])] + (["--budget", str(sampler["seeds"])] if "seeds" in sampler else [])
    copy = data.draw(st.sampled_from(["--graph-copy", "--no-graph-copy"]))
    words = ["train", *tables, "--out", str(out), "--config", str(config), *chosen, copy]
    code, error = exit_of(words, capsys)
    if code == 0:
        assert exit_of(["embed", str(out), "--out", str(made)], capsys)[0] == 0
        check_table(made, raw.ids if "--nodes" in tables else None)
        asked = data.draw(st.sampled_from([["--seeds", "1"], ["--seeds", "1", "--no-controls"]]))
        code, error = exit_of(["evaluate", str(out), *asked], capsys)
        if code == 0:
            check_evaluation(out / "evaluation.json")
    elif raw.moderate and raw.edges and "--nodes" in tables:
        raise AssertionError(error)
    assert [file.read_bytes() for file in files] == before


OFF = SearchSettings().model_dump()
GOOD = RawGraph([f"n{k}" for k in range(8)], [(k, k + 1) for k in range(7)], [0.5] * 7, None, ["a", "b"] * 4)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@fuzzed(25)
@given(data=st.data())
def test_damaged_tables_are_read_or_refused_in_one_line(
    suffix: str, tmp_path_factory: Any, capsys: Any, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    files = [write(folder / f"{name}{suffix}", part) for name, part in zip("ne", columns_of(GOOD), strict=True)]
    chosen = data.draw(st.sampled_from(files))
    chosen.write_bytes(data.draw(damaged_bytes(chosen.read_bytes())))
    exit_of(["inspect", "--nodes", str(files[0]), "--edges", str(files[1])], capsys)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good tables, and the settings of every kind that a run on them has."""
    folder = tmp_path_factory.mktemp("small")
    for name, part in zip("ne", columns_of(GOOD), strict=True):
        write(folder / f"{name}.csv", {**part, **({"x": list(range(8))} if name == "n" else {})})
    for method in ("paretognn", "autossl", "paretomtl"):
        words = ["train", *tables_in(folder), "--out", str(folder / method), "--method", method, "--steps", "1"]
        assert run([*words, "--set", "encoder.hidden_dims=[6, 4]"]) == 0
    return folder


def tables_in(folder: Path) -> list[str]:
    return ["--nodes", str(folder / "n.csv"), "--edges", str(folder / "e.csv")]


@fuzzed(60)
@given(data=st.data())
def test_any_settings_are_used_or_refused_in_one_line(
    small: Path, tmp_path_factory: Any, capsys: Any, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("settings")
    method = data.draw(st.sampled_from(["paretognn", "autossl", "paretomtl"]))
    tree = data.draw(damaged_tree(yaml.safe_load((small / method / "config.yaml").read_text())))
    if not isinstance(tree, dict) or tree.get("steps") in (2**31, 2**63, 10**30) or tree.get("search", {}) != OFF:
        return
    (folder / "c.yaml").write_text(yaml.safe_dump(tree))
    words = ["train", *tables_in(small), "--out", str(folder / "run"), "--config", str(folder / "c.yaml")]
    code, _ = exit_of(words if "steps" in tree else [*words, "--steps", "1"], capsys)
    if code == 0:
        table = pq.read_table(folder / "run" / "embeddings.parquet")
        assert all(np.isfinite(np.asarray(table[name])).all() for name in table.column_names[1:])
