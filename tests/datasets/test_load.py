"""Names, folders, messages and downloads."""

from __future__ import annotations

import hashlib
import io
import urllib.error
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from paretognn.datasets import dataset_entry, dataset_names, describe_datasets, load_dataset
from paretognn.datasets import download as download_module
from paretognn.datasets import entry as entry_module
from paretognn.errors import InputError

NAMES = [
    "wiki-cs", "pubmed", "amazon-photo", "amazon-computers", "coauthor-cs", "coauthor-physics", "ogbn-arxiv",
    "ogbn-products", "chameleon", "squirrel", "actor", "cora", "citeseer", "digits",
]  # fmt: skip


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache, empty, with no data root named anywhere and no checksum expected."""
    monkeypatch.delenv("PARETOGNN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(entry_module, "_checksums", dict)
    return tmp_path / "cache/paretognn/data"


@pytest.fixture
def served(small_root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answers every address from the small files; the list fills with the addresses asked for."""
    asked: list[str] = []
    contents: dict[str, bytes] = {}
    for name in ("cora", "chameleon"):
        entry = dataset_entry(name)
        for file in entry.files:
            contents[str(file.url)] = (small_root / entry.folders[0] / file.path).read_bytes()
    archive = io.BytesIO()
    arxiv = dataset_entry("ogbn-arxiv")
    with zipfile.ZipFile(archive, "w") as out:
        for file in arxiv.files:
            out.write(small_root / arxiv.folders[0] / file.path, file.member)
        out.writestr("../outside", "never unpacked")
    contents[str(arxiv.files[0].url)] = archive.getvalue()

    def answer(url: str) -> io.BytesIO:
        asked.append(url)
        return io.BytesIO(contents[url])

    monkeypatch.setattr(download_module, "_open", answer)
    return asked


def refuse(error: Exception) -> Callable[[str], io.BytesIO]:
    def answer(url: str) -> io.BytesIO:
        raise error

    return answer


def test_names_of_the_paper_come_first() -> None:
    assert dataset_names()[:14] == NAMES
    assert sum(dataset_entry(name).in_paper for name in dataset_names()) == 11
    assert [n for n in dataset_names() if dataset_entry(n).public_split_only] == [
        "ogbn-arxiv",
        "ogbn-products",
    ]


def test_an_unknown_name_or_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown data set 'amazon-foto'.*'amazon-photo'"):
        load_dataset("amazon-foto")
    with pytest.raises(InputError, match=r"coauthor-cs has no option 'binery'.*'binary'"):
        load_dataset("coauthor-cs", binery=True)
    with pytest.raises(InputError, match="digits has no option 'binary'; it has: none"):
        load_dataset("digits", binary=True)


def test_case_and_underscores_are_forgiven(small_root: Path) -> None:
    assert load_dataset("Coauthor_CS", small_root).name == "coauthor-cs"


