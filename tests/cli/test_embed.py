import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

from cli.small_tables import FAST, PLAIN, graph_of
from paretognn.cli.main import run


def test_ids_come_back_as_written_and_in_order(trained):
    folder, ids = trained
    for suffix in ("csv", "parquet", "npy"):
        assert run(["embed", str(folder / "R"), "--out", str(folder / f"x.{suffix}")]) == 0
    with (folder / "x.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["id", "e0"]
    assert (folder / "x.csv").read_text().startswith("id,e0,e1,e2,e3\n007,")
    assert [row[0] for row in rows[1:]] == ids
    table = pq.read_table(folder / "x.parquet")
    assert table.column_names == ["id", "e0", "e1", "e2", "e3"]
    assert table["id"].to_pylist() == ids
    assert table.schema.metadata is None
    np.testing.assert_allclose(
        np.load(folder / "x.npy"), np.array([r[1:] for r in rows[1:]], dtype=np.float32), rtol=1e-6
    )
    assert pq.read_table(folder / "R" / "embeddings.parquet").equals(table)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
def test_c47_two_calls_write_the_same_bytes(trained, suffix):
    folder, _ = trained
    for name in ("a", "b"):
        assert run(["embed", str(folder / "R"), "--out", str(folder / f"{name}.{suffix}")]) == 0
    assert (folder / f"a.{suffix}").read_bytes() == (folder / f"b.{suffix}").read_bytes()


def test_new_edges_add_nodes_without_features_where_that_is_asked_for(trained, capsys):
    folder, _ = trained
    (folder / "links.csv").write_text("source,target\nnew1,007\n")
    new = ["embed", str(folder / "R"), "--edges", str(folder / "links.csv"), "--out", str(folder / "new.csv")]
    assert run(new) == 2
    assert "1 node(s) are not in the training graph and need features: new1" in capsys.readouterr().err
    assert run([*new, "--add-missing-nodes"]) == 0
    assert "1 node(s) that only edges name were added: new1; their features are zero" in capsys.readouterr().err
    with (folder / "new.csv").open(newline="") as file:
        assert [row[0] for row in list(csv.reader(file))[1:]] == ["new1", "007"]


def test_new_nodes_reach_into_the_training_graph(trained):
    folder, _ = trained
    (folder / "new.csv").write_text("id,x0,x1,x2,x3\nnew1,1,0,0,0\nnew2,0,1,0,0\nn9,0,0,1,0\n")
    (folder / "links.csv").write_text("source,target\nnew1,007\nnew1,new2\nn30,new2\n")
    new = ["--nodes", str(folder / "new.csv"), "--edges", str(folder / "links.csv")]
    assert run(["embed", str(folder / "R"), *new, "--out", str(folder / "new.parquet")]) == 0
    table = pq.read_table(folder / "new.parquet")
    assert table["id"].to_pylist() == ["new1", "new2", "n9"]
    assert np.isfinite(np.array([table[c].to_numpy() for c in table.column_names[1:]])).all()


def test_new_tables_must_have_the_training_columns(trained, capsys):
    folder, _ = trained
    (folder / "new.csv").write_text("id,x0,x1,x2\nnew1,1,0,0\n")
    (folder / "links.csv").write_text("source,target\nnew1,007\n")
    new = ["--nodes", str(folder / "new.csv"), "--edges", str(folder / "links.csv")]
    assert run(["embed", str(folder / "R"), *new, "--out", str(folder / "new.parquet")]) == 2
    assert "x3" in capsys.readouterr().err
    assert not (folder / "new.parquet").exists()


@pytest.mark.parametrize("option", ["--label-column", "--feature-columns", "--drop-columns", "--categorical"])
def test_options_that_choose_features_have_no_place_beside_a_model(trained, capsys, option):
    folder, _ = trained
    (folder / "new.csv").write_text("id,x0,x1,x2,x3,more\nnew1,1,0,0,0,7\n")
    (folder / "links.csv").write_text("source,target\nnew1,007\n")
    new = ["embed", str(folder / "R"), "--nodes", str(folder / "new.csv"), "--edges", str(folder / "links.csv")]
    new += ["--out", str(folder / "new.parquet")]
    assert run([*new, option, "x0"]) == 2
    said = f"error: {option}: of new nodes the columns that the run was trained on are read, and no others"
    assert said in capsys.readouterr().err
    assert not (folder / "new.parquet").exists()
    assert run(new) == 0


def test_gaps_of_new_nodes_are_filled_with_the_means_of_training(trained, capsys):
    folder, _ = trained
    (folder / "links.csv").write_text("source,target\nnew1,007\nnew2,007\n")
    with (folder / "nodes.csv").open(newline="") as file:
        mean = np.mean([float(row["x0"]) for row in csv.DictReader(file)])
    made = {}
    for name, (first, how) in {"gap": ("", ["--impute", "mean"]), "filled": (f"{mean:.9g}", [])}.items():
        (folder / "new.csv").write_text(f"id,x0,x1,x2,x3\nnew1,{first},0,0,0\nnew2,90,1,0,0\n")
        new = ["--nodes", str(folder / "new.csv"), "--edges", str(folder / "links.csv")]
        assert run(["embed", str(folder / "R"), *new, *how, "--out", str(folder / f"{name}.npy")]) == 0
        made[name] = np.load(folder / f"{name}.npy")
    said = "column 'x0' has 1 value(s) that are blank, NaN, infinite or above 3.4e38, filled with"
    assert f"{said} {mean:.6g}" in capsys.readouterr().err
    np.testing.assert_allclose(made["gap"], made["filled"], atol=1e-6)


def test_new_edges_alone_join_a_run_without_features(tables):
    folder, _ = tables
    only = ["--edges", str(folder / "edges.csv")]
    assert run(["train", *only, "--out", str(folder / "R"), "--steps", "2", *FAST]) == 0
    (folder / "links.csv").write_text("source,target\nnew1,007\nnew1,n30\n")
    assert run(["embed", str(folder / "R"), "--edges", str(folder / "links.csv"), "--out", str(folder / "x.csv")]) == 0
    with (folder / "x.csv").open(newline="") as file:
        assert [row[0] for row in list(csv.reader(file))[1:]] == ["new1", "007", "n30"]


def test_new_edges_without_the_weights_of_training_weigh_one(tables, capsys):
    folder, _ = tables
    lines = (folder / "edges.csv").read_text().splitlines()
    (folder / "edges.csv").write_text("\n".join(["source,target,calls", *(f"{line},2" for line in lines[1:])]) + "\n")
    weighted = [*graph_of(folder), "--weight-column", "calls"]
    assert run(["train", *weighted, "--out", str(folder / "R"), *PLAIN, *FAST]) == 0
    (folder / "new.csv").write_text("id,x0,x1,x2,x3\nnew1,1,0,0,0\n")
    rows = {}
    for name, text in (("none", "source,target\nnew1,007\n"), ("one", "source,target,calls\nnew1,007,1\n")):
        (folder / "links.csv").write_text(text)
        new = ["--nodes", str(folder / "new.csv"), "--edges", str(folder / "links.csv")]
        capsys.readouterr()
        assert run(["embed", str(folder / "R"), *new, "--out", str(folder / f"{name}.npy")]) == 0
        assert ("has no column 'calls': its edges weigh 1" in capsys.readouterr().err) == (name == "none")
        rows[name] = np.load(folder / f"{name}.npy")
    np.testing.assert_array_equal(rows["none"], rows["one"])


def test_options_of_a_graph_have_no_place_where_none_is_named(trained, capsys):
    folder, _ = trained
    for words in (
        ["embed", str(folder / "R"), "--out", str(folder / "x.csv"), "--id-column", "foo"],
        ["evaluate", str(folder / "R"), "--label-column", "foo"],
        ["train", "--from-run", str(folder / "R"), "--out", str(folder / "S"), "--drop-columns", "foo"],
        ["train", "--resume", "--out", str(folder / "R"), "--label-column", "foo"],
    ):
        assert run(words) == 2, words
        assert "is for a graph that is read, and none is named" in capsys.readouterr().err
    assert run(["classify", str(folder / "R"), "--header", "no"]) == 2
    assert "are for a table of labels" in capsys.readouterr().err


def test_an_option_and_a_setting_that_say_two_things(tables, capsys):
    folder, _ = tables
    for words in (["--steps", "2", "--set", "steps=9"], ["--method", "dgi", "--set", "method=grace"]):
        assert run(["train", *graph_of(folder), "--out", str(folder / "R"), *words]) == 2
        assert "say two things; leave one of them out" in capsys.readouterr().err
    assert not (folder / "R").exists()
