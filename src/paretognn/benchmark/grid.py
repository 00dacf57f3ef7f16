"""The grid: which cells a request asks for, with the settings of each resolved on its data set."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paretognn.benchmark import concat_pca
from paretognn.benchmark.cells import CONTROL, DONE, EMBEDDINGS, TRAINED, Cell, CellKey, Store
from paretognn.benchmark.memory import cell_memory
from paretognn.datasets import load_dataset
from paretognn.datasets.registry import dataset_entry
from paretognn.downstream.evaluate import MOST_SEEDS
from paretognn.errors import InputError, TooLargeError, suggest
from paretognn.graph import Graph
from paretognn.methods.controls import CONTROLS
from paretognn.methods.presets import PRESETS
from paretognn.methods.rows import METHODS, method_config
from paretognn.methods.search import before_search
from paretognn.pretext import task_class
from paretognn.training import TrainConfig, merge, read_embeddings
from paretognn.training.config import check_names

ALL = "all"
HIDDEN = 512
"""Width of the first layer where ``widths`` sets that of the last."""
_SEEN_BY_CONTROLS = ("encoder", "features")
_OPTIONS = {"method": "--methods", "preset": "--preset", "steps": "--steps", "seed": "--seeds"}


@dataclass(frozen=True)
class EmbeddingsFile:
    """A row from a file: embeddings of the whole graph, and of a model that never saw the test links."""

    name: str
    embeddings: Path
    link_embeddings: Path | None = None

    def digests(self) -> dict[str, str | None]:
        """SHA-256 (hex) of both files. InputError where one cannot be read."""
        return {"embeddings": _digest(self.embeddings), "link_embeddings": _digest(self.link_embeddings)}


@dataclass(frozen=True)
class Request:
    """A grid of ``datasets`` x ``methods`` x ``seeds`` training seeds (x ``widths``), and rows from files.

    methods : one that needs a smaller graph is left out on a data set; one whose package is missing is an error, but
        left out of ``all``.
    steps : None for those of the preset. settings : a tree laid over every trained cell; controls take those of the
        encoder and the features. widths : of the embeddings, one cell each; none for the preset's.
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...] = ()
    preset: str = "auto"
    steps: int | None = None
    seeds: int = 1
    evaluation_seeds: int = 10
    settings: dict[str, Any] = field(default_factory=dict)
    widths: tuple[int, ...] = ()
    files: tuple[EmbeddingsFile, ...] = ()
    data_root: str | None = None
    device: str = "cpu"


@dataclass(frozen=True, eq=False)
class GridCell:
    """A cell to be made.

    config : the resolved settings; for what is not trained they give width, features and seed.
    needs : cells that must be there first, or have failed. nodes, edges, memory (estimated peak, bytes) : for plans.
    """

    key: CellKey
    config: TrainConfig
    nodes: int
    edges: int
    memory: int
    needs: tuple[CellKey, ...] = ()
    file: EmbeddingsFile | None = None


def method_names() -> tuple[str, ...]:
    """All that ``methods`` can name, apart from ``all``."""
    return (*METHODS, *CONTROLS, concat_pca.NAME)


def checked(request: Request) -> Request:
    """The request with names in their canonical form, ``all`` spelt out and repeats dropped.

    InputError for what is unknown or out of range.
    """
    known = method_names()
    for name in request.methods:
        if name != ALL and name not in known:
            near = suggest(name, (*known, ALL))
            raise InputError(f"unknown method '{name}'{near}; known: {ALL}, {', '.join(known)}")
    methods = [each for name in request.methods for each in (known if name == ALL else [name])]
    datasets = tuple(dict.fromkeys(dataset_entry(name).name for name in request.datasets))
    if not datasets:
        raise InputError("--datasets names none; `paretognn datasets` lists them all")
    if not methods and not request.files:
        raise InputError(f"name --methods, or a file with --embeddings; known methods: {ALL}, {', '.join(known)}")
    if request.preset not in PRESETS:
        raise InputError(
            f"unknown preset '{request.preset}'{suggest(request.preset, PRESETS)}; known: {', '.join(PRESETS)}"
        )
    for option, number in (("--seeds", request.seeds), ("--evaluation-seeds", request.evaluation_seeds)):
        if not 1 <= number <= MOST_SEEDS:
            raise InputError(f"{option} must be at least 1 and at most {MOST_SEEDS:,}, not {number}")
    for width in request.widths:
        if width < 1:
            raise InputError(f"--widths must be at least 1, not {width}")
    for key in request.settings:
        if key in _OPTIONS:
            raise InputError(f"--set {key}: is an option of its own; use {_OPTIONS[key]}")
    check_names({name: value for name, value in request.settings.items() if name != "sampler"})
    encoder = request.settings.get("encoder")
    if not isinstance(encoder, dict | None):
        raise InputError(f"--set encoder: is a tree of settings, not {encoder!r}")
    if request.widths and "hidden_dims" in (encoder or {}):
        raise InputError("--set encoder.hidden_dims: is what --widths sets; leave one out")
    if not methods:
        _refuse_for_files(request)
    try:
        json.dumps(request.settings, allow_nan=False)
    except (ValueError, TypeError):
        raise InputError("--set: a value is neither finite number, text, truth value nor list of them") from None
    if request.files and len(datasets) > 1:
        raise InputError(f"--embeddings are those of one data set, and --datasets names {len(datasets)}")
    names = [file.name for file in request.files]
    for name in names:
        if name in known or names.count(name) > 1:
            raise InputError(f"--embeddings {name}: a row of that name exists already; choose another")
    return replace(request, methods=tuple(dict.fromkeys(methods)), datasets=datasets)


