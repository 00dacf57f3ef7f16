"""One cell to be made, as a process is told of it."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from paretognn.benchmark.cells import EMBEDDINGS, CellKey, Store
from paretognn.benchmark.grid import EmbeddingsFile, GridCell, Request
from paretognn.benchmark.settings_text import flatten
from paretognn.training import make_config

LOCKS, LOGS = "locks", "logs"


@dataclass(frozen=True)
class Job:
    """A cell of the grid, the store it goes to, and how it is made.

    at_once : how many cells were made side by side; seconds depend on it.
    """

    cell: GridCell
    store: Store
    evaluation_seeds: int = 10
    data_root: str | None = None
    device: str = "cpu"
    at_once: int = 1

    @classmethod
    def of(cls, cell: GridCell, store: Store, request: Request, at_once: int = 1) -> Job:
        return cls(cell, store, request.evaluation_seeds, request.data_root, request.device, at_once)

    @property
    def lock(self) -> Path:
        return self.store.path / LOCKS / f"{self.cell.key.name}.lock"

    @property
    def log(self) -> Path:
        return self.store.path / LOGS / f"{self.cell.key.name}.log"

    def command(self) -> str:
        """A command line that makes this cell, whatever else it is made beside."""
        key, words = self.cell.key, ["paretognn", "benchmark", "--datasets", self.cell.key.dataset]
        if self.cell.file is not None:
            words += ["--embeddings", f"{key.method}={self.cell.file.embeddings.name}"]
            if self.cell.file.link_embeddings is not None:
                words += ["--link-embeddings", f"{key.method}={self.cell.file.link_embeddings.name}"]
        else:
            words += ["--methods", key.method]
        words += ["--preset", key.preset]
        if key.steps:
            words += ["--steps", str(key.steps)]
        if key.kind != EMBEDDINGS:
            words += ["--seeds", str(key.seed + 1)]
        words += ["--evaluation-seeds", str(self.evaluation_seeds)]
        for name, value in flatten(key.settings):
            text = yaml.safe_dump(value, default_flow_style=True, width=1 << 20).partition("\n")[0]
            words += ["--set", f"{name}={text}"]
        return shlex.join([*words, "--device", self.device, "--out", self.store.path.resolve().name])

    def to_json(self) -> dict[str, Any]:
        content = {**vars(self), "store": str(self.store.path), "cell": {**vars(self.cell)}}
        cell = content["cell"]
        cell["key"] = asdict(self.cell.key)
        cell["config"] = self.cell.config.model_dump(mode="json")
        cell["needs"] = [asdict(key) for key in self.cell.needs]
        if self.cell.file is not None:
            cell["file"] = {k: v if v is None else str(v) for k, v in vars(self.cell.file).items()}
        return content

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Job:
        cell, file = content["cell"], content["cell"]["file"]
        if file is not None:
            link = file["link_embeddings"]
            file = EmbeddingsFile(file["name"], Path(file["embeddings"]), None if link is None else Path(link))
        made = GridCell(
            **{
                **cell,
                "key": CellKey(**cell["key"]),
                "config": make_config(cell["config"]),
                "needs": tuple(CellKey(**key) for key in cell["needs"]),
                "file": file,
            }
        )
        return cls(**{**content, "cell": made, "store": Store(content["store"])})
