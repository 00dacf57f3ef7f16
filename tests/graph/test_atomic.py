import os
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paretognn.atomic import WriteError, atomic_write
from paretognn.graph.write_table import write_table


def test_the_file_appears_whole_and_keeps_its_suffix(tmp_path):
    target = tmp_path / "a folder é" / "x.csv.gz"
    with atomic_write(target) as aside:
        assert aside.name.endswith(".csv.gz")
        assert aside.parent == target.parent
        aside.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["x.csv.gz"]


def test_a_failure_keeps_the_old_file_and_leaves_nothing_beside_it(tmp_path):
    target = tmp_path / "x.json"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError), atomic_write(target) as aside:
        aside.write_text("half \ud800", encoding="utf-8")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.json"]


def test_the_umask_decides_who_may_read(tmp_path):
    old = os.umask(0o022)
    try:
        with atomic_write(tmp_path / "x") as aside:
            aside.write_text("")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o644


def test_a_writer_may_replace_the_temporary_file(tmp_path):
    with atomic_write(tmp_path / "x") as aside:
        aside.unlink()
        aside.write_text("again")
    assert (tmp_path / "x").read_text() == "again"


def test_of_a_link_the_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "x")
    for text in ("first", "second"):
        with atomic_write(tmp_path / "link") as aside:
            aside.write_text(text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real" / "x").read_text() == text


def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WriteError, match="is a device or a pipe"), atomic_write(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_a_table_is_written_where_its_name_says(tmp_path, monkeypatch):
    """A path that pyarrow itself would take for one at home, or on a server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("~/x.parquet", "file:/x.parquet", "s3:/x.parquet"):
        write_table(Path(name), pa.table({"id": ["a"]}))
        assert pq.read_table((tmp_path / name).open("rb"))["id"].to_pylist() == ["a"]
    assert not (tmp_path / "home").exists()
