import csv
import json

import pyarrow.parquet as pq
import pytest

from cli.small_tables import FAST
from paretognn.cli.main import run


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("command", ["similar", "predict-links"])
def test_partners_of_a_node_come_by_the_users_ids(trained, capsys, command):
    folder, ids = trained
    assert run([command, str(folder / "R"), "--id", "007", "-k", "3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 3
    assert all(row["id"] in ids and row["id"] != "007" and row["label"] in "abc" for row in rows)
    measure = "cosine" if command == "similar" else "probability"
    assert [row[measure] for row in rows] == sorted((row[measure] for row in rows), reverse=True)
    assert run([command, str(folder / "R"), "--id", "007", "-k", "3"]) == 0
    shown = capsys.readouterr().out
    assert all(row["id"] in shown for row in rows)
    asked = [command, str(folder / "R"), "--id", "007", "-k", "3", "--out", str(folder / "x.csv"), "--json"]
    assert run(asked) == 0
    assert json.loads(capsys.readouterr().out) == {"out": str(folder / "x.csv"), "rows": 3}
    assert run([command, str(folder / "R"), "--id", "\udcff"]) == 2
    assert run([command, str(folder / "R"), "--id", "0007"]) == 2
    assert "no such node" in capsys.readouterr().err


def test_classify_carries_a_table_of_labels_to_every_node(trained, capsys):
    folder, ids = trained
    (folder / "known.csv").write_text(
        "id,fraud\n" + "".join(f"n{i},{'yes' if i % 2 else 'no'}\n" for i in range(5, 25))
    )
    out = folder / "predicted.csv"
    assert run(["classify", str(folder / "R"), "--labels", str(folder / "known.csv"), "--out", str(out)]) == 0
    assert "20 labelled nodes of 2 classes; cross-validated accuracy" in " ".join(capsys.readouterr().err.split())
    rows = rows_of(out)
    assert [row["id"] for row in rows] == ids
    assert sum(row["known"] != "" for row in rows) == 20
    for row in rows:
        assert float(row["p(no)"]) + float(row["p(yes)"]) == pytest.approx(1, abs=1e-5)
        assert row["predicted"] == ("yes" if float(row["p(yes)"]) > 0.5 else "no")


def test_classify_is_told_whether_a_file_has_a_header(trained, capsys):
    folder, _ = trained
    rows = "".join(f"n{i},{'yes' if i % 2 else 'no'}\n" for i in range(5, 25))
    for header, text in {"no": rows, "yes": "who,fraud\n" + rows}.items():
        (folder / "known.csv").write_text(text)
        asked = ["classify", str(folder / "R"), "--labels", str(folder / "known.csv"), "--out", str(folder / "p.csv")]
        assert run(asked) == 2
        assert "--header yes" in capsys.readouterr().err
        assert run([*asked, "--header", header]) == 0
        assert "20 labelled nodes of 2 classes" in " ".join(capsys.readouterr().err.split())
    assert run([*asked, "--header", "maybe"]) == 2
    assert "header must be" in capsys.readouterr().err


def test_classify_takes_the_run_s_own_labels_or_says_that_there_are_none(trained, capsys):
    folder, _ = trained
    assert run(["classify", str(folder / "R"), "--out", str(folder / "p.parquet")]) == 0
    assert pq.read_table(folder / "p.parquet").num_rows == 61
    only = ["--edges", str(folder / "edges.csv")]
    assert run(["train", *only, "--out", str(folder / "E"), "--steps", "1", *FAST]) == 0
    assert run(["classify", str(folder / "E")]) == 2
    assert "--labels" in capsys.readouterr().err


def test_clusters_are_as_many_as_asked_for(trained, capsys):
    folder, ids = trained
    out = folder / "groups.parquet"
    assert run(["cluster", str(folder / "R"), "-k", "4", "--out", str(out)]) == 0
    table = pq.read_table(out)
    assert table["id"].to_pylist() == ids
    assert set(table["cluster"].to_pylist()) == {0, 1, 2, 3}
    assert run(["cluster", str(folder / "R"), "-k", "62"]) == 2
    assert "61 nodes" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["similar", "--id", "7"], ["cluster", "-k", "2"], ["classify"]])
def test_a_file_of_another_kind_is_refused_before_any_work(tmp_path, capsys, command):
    assert run([command[0], str(tmp_path / "none"), *command[1:], "--out", str(tmp_path / "x.txt")]) == 2
    assert "must end in one of .parquet, .csv" in capsys.readouterr().err
