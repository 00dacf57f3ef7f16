"""A text table as bytes: found, unpacked, its byte-order mark and leading comments set aside."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from paretognn.errors import InputError, suggest

LINE_BREAK = re.compile(rb"\r\n|\r|\n")
_BINARY = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"SQLite format 3", b"\x89HDF", b"\x93NUMPY", b"%PDF-")
"""How new and old spreadsheets begin, and other files that are at times taken for tables. No text begins so; a byte
that is 0, on the other hand, may be part of an id."""
_PACKED = re.compile(rb"BZh\d1AY&SY|\x28\xb5\x2f\xfd|\xfd7zXZ\x00", re.DOTALL)
"""How files of bzip2, Zstandard and xz begin."""
_LEADING = re.compile(rb"(?:#[^\r\n]*(?:\r\n|\r|\n|\Z)|\r\n|\r|\n)*")


@dataclass(frozen=True)
class TextFile:
    """body : what follows the leading comments; ``lines_before`` and ``comments`` count what was set aside;
    ``quoted`` : whether there is a quote anywhere."""

    body: memoryview
    quoted: bool
    lines_before: int = 0
    comments: int = 0


def check_file(path: Path) -> None:
    """Raise InputError unless ``path`` is a file with something in it."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if not path.exists():
        near = os.listdir(path.parent) if path.parent.is_dir() else []
        raise InputError(f"{path} does not exist{suggest(path.name, near)}")
    if not path.is_file():
        raise InputError(f"{path} is a pipe or a device, and a table is read more than once: write it to a file first")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty")


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """The whole file, or its first ``most`` bytes up to the end of a line; gzip undone (told by its first two bytes,
    not by its name)."""
    check_file(path)
    try:
        if most is not None:
            return _whole_lines(path, most)
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path} is not a whole gzip file: it is cut short or damaged") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def _whole_lines(path: Path, most: int) -> bytes:
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        with gzip.open(raw) if packed else raw as file:
            data: bytes = file.read(most + 1)
    if len(data) <= most:
        return data
    ends = [match.end() for match in LINE_BREAK.finditer(data, 0, most)]
    return data[: ends[-1]] if ends else data[:most]


def read_text(path: Path, most: int | None = None) -> TextFile:
    """Set aside a UTF-8 byte-order mark and the leading lines that are empty or start with '#'.

    A '#' in a later line is part of an id. ``most``: as `read_bytes`. Raises InputError for a missing, empty, binary or
    UTF-16 file.
    """
    data = read_bytes(path, most)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{path} is UTF-16 text: save it as UTF-8")
    if _PACKED.match(data):
        raise InputError(f"{path} is packed otherwise than by gzip: unpack it")
    if data.startswith(_BINARY):
        raise InputError(f"{path} is a spreadsheet (or other binary file): save it as CSV or Parquet")
    start = 3 if data[:3] == b"\xef\xbb\xbf" else 0
    match = _LEADING.match(data, start)
    assert match is not None
    leading = match.group()
    if not data[match.end() :].strip():
        raise InputError(f"{path} is empty")
    lines = LINE_BREAK.split(leading)
    return TextFile(
        body=memoryview(data)[match.end() :],
        quoted=b'"' in data,
        lines_before=len(lines) - 1,
        comments=sum(line.startswith(b"#") for line in lines),
    )
