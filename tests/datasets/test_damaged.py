"""Whatever bytes a file holds, a reader gives a graph or an `InputError` of one line that names the place."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paretognn.datasets import dataset_entry, load_dataset
from paretognn.errors import InputError

NAMES = [
    "cora", "coauthor-cs", "chameleon", "actor", "minesweeper", "airports-brazil", "reed98", "wiki-cs",
    "ogbn-arxiv",
]  # fmt: skip
FILES = [(name, i) for name in NAMES for i in range(min(len(dataset_entry(name).files), 8))]


@pytest.fixture(scope="module")
def spoiled_root(small_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(small_root, tmp_path_factory.mktemp("spoiled") / "root"))


def load_with(name: str, index: int, root: Path, change: bytes | None) -> None:
    """Load with one file replaced (or taken away), then put the file back."""
    entry = dataset_entry(name)
    path = root / entry.folders[0] / entry.files[index].path
    whole = path.read_bytes()
    try:
        if change is None:
            path.unlink()
        else:
            path.write_bytes(change)
        load_dataset(name, root)
    except InputError as error:
        message = str(error)
        assert str(root) in message
        assert "\n" not in message
        raise
    finally:
        path.write_bytes(whole)


def content(name: str, index: int, root: Path) -> bytes:
    entry = dataset_entry(name)
    return (root / entry.folders[0] / entry.files[index].path).read_bytes()


def refused_unless_text(name: str, index: int) -> AbstractContextManager[object]:
    """A table of text may lose rows, or be a line break, and still be a table; a container may not."""
    text = Path(dataset_entry(name).files[index].path).suffix in (".txt", ".edgelist", ".index")
    return suppress(InputError) if text else pytest.raises(InputError)


@pytest.mark.parametrize(("name", "index"), FILES)
def test_a_file_that_is_absent_or_empty(name: str, index: int, spoiled_root: Path) -> None:
    path = dataset_entry(name).files[index].path
    with pytest.raises(InputError, match=rf"{name}: 1 of \d+ files are missing in .*{path}"):
        load_with(name, index, spoiled_root, None)
    with pytest.raises(InputError):
        load_with(name, index, spoiled_root, b"")


@pytest.mark.parametrize(("name", "index"), FILES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_truncated(name: str, index: int, spoiled_root: Path, data: st.DataObject) -> None:
    whole = content(name, index, spoiled_root)
    kept = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with refused_unless_text(name, index):
        load_with(name, index, spoiled_root, kept)


@pytest.mark.parametrize(("name", "index"), FILES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.binary(min_size=1, max_size=300))
def test_random_bytes(name: str, index: int, spoiled_root: Path, noise: bytes) -> None:
    with refused_unless_text(name, index):
        load_with(name, index, spoiled_root, noise)


@pytest.mark.parametrize(("name", "index"), FILES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_changed_bytes(name: str, index: int, spoiled_root: Path, data: st.DataObject) -> None:
    changed = bytearray(content(name, index, spoiled_root))
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    with suppress(InputError):
        load_with(name, index, spoiled_root, bytes(changed))
