"""The run folder: what is where, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from paretognn.atomic import PARTIAL, atomic_write, sweep
from paretognn.errors import InputError, require_utf8
from paretognn.graph import Graph, load_graph, save_graph
from paretognn.lock import locked
from paretognn.training.config import TrainConfig, make_config, read_config_file
from paretognn.training.packages import needed_packages, package_changes


class RunFolder:
    """Paths and readers of one run.

    config.yaml, packages.json (where other packages are needed), graph.json, graph/, search.json, checkpoints/,
    metrics.jsonl, model.safetensors, embeddings.parquet, link/, evaluation.json, cost.json. InputError for a path that
    is not UTF-8 text.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        require_utf8(self.path)
        self.config_file = self.path / "config.yaml"
        self.packages_file = self.path / "packages.json"
        self.graph_json = self.path / "graph.json"
        self.graph_folder = self.path / "graph"
        self.search_file = self.path / "search.json"
        self.checkpoints = self.path / "checkpoints"
        self.metrics_file = self.path / "metrics.jsonl"
        self.model_file = self.path / "model.safetensors"
        self.embeddings_file = self.path / "embeddings.parquet"
        self.link_folder = self.path / "link"
        self.evaluation_file = self.path / "evaluation.json"
        self.cost_file = self.path / "cost.json"
        self.lock_file = self.path / ".lock"

    @property
    def files(self) -> tuple[Path, ...]:
        """What cannot be had again from the others; an evaluation can."""
        return (
            self.config_file, self.packages_file, self.graph_json, self.search_file, self.metrics_file, self.model_file,
            self.embeddings_file, self.cost_file,
        )  # fmt: skip

    def exists(self) -> bool:
        return self.config_file.exists()

    def occupied(self) -> bool:
        """Whether it holds anything, other than what a start that was cut off has left: a run exists from its
        config.yaml on, which is written last."""
        remains = {self.graph_folder.name, self.graph_json.name, self.packages_file.name, self.lock_file.name}
        return self.path.exists() and any(
            entry.name not in remains and not entry.name.startswith(PARTIAL) for entry in self.path.iterdir()
        )

    @contextmanager
    def held(self) -> Iterator[None]:
        """A context in which no other process is in one of the same folder. InputError where one is."""
        with locked(self.lock_file) as free:
            if not free:
                raise InputError(f"{self.path}: another process is training there")
            yield

    def sweep(self) -> None:
        """Remove what writers that were killed have left."""
        for folder in (self.path, self.graph_folder, self.checkpoints):
            sweep(folder)

    def require(self) -> RunFolder:
        """InputError where this is no run folder."""
        if not self.path.is_dir():
            raise InputError(f"{self.path}: no such run folder")
        if not self.exists():
            raise InputError(f"{self.path}: is not a run folder (it has no config.yaml)")
        return self

    def require_finished(self) -> RunFolder:
        """InputError where training has not written its model yet."""
        self.require()
        if not self.model_file.exists():
            raise InputError(
                f"{self.path}: training was not finished; continue it with: paretognn train --resume --out {self.path}"
            )
        return self

    def config(self) -> TrainConfig:
        """InputError naming the file where it is damaged, and the packages that it needs and that are not there."""
        tree = read_config_file(self.config_file)
        try:
            return make_config(tree)
        except InputError as error:
            recorded = self.read_json(self.packages_file) if self.packages_file.exists() else {}
            raise InputError(f"{self.config_file}: {error}{package_changes(recorded)}") from None

    def write_config(self, config: TrainConfig) -> None:
        packages = needed_packages(config)
        if packages:
            self.write_json(self.packages_file, packages)
        with atomic_write(self.config_file) as aside:
            text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
            aside.write_text(text, encoding="utf-8")

    def write_json(self, path: Path, content: dict[str, Any]) -> None:
        with atomic_write(path) as aside:
            aside.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")

    def read_json(self, path: Path) -> dict[str, Any]:
        """InputError where the file is missing or no JSON object."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (OSError, ValueError, RecursionError):
            raise InputError(f"{path}: corrupt (no JSON)") from None
        if not isinstance(content, dict):
            raise InputError(f"{path}: corrupt (no JSON object)")
        return content

    def save_graph(self, graph: Graph, description: dict[str, Any], copy: bool) -> None:
        """Write ``graph.json`` (counts, checks, digest, where it came from), and a copy where asked for; what is
        mapped from disk is there already, and is not copied."""
        copy = copy and graph.stored is None
        if copy:
            save_graph(graph, self.graph_folder)
        self.write_json(self.graph_json, {**description, "digest": graph.digest(), "copy": copy})

    def graph(self) -> Graph | None:
        """The copy of the training graph, or None where the run keeps none."""
        if not self.read_json(self.graph_json).get("copy"):
            return None
        return load_graph(self.graph_folder)

    def check_graph(self, graph: Graph) -> None:
        """InputError where ``graph`` is not the one that the run was started on."""
        if graph.digest() != self.read_json(self.graph_json).get("digest"):
            raise InputError(
                f"{self.path}: the graph has changed since this run was started; start a new run with another --out"
            )
