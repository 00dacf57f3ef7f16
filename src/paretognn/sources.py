"""Where a graph comes from, as a value that a run folder can keep and open again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from paretognn.datasets import load_dataset
from paretognn.downstream.unit_rows import unit_rows
from paretognn.errors import InputError, flag
from paretognn.graph import Graph, read_graph
from paretognn.graph.table_options import OF_NODES
from paretognn.training.embeddings import read_embeddings
from paretognn.training.run_folder import RunFolder


@dataclass(frozen=True)
class GraphSource:
    """A public data set by name, or tables of nodes and edges, or an npz file or imported graph.

    options : those of `read_graph` for tables, such as ``label_column``.
    """

    dataset: str | None = None
    data_root: str | None = None
    nodes: str | None = None
    edges: str | None = None
    graph: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def given(self) -> bool:
        return any((self.dataset, self.nodes, self.edges, self.graph))

    def check_unused(self) -> None:
        """InputError for options of a graph where none is named."""
        named = [*self.options, *(["data_root"] if self.data_root is not None else [])]
        if named and not self.given:
            raise InputError(f"{flag(named[0])} is for a graph that is read, and none is named; leave it out")

    @property
    def files(self) -> tuple[Path, ...]:
        """The user's own, that it is read from."""
        return tuple(Path(path) for path in (self.nodes, self.edges, self.graph) if path is not None)

    def check(self) -> None:
        """InputError unless exactly one kind of source is named."""
        kinds = [
            self.dataset is not None,
            self.nodes is not None or self.edges is not None,
            self.graph is not None,
        ]
        if sum(kinds) == 0:
            raise InputError(
                "name a graph: --dataset NAME, or --nodes FILE --edges FILE, or --edges FILE, or --graph FILE.npz"
            )
        if sum(kinds) > 1:
            raise InputError("name one graph only: --dataset, or --nodes and --edges, or --graph")
        if self.nodes is not None and self.edges is None:
            raise InputError("--nodes needs --edges FILE beside it")
        if self.options and self.edges is None:
            raise InputError(f"{flag(next(iter(self.options)))} is for tables (--nodes, --edges)")
        if self.nodes is None and (lost := [name for name in self.options if name in OF_NODES]):
            raise InputError(f"{flag(lost[0])} is for a table of nodes (--nodes), and there is none")
        if self.data_root is not None and self.dataset is None:
            raise InputError("--data-root is for a public data set (--dataset), and none is named")

    def load(self) -> Graph:
        """Read the graph; InputError as its reader."""
        self.check()
        if self.dataset is not None:
            return load_dataset(self.dataset, self.data_root)
        return read_graph(self.nodes, self.edges, graph=self.graph, **self.options)

    def to_json(self) -> dict[str, Any]:
        """With absolute paths, so that a run can be opened from elsewhere."""
        content = {k: v for k, v in asdict(self).items() if v}
        for key in ("data_root", "nodes", "edges", "graph"):
            if key in content:
                content[key] = str(Path(content[key]).resolve())
        return content

    @classmethod
    def from_json(cls, content: Any, where: Path) -> GraphSource:
        """The inverse of `to_json`; InputError naming the file ``where`` for anything else."""
        texts = {f.name for f in fields(cls)} - {"options"}
        if (
            not isinstance(content, dict)
            or not all(isinstance(content[key], str) for key in texts & content.keys())
            or not isinstance(content.get("options", {}), dict)
            or content.keys() - texts - {"options"}
        ):
            raise InputError(f"{where}: corrupt (it does not say where the graph came from)")
        return cls(**content)


def read_files(folder: RunFolder) -> list[Path]:
    """What a run is: its files, and those that its graph came from."""
    origin = folder.read_json(folder.graph_json).get("source")
    return [*folder.files, *(GraphSource.from_json(origin, folder.graph_json).files if origin else ())]


def run_graph(folder: RunFolder, source: GraphSource | None = None) -> Graph:
    """The training graph of a run: as named by ``source``, else the run's copy, else from where it came.

    InputError where what is found is not the graph that the run was started on.
    """
    if source is not None:
        source.check_unused()
    if source is None or not source.given:
        copy = folder.graph()
        if copy is not None:
            return copy
        origin = folder.read_json(folder.graph_json).get("source")
        if not origin:
            raise InputError(f"{folder.path}: keeps no graph; name it (--dataset, --nodes and --edges, or --graph)")
        source = GraphSource.from_json(origin, folder.graph_json)
    graph = source.load()
    folder.check_graph(graph)
    return graph


def run_embeddings(folder: RunFolder) -> tuple[Graph, np.ndarray]:
    """The training graph of a finished run and the embeddings of its nodes, float32 [N, d], rows of length 1 or 0 as
    they are judged. InputError where the run is not finished, or its files are damaged."""
    graph = run_graph(folder.require_finished())
    path = folder.embeddings_file
    return graph, unit_rows(read_embeddings(path, graph), graph.num_nodes, str(path))
