import errno
import os
import subprocess
import sys

from paretognn.lock import is_locked, locked

HOLD = """
import sys, time
from pathlib import Path
from paretognn.lock import locked
with locked(Path(sys.argv[1])) as free:
    print(free, flush=True)
    time.sleep(60)
"""


def test_one_holder_at_a_time(tmp_path):
    path = tmp_path / "locks" / "a.lock"
    with locked(path) as free:
        assert free
        assert path.read_text() == f"{os.getpid()}\n"
        assert is_locked(path)
        with locked(path) as again:
            assert not again
        assert is_locked(path)
    assert not path.exists()
    assert not is_locked(path)


def test_a_lock_holds_on_a_full_disk(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.write", full)
    with locked(tmp_path / "lock") as first, locked(tmp_path / "lock") as second:
        assert (first, second) == (True, False)


def test_a_lock_of_a_killed_process_is_free(tmp_path):
    path = tmp_path / "a.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"True\n"
    assert is_locked(path)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert path.exists()
    with locked(path) as free:
        assert free