def test_a_named_root_is_never_filled(
    cache: Path, served: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "mine"
    expected = r"7 of 7 files are missing in .*mine/Planetoid/Cora/raw \(ind\.cora\.tx.*or PARETOGNN_DATA"
    with pytest.raises(InputError, match=expected):
        load_dataset("cora", root)
    monkeypatch.setenv("PARETOGNN_DATA", str(root))
    with pytest.raises(InputError, match=expected):
        load_dataset("cora")
    assert not root.exists()
    assert served == []


def test_the_argument_goes_before_the_environment(
    small_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARETOGNN_DATA", str(tmp_path))
    assert load_dataset("cora", small_root).num_nodes == 550
    monkeypatch.setenv("PARETOGNN_DATA", str(small_root))
    assert load_dataset("cora").num_nodes == 550


@pytest.mark.parametrize(("name", "requests"), [("cora", 7), ("chameleon", 12), ("ogbn-arxiv", 1)])
def test_a_download_fills_the_cache_once(
    name: str, requests: int, cache: Path, served: list[str], small_root: Path
) -> None:
    graph = load_dataset(name)
    assert graph.digest() == load_dataset(name, small_root).digest()
    load_dataset(name)
    assert len(served) == requests
    found = {path.relative_to(cache) for path in cache.rglob("*") if path.is_file()}
    entry = dataset_entry(name)
    assert found == {Path(entry.folders[0]) / file.path for file in entry.files}


def test_only_what_is_missing_is_fetched(cache: Path, served: list[str]) -> None:
    load_dataset("cora")
    (cache / "Planetoid/Cora/raw/ind.cora.tx").unlink()
    load_dataset("cora")
    assert [url.rsplit("/", 1)[1] for url in served[7:]] == ["ind.cora.tx"]


def test_download_can_be_asked_for_and_refused(cache: Path, served: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="download=True"):
        load_dataset("cora", download=False)
    assert not cache.exists()
    assert load_dataset("cora", tmp_path / "mine", download=True).num_nodes == 550
    assert len(list((tmp_path / "mine").rglob("ind.cora.*"))) == 7


@pytest.mark.parametrize(
    "error",
    [
        urllib.error.URLError(OSError(-2, "Name or service not known")),
        TimeoutError("timed out"),
        ConnectionResetError(104, "Connection reset by peer"),
        urllib.error.HTTPError("https://x", 404, "Not Found", None, None),  # type: ignore[arg-type]
    ],
)
def test_offline_is_one_line(error: Exception, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_module, "_open", refuse(error))
    with pytest.raises(InputError, match=r"cora: cannot download https://.* offline.*--data-root") as caught:
        load_dataset("cora")
    assert "\n" not in str(caught.value)
    assert [path for path in cache.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("known", "message"), [((3, None), "expected 3"), ((None, "0" * 64), "SHA-256")], ids=["size", "digest"]
)
def test_other_content_is_refused_and_removed(
    known: tuple[int | None, str | None],
    message: str,
    cache: Path,
    served: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entry_module, "_checksums", lambda: {"Planetoid/Cora/raw/ind.cora.tx": known})
    with pytest.raises(InputError, match=message):
        load_dataset("cora")
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_redirect_to_plain_http_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Response(io.BytesIO):
        url = "http://elsewhere/ind.cora.tx"

    monkeypatch.setattr(download_module.urllib.request, "urlopen", lambda url, timeout: Response(b"x"))
    with pytest.raises(InputError, match="insecure"):
        load_dataset("cora")


def test_a_damaged_archive_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_module, "_open", lambda url: io.BytesIO(b"not a zip"))
    with pytest.raises(InputError, match="ogbn-arxiv: cannot download"):
        load_dataset("ogbn-arxiv")


def test_what_has_no_public_copy_says_where_to_put_it(cache: Path) -> None:
    with pytest.raises(InputError, match=r"wordnet30_synsets\.npz has no public copy.*extras_npz"):
        load_dataset("wordnet")


def test_a_folder_that_cannot_be_made_is_one_line(
    cache: Path, served: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot download"):
        load_dataset("cora", tmp_path / "file", download=True)


def test_the_description_says_what_is_where(small_root: Path) -> None:
    rows = {row["name"]: row for row in describe_datasets(small_root)}
    assert list(rows) == dataset_names()
    assert rows["cora"]["present"]
    assert rows["cora"]["folder"] == str(small_root / "Planetoid/Cora/raw")
    assert not rows["pubmed"]["present"]
    assert len(rows["pubmed"]["missing"]) == 7
    assert rows["digits"]["present"]
    assert rows["digits"]["folder"] is None
    assert (rows["actor"]["nodes"], rows["actor"]["edges"], rows["actor"]["features"]) == (7600, 33544, 931)
    assert not rows["wordnet"]["downloadable"]


def test_every_address_is_https_and_every_path_stays_inside() -> None:
    for name in dataset_names():
        for file in dataset_entry(name).files:
            assert file.url is None or file.url.startswith("https://")
            assert ".." not in Path(file.path).parts
            assert not Path(file.path).is_absolute()


def test_known_checksums_are_those_of_the_real_files(data_root: Path) -> None:
    for name in ("cora", "actor", "amazon-photo", "minesweeper", "reed98", "airports-usa"):
        entry = dataset_entry(name)
        for file in entry.files:
            content = (data_root / entry.folders[0] / file.path).read_bytes()
            assert entry.known_size(file) == (len(content), hashlib.sha256(content).hexdigest())
