import os
import stat

import pytest

from paretognn.atomic import atomic_write


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
