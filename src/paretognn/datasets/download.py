"""Fetching a data set's files over HTTPS: written aside, checked, then renamed into place."""

from __future__ import annotations

import hashlib
import http.client
import logging
import os
import shutil
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from paretognn.datasets.entry import DataSet, RawFile
from paretognn.errors import InputError

TIMEOUT = 60
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
    handle, name = tempfile.mkstemp(dir=folder, prefix=".download-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as out, _open(url) as response:
            shutil.copyfileobj(response, out, 1 << 20)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _open(url: str) -> IO[bytes]:
    response = urllib.request.urlopen(url, timeout=TIMEOUT)
    # urllib follows a redirect from https to http without a word.
    if not response.url.startswith("https://"):
        response.close()
        raise OSError(f"redirected to an insecure address, {response.url}")
    return response


def _place(entry: DataSet, file: RawFile, source: Path, target: Path) -> None:
    """Check one file, taken out of the archive ``source`` where it is a member of one, and rename it into place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".download-")
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as out, _content(file, source) as content:
            shutil.copyfileobj(content, out, 1 << 20)
        size, digest = entry.known_size(file)
        found = aside.stat().st_size
        if size is not None and found != size:
            raise InputError(f"{entry.name}: {file.url} gave {found:,} bytes for {file.path}, expected {size:,}")
        if digest is not None and _sha256(aside) != digest:
            raise InputError(f"{entry.name}: {file.url} gave a {file.path} other than the one expected (SHA-256)")
        aside.chmod(0o644)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


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