def _refuse_for_files(request: Request) -> None:
    """InputError for an option that rows from files do not heed."""
    given = {
        "--steps": request.steps is not None,
        "--set or --sampler": bool(request.settings),
        "--widths": bool(request.widths),
        "--seeds": request.seeds > 1,
    }
    for option in (name for name, there in given.items() if there):
        raise InputError(f"{option} is for --methods, and there are rows from files alone; leave it out")


def expand(request: Request) -> Iterator[tuple[Graph, list[GridCell]]]:
    """For every data set its graph and cells, each cell after those it needs.

    InputError as `checked`, and for data sets, settings and files that cannot be read or do not fit the graph, for
    methods asked for by name that need a package which is not installed; after the last data set, where none had a
    cell, or a setting is of a task that none has. A warning for every method that is left out.
    """
    by_name, every = request.methods, checked(request)
    some, tasks = False, set[str]()
    for dataset in every.datasets:
        graph = load_dataset(dataset, every.data_root)
        request = replace(every, methods=_possible(every, graph, by_name))
        cells: dict[str, GridCell] = {}
        for seed in range(request.seeds):
            for width in request.widths or (None,):
                for method in request.methods:
                    for cell in _cells(graph, method, seed, width, request):
                        cells.setdefault(cell.key.name, cell)
        for file in request.files:
            cell = _file_cell(graph, file, request)
            cells[cell.key.name] = cell
        tasks |= {task for cell in cells.values() if cell.key.kind == TRAINED for task in cell.config.tasks}
        some = some or bool(cells)
        yield graph, _after_alike(cells.values())
    if not some:
        raise InputError(f"none of --methods can be run on {', '.join(every.datasets)}")
    for task in every.settings.get("tasks") or {}:
        if task not in tasks:
            raise InputError(f"--set tasks.{task}: none of --methods has that task; leave it out")


def _after_alike(cells: Iterable[GridCell]) -> list[GridCell]:
    """The cells, each after the first that is trained alike, whose encoder it takes."""
    first: dict[str, CellKey] = {}
    ordered = []
    for cell in cells:
        if cell.key.kind == TRAINED:
            key = first.setdefault(cell.config.of_training(), cell.key)
            if key != cell.key:
                cell = replace(cell, needs=(*cell.needs, key))
        ordered.append(cell)
    return ordered


def recorded(store: Store, cell: GridCell, evaluation_seeds: int) -> Cell | None:
    """The cell as the store has it, of whatever status; None where it has none, or it is of another file.

    InputError where it was judged over other evaluation seeds: such cells do not compare.
    """
    found = store.get(cell.key)
    if found is None or found.status != DONE or found.evaluation is None:
        return found
    if cell.file is not None and _replaced(found.evaluation.get("files"), cell.file.digests()):
        return None
    _require_seeds(store, found, evaluation_seeds)
    return found


def _replaced(before: Any, now: dict[str, str | None]) -> bool:
    """Whether embeddings are others than those that were judged; a link score that is there stays where no file for it
    is named."""
    known = before if isinstance(before, dict) else {}
    return any(digest is not None and known.get(name) != digest for name, digest in now.items())


def check_protocol(store: Store, cells: Iterable[GridCell], evaluation_seeds: int) -> None:
    """InputError where the store has cells of the same data sets that were judged over other evaluation seeds: such
    cells do not compare."""
    datasets = {cell.key.dataset for cell in cells}
    for cell in store:
        if cell.key.dataset in datasets and cell.evaluation is not None:
            _require_seeds(store, cell, evaluation_seeds)


def _require_seeds(store: Store, cell: Cell, evaluation_seeds: int) -> None:
    assert cell.evaluation is not None
    judged = len(cell.evaluation["evaluation_seeds"])
    if judged != evaluation_seeds:
        raise InputError(
            f"{store.file(cell.key)}: was judged over {judged} evaluation seeds, not {evaluation_seeds}; use "
            f"--evaluation-seeds {judged}, or another --out"
        )


def made_otherwise(found: Cell, cell: GridCell) -> list[str]:
    """The settings by name in which a finished cell differs from those that its method has on the data set now."""
    if found.status != DONE or found.config is None or cell.key.kind != TRAINED:
        return []
    try:
        before = before_search(TrainConfig.model_validate(found.config), cell.config).model_dump(mode="json")
    except (ValueError, InputError):  # of another version
        before = found.config
    return [name for name, value in cell.config.model_dump(mode="json").items() if before.get(name) != value]


