"""What a command reads is never what it writes over."""

import pytest

from cli.small_tables import FAST, graph_of
from paretognn.cli.main import run
from paretognn.training import RunFolder

MINE = "id,label\n007,a\nn5,b\n"


@pytest.fixture
def files(trained):
    """A run, its tables, and tables of new nodes, labels and embeddings beside them."""
    folder, _ = trained
    (folder / "new.csv").write_text("id,x0,x1,x2,x3\nnew1,1,0,0,0\n")
    (folder / "links.csv").write_text("source,target\nnew1,007\n")
    (folder / "labels.csv").write_text(MINE)
    (folder / "alias.csv").symlink_to(folder / "nodes.csv")
    assert run(["embed", str(folder / "R"), "--out", str(folder / "mine.parquet")]) == 0
    return folder


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["embed", "R"], "nodes.csv"),
        (["embed", "R"], "alias.csv"),
        (["embed", "R"], "R/embeddings.parquet"),
        (["embed", "R", "--nodes", "new.csv", "--edges", "links.csv"], "new.csv"),
        (["embed", "R", "--nodes", "new.csv", "--edges", "links.csv"], "links.csv"),
        (["embed", "R", "--nodes", "new.csv", "--edges", "links.csv"], "R/embeddings.parquet"),
        (["cluster", "R", "-k", "2"], "edges.csv"),
        (["similar", "R", "--id", "007"], "R/embeddings.parquet"),
        (["predict-links", "R", "--id", "007"], "nodes.csv"),
        (["classify", "R", "--labels", "labels.csv"], "labels.csv"),
        (["evaluate", "R", "--seeds", "1"], "R/graph.json"),
        (["evaluate", "--embeddings", "mine.parquet", "--nodes", "nodes.csv", "--edges", "edges.csv"], "mine.parquet"),
        (["evaluate", "--embeddings", "mine.parquet", "--nodes", "nodes.csv", "--edges", "edges.csv"], "nodes.csv"),
        (["report", "R"], "R/metrics.jsonl"),
        (["report", "R"], "nodes.csv"),
    ],
)
def test_a_file_that_is_read_is_not_written_over(files, monkeypatch, capsys, words, out):
    monkeypatch.chdir(files)
    before = (files / out).read_bytes()
    capsys.readouterr()
    assert run([*words, "--out", out]) == 2
    assert f"error: {out}: is what is read here, and would be lost; choose another --out" in capsys.readouterr().err
    assert (files / out).read_bytes() == before


def test_other_files_are_written_over_and_lost_ones_are_written_again(files, monkeypatch):
    monkeypatch.chdir(files)
    for out in ("old.csv", "R/groups.csv"):
        (files / out).write_text(MINE)
        assert run(["cluster", "R", "-k", "2", "--out", out]) == 0
        assert (files / out).read_text() != MINE
    kept = RunFolder("R").embeddings_file
    before = kept.read_bytes()
    kept.unlink()
    assert run(["embed", "R", "--out", str(kept)]) == 0
    assert kept.read_bytes() == before


@pytest.mark.parametrize("words", [["train"], ["train", "--resume"], ["embed"], ["benchmark"], ["tables"]])
def test_a_folder_whose_name_is_no_text_is_one_line_before_any_work(tables, capsys, words):
    """Libraries of other languages could not read it again."""
    folder, _ = tables
    name = str(folder / "R\udcff")
    rest = {
        "train": [*graph_of(folder), *FAST, "--out", name],
        "embed": [name, "--out", str(folder / "x.csv")],
        "benchmark": ["--datasets", "digits", "--methods", "spectral", "--out", name],
        "tables": [name],
    }
    assert run([*words, *rest[words[0]]]) == 2
    assert "the name is not UTF-8 text; rename it, or choose another" in capsys.readouterr().err
    assert not any(path.name.startswith("R") for path in folder.iterdir())
