"""Damage to any file of a run folder, and the commands that read it: the same result, a repair, or one line."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fuzz.outcomes import DOCUMENTED, check_error, check_evaluation, check_table, exit_of
from fuzz.strategies import damaged_bytes, damaged_json, damaged_safetensors, damaged_tree, fuzzed, narrow
from made import make_graph
from paretognn import ParetoGNN
from paretognn.cli.main import run

EVALUATE = ["--tasks", "link_prediction,partition_prediction", "--seeds", "1", "--no-controls"]
STEPS = 2


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three finished, judged runs on tables: with a copy of the graph, without one, and of a stateful reconciler."""
    home = tmp_path_factory.mktemp("runs")
    graph = make_graph(30)
    rows = [["id", "x0", "x1", "label"], *([f"n{i}", *graph.features[i, :2], "ab"[i % 2]] for i in range(30))]
    (home / "nodes.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    pairs = [["source", "target"], *([f"n{a}", f"n{b}"] for a, b in graph.pairs())]
    (home / "edges.csv").write_text("".join(",".join(row) + "\n" for row in pairs))
    tables = ["--nodes", str(home / "nodes.csv"), "--edges", str(home / "edges.csv"), "--id-column", "id"]
    settings = {**narrow(), "preset": "quick", "steps": STEPS, "stopping": {"name": "plateau", "window": 1}}
    config = home / "settings.yaml"
    made = {}
    for name, more in {
        "copy": [],
        "no copy": ["--no-graph-copy"],
        "preference": ["--method", "paretomtl"],
    }.items():
        made[name] = home / name
        config.write_text(yaml.safe_dump(settings))
        assert run(["train", *tables, "--out", str(made[name]), "--config", str(config), *more]) == 0
        assert run(["evaluate", str(made[name]), *EVALUATE, "--out", str(made[name] / "evaluation.json")]) == 0
    return made


def files_of(runs: dict[str, Path]) -> list[tuple[str, str]]:
    return [
        (name, str(path.relative_to(home)))
        for name, home in runs.items()
        for path in sorted(home.rglob("*"))
        if path.is_file()
    ]


def changed(whole: bytes, path: Path, draw: Any) -> bytes:
    """``whole`` damaged in a way that fits the kind of file, or in any way."""
    if draw(st.integers(0, 2)):
        if path.suffix == ".json":
            return draw(damaged_json(whole))
        if path.suffix == ".yaml":
            return yaml.safe_dump(draw(damaged_tree(yaml.safe_load(whole)))).encode()
        if path.suffix == ".safetensors":
            return draw(damaged_safetensors(whole))
        if path.suffix == ".jsonl":
            lines = whole.splitlines()
            place = draw(st.integers(0, len(lines) - 1))
            lines[place] = draw(damaged_json(lines[place]))
            return b"\n".join(lines) + b"\n"
    return draw(damaged_bytes(whole))


def spoil(home: Path, relative: str, draw: Any) -> None:
    """Damage a file; where a checkpoint's tensors are changed, its digest may be made to fit, as a hostile one's is."""
    path = home / relative
    path.write_bytes(changed(path.read_bytes(), path, draw))
    state = path.with_suffix(".json")
    if path.suffix == ".safetensors" and state.exists() and draw(st.booleans()):
        content = json.loads(state.read_text())
        content["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        state.write_text(json.dumps(content))


def short(home: Path) -> bool:
    """Damage may make a run longer than there is time for here."""
    try:
        found = [yaml.safe_load((home / part / "config.yaml").read_text()) for part in (".", "link")]
        return all(not isinstance(tree["steps"], int) or tree["steps"] <= 9 for tree in found)
    except Exception:
        return True


COMMANDS = {
    "resume": lambda home: ["train", "--resume", "--out", str(home), "--steps", str(STEPS + 1)],
    "embed": lambda home: ["embed", str(home), "--out", str(home.parent / "made.csv")],
    "new nodes": lambda home: [
        *("embed", str(home), "--out", str(home.parent / "made.csv")),
        *("--nodes", str(home.parent / "new.csv"), "--edges", str(home.parent / "new_edges.csv")),
    ],
    "evaluate": lambda home: ["evaluate", str(home), *EVALUATE, "--out", str(home.parent / "scores.json")],
}


@pytest.mark.parametrize("command", COMMANDS)
@fuzzed(40)
@given(data=st.data())
def test_a_damaged_run_folder_gives_a_result_or_one_line(
    command: str, runs: dict[str, Path], tmp_path_factory: Any, capsys: Any, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(runs)))
    of_run = st.sampled_from([file for run, file in files_of(runs) if run == name])
    chosen = data.draw(st.lists(of_run, min_size=1, max_size=2, unique=True))
    folder = tmp_path_factory.mktemp("spoiled")
    home = folder / "run"
    shutil.copytree(runs[name], home)
    (folder / "new.csv").write_text("id,x0,x1\nnew,0.5,1\n")
    (folder / "new_edges.csv").write_text("source,target\nnew,n3\n")
    # The tensors of a checkpoint first: the state beside them may be given their digest.
    for relative in sorted(chosen, key=lambda file: not file.endswith(".safetensors")):
        spoil(home, relative, data.draw)
    if not short(home):
        return
    code, _ = exit_of(COMMANDS[command](home), capsys)
    if code == 0 and (folder / "made.csv").exists():
        check_table(folder / "made.csv")
    if code == 0 and command == "resume":
        table = pq.read_table(home / "embeddings.parquet")
        assert all(np.isfinite(np.asarray(table[column])).all() for column in table.column_names[1:])
    if (folder / "scores.json").exists():
        check_evaluation(folder / "scores.json")
        scores = json.loads((folder / "scores.json").read_text())["tasks"]
        # What cannot be read is an error, never a score that is left out.
        assert scores["link_prediction"]["mean"] is not None
        assert scores["partition_prediction"]["mean"] is not None


@fuzzed(40)
@given(data=st.data())
def test_a_damaged_run_is_loaded_by_the_estimator_or_refused(
    runs: dict[str, Path], tmp_path_factory: Any, data: st.DataObject
) -> None:
    relative = data.draw(st.sampled_from(["config.yaml", "model.safetensors"]))
    home = tmp_path_factory.mktemp("spoiled") / "run"
    shutil.copytree(runs["copy"], home)
    spoil(home, relative, data.draw)
    try:
        model = ParetoGNN.load(home)
        embeddings = model.transform((make_graph(9).adjacency(), np.ones((9, 2))))
    except DOCUMENTED as error:
        check_error(error)
    else:
        assert np.isfinite(embeddings).all()


KINDS = [
    pa.array(["n0", "n1", "n2"]),
    pa.array(["n0", None, "n2"]),
    pa.array([0, 1, 2]),
    pa.array([0.5, float("nan"), None]),
    pa.array([b"\xff", b"n1", b"n2"]),
    pa.array([[1], [], None]),
    pa.array([{"a": 1}, None, {"a": 3}]),
    pa.array(["train", "val", "test"]),
    pa.array(["n0", "n1", "n0"]).dictionary_encode(),
    pa.array([1, 2, 3], pa.timestamp("s")),
    pa.array([True, None, False]),
    pa.nulls(3),
]


@fuzzed(40)
@given(data=st.data())
def test_any_parquet_in_place_of_a_split_embeddings_or_ids_is_refused_or_read(
    runs: dict[str, Path], tmp_path_factory: Any, capsys: Any, data: st.DataObject
) -> None:
    relative = data.draw(st.sampled_from(["link/split.parquet", "embeddings.parquet", "graph/ids.parquet"]))
    home = tmp_path_factory.mktemp("spoiled") / "run"
    shutil.copytree(runs["copy"], home)
    names = data.draw(st.lists(st.sampled_from(["source", "target", "set", "id", "e0", "", "\n"]), max_size=5))
    columns = [data.draw(st.sampled_from(KINDS)) for _ in names]
    pq.write_table(pa.Table.from_arrays(columns, names=names), home / relative)
    if relative == "embeddings.parquet":
        words = ["evaluate", "--embeddings", str(home / relative), "--dataset", "digits", *EVALUATE]
    else:
        words = COMMANDS["evaluate"](home)
    exit_of(words, capsys)