def _possible(request: Request, graph: Graph, by_name: tuple[str, ...]) -> tuple[str, ...]:
    kept = []
    for method in request.methods:
        try:
            if method in METHODS:
                method_config(graph, method, request.preset)
        except InputError as error:
            if method in by_name and not isinstance(error, TooLargeError):
                raise
            warnings.warn(f"{method} is left out: {error}", stacklevel=3)
            continue
        kept.append(method)
    return tuple(kept)


def _cells(graph: Graph, method: str, seed: int, width: int | None, request: Request) -> list[GridCell]:
    """The cell of a method, after those it needs."""
    settings = request.settings
    if width is not None:
        settings = merge(settings, {"encoder": {"hidden_dims": [HIDDEN, width]}})
    key = CellKey(graph.name, method, TRAINED, request.preset, 0, seed, settings)
    if method in METHODS:
        return [_resolved(graph, key, request)]
    if method in CONTROLS:
        seen = {name: settings[name] for name in _SEEN_BY_CONTROLS if name in settings}
        return [_resolved(graph, replace(key, kind=CONTROL, settings=seen), request)]
    parts = [_resolved(graph, replace(key, method=part), request) for part in concat_pca.PARTS]
    steps = max(part.key.steps for part in parts)
    for part in parts:
        settings = _as_resolved(settings, part.config.model_dump(mode="json"))
    key = replace(key, kind=CONTROL, steps=steps, settings=settings)
    return [*parts, _grid_cell(graph, key, parts[0].config, tuple(part.key for part in parts))]


def _resolved(graph: Graph, key: CellKey, request: Request) -> GridCell:
    if key.kind != TRAINED:
        # Its encoder is the one of the protocol, whichever method stands beside it.
        config, _ = method_config(graph, preset=key.preset, overrides={**key.settings, "seed": key.seed})
        return _grid_cell(graph, key, config)
    plain, _ = method_config(graph, key.method, key.preset)
    settings = _for_tasks(key.settings, plain)
    steps = {} if request.steps is None else {"steps": request.steps}
    config, _ = method_config(graph, key.method, key.preset, {**settings, **steps, "seed": key.seed})
    return _grid_cell(graph, replace(key, steps=config.steps, settings=settings), config)


def _for_tasks(settings: dict[str, Any], config: TrainConfig) -> dict[str, Any]:
    """Without the settings of tasks that the method has not: laid over it, they would give it those tasks."""
    tasks = settings.get("tasks")
    if not isinstance(tasks, dict):
        return settings
    for name in tasks:
        task_class(name)  # a name that no method knows is an error
    own = {name: value for name, value in tasks.items() if name in config.tasks}
    rest = {name: value for name, value in settings.items() if name != "tasks"}
    return {**rest, "tasks": own} if own else rest


def _file_cell(graph: Graph, file: EmbeddingsFile, request: Request) -> GridCell:
    matrix = read_embeddings(file.embeddings, graph)
    if file.link_embeddings is not None:
        read_embeddings(file.link_embeddings, graph)
    digests = file.digests()
    if digests["embeddings"] == digests["link_embeddings"]:
        raise InputError(
            f"--link-embeddings {file.name}={file.link_embeddings}: is its --embeddings, which saw the test links; "
            "leave it out, or name those of a model that was trained on the train pairs alone"
        )
    width = {"encoder": {"hidden_dims": [HIDDEN, matrix.shape[1]]}}
    config, _ = method_config(graph, preset=request.preset, overrides=width)
    return _grid_cell(graph, CellKey(graph.name, file.name, EMBEDDINGS, request.preset), config, file=file)


def _grid_cell(
    graph: Graph,
    key: CellKey,
    config: TrainConfig,
    needs: tuple[CellKey, ...] = (),
    file: EmbeddingsFile | None = None,
) -> GridCell:
    settings = _as_resolved(key.settings, config.model_dump(mode="json"))
    key = replace(key, settings=settings)
    memory = cell_memory(graph, config, key.kind == TRAINED)
    return GridCell(key, config, graph.num_nodes, graph.num_edges, memory, needs, file)


def _as_resolved(asked: Any, resolved: Any) -> Any:
    """Settings as they were read, 64 for 64.0, so that one setting has one key. InputError for one without a value,
    where that does not mean that it has none."""
    if isinstance(asked, dict) and isinstance(resolved, dict):
        for name, value in asked.items():
            if value is None and resolved.get(name) is not None:
                raise InputError(f"--set {name}=null: needs a value here; leave it out for that of the preset")
        return {name: _as_resolved(value, resolved.get(name, value)) for name, value in asked.items()}
    if isinstance(asked, list) and isinstance(resolved, list) and len(asked) == len(resolved):
        return [_as_resolved(*pair) for pair in zip(asked, resolved, strict=True)]
    return asked if isinstance(resolved, dict | list) else resolved


def _digest(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
