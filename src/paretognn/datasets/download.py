"""Fetching a data set's files over HTTPS: written aside, checked, then renamed into place."""

from __future__ import annotations

import hashlib
import http.client
import logging
import shutil
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from paretognn.atomic import atomic_write
from paretognn.datasets.entry import DataSet, RawFile
from paretognn.errors import InputError

TIMEOUT = 60
CHUNK = 1 << 20
log = logging.getLogger(__name__)


def download(entry: DataSet, folder: Path) -> None:
    """Put the files of a data set that are missing into ``folder``.

    Raises `InputError` when offline, when a file has no public copy or is not the one expected, and when
    ``folder`` cannot be written.
    """
    missing = [file for file in entry.files if not (folder / file.path).is_file()]
    lost = [file.path for file in missing if file.url is None]
    if lost:
        raise InputError(f"{entry.name}: {lost[0]} has no public copy to download; put it at {folder / lost[0]}")
    try:
        for url in dict.fromkeys(file.url for file in missing if file.url):
            log.info("%s: downloading %s", entry.name, url)
            wanted = [file for file in missing if file.url == url]
            with _fetched(url, folder) as temporary:
                for file in wanted:
                    _place(entry, file, temporary, folder / file.path)
    except (OSError, http.client.HTTPException, zipfile.BadZipFile) as error:
        reason = str(getattr(error, "reason", "") or error or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{entry.name}: cannot download {url} into {folder} ({reason}); if this machine is offline, "
            f"fetch it elsewhere and name its folder with --data-root or PARETOGNN_DATA"
        ) from error


@contextmanager
def _fetched(url: str, folder: Path) -> Iterator[Path]:
    """The content of ``url`` in a temporary file beside its destination, removed afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".download-") as out:
        with _open(url) as response:
            shutil.copyfileobj(response, out, CHUNK)
        out.flush()
        yield Path(out.name)


def _open(url: str) -> IO[bytes]:
    response = urllib.request.urlopen(url, timeout=TIMEOUT)
    # urllib follows a redirect from https to http without a word.
    if not response.url.startswith("https://"):
        response.close()
        raise OSError(f"redirected to an insecure address, {response.url}")
    return response


def _place(entry: DataSet, file: RawFile, source: Path, target: Path) -> None:
    """Take one file out of ``source`` (itself, or a zip that has it), check it and rename it into place."""
    size, digest = entry.known_size(file)
    with atomic_write(target) as aside:
        with aside.open("wb") as out, _content(file, source) as content:
            shutil.copyfileobj(content, out, CHUNK)
        found = aside.stat().st_size
        if size is not None and found != size:
            raise InputError(f"{entry.name}: {file.url} gave {found:,} bytes, expected {size:,} ({file.path})")
        if digest is not None and _sha256(aside) != digest:
            raise InputError(f"{entry.name}: {file.url} gave other content than expected (SHA-256, {file.path})")


@contextmanager
def _content(file: RawFile, source: Path) -> Iterator[IO[bytes]]:
    if file.member is None:
        with source.open("rb") as content:
            yield content
        return
    with zipfile.ZipFile(source) as archive:
        if file.member not in archive.namelist():
            raise zipfile.BadZipFile(f"the archive has no {file.member}")
        with archive.open(file.member) as content:
            yield content


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
