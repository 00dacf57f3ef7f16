"""One public data set: what it is, where its files lie and where they come from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from paretognn.graph.graph import Graph


@dataclass(frozen=True)
class RawFile:
    """A file of a data set, by its path in the data set's folder; ``url`` is None without a public copy.

    ``member`` names the file inside ``url`` where that is a zip archive.
    """

    path: str
    url: str | None = None
    member: str | None = None


class Published(NamedTuple):
    """Sizes as published: by the paper for its eleven data sets, else by the collection they come from."""

    nodes: int
    edges: int
    features: int
    classes: int


@dataclass(frozen=True)
class DataSet:
    """A row of the registry.

    read : ``read(folder, **options) -> Graph``; None of the readers touches the network.
    folders : where the files are looked for below the data root, the first being where a download goes.
    published : what is read may differ from it, by the reason in ``notes``.
    options : the keywords that ``read`` takes beside the folder.
    """

    name: str
    read: Callable[..., Graph]
    published: Published
    homophilous: bool
    licence: str
    source: str
    folders: tuple[str, ...] = ()
    files: tuple[RawFile, ...] = ()
    notes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    in_paper: bool = False
    public_split_only: bool = False

    def folder(self, root: Path) -> Path:
        """The first of the data set's folders below ``root`` with all files, else with most of them."""
        candidates = [root / folder for folder in self.folders]
        return min(candidates, key=lambda folder: len(self.missing(folder)))

    def missing(self, folder: Path) -> list[str]:
        return [file.path for file in self.files if not (folder / file.path).is_file()]

    def known_size(self, file: RawFile) -> tuple[int | None, str | None]:
        """Bytes and SHA-256 (hex) of a file, each None where not known."""
        size, digest = _checksums().get(f"{self.folders[0]}/{file.path}", (None, None))
        return size, digest


@cache
def _checksums() -> dict[str, tuple[int | None, str | None]]:
    text = files("paretognn.datasets").joinpath("checksums.json").read_text("utf-8")
    return {path: (size, digest) for path, (size, digest) in json.loads(text).items()}
