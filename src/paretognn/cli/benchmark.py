"""``paretognn benchmark``: a grid of data sets x methods x training seeds, kept in a store that can be continued."""

# No `from __future__ import annotations` here: typer reads the annotations at run time.
import shlex
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.table import Table

from paretognn.atomic import writing
from paretognn.benchmark.cells import DONE, FAILED, OUT_OF_MEMORY, Cell, CellKey, Store
from paretognn.benchmark.grid import EmbeddingsFile, GridCell, Request, expand, made_otherwise, recorded
from paretognn.benchmark.making import drop_checkpoints
from paretognn.benchmark.place import Place, ThisMachine
from paretognn.benchmark.plan import BY_SIZE, PROBED, STORED, Estimate, Estimator, span, time_left
from paretognn.benchmark.running import Report, run_cells, to_do
from paretognn.benchmark.settings_text import flatten, readable
from paretognn.benchmark.shared import link_split_file
from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.completion import dataset_lists, device_names, method_lists, preset_names, sampler_names
from paretognn.cli.console import out as output
from paretognn.cli.console import say, warnings_said
from paretognn.cli.device import choose_device
from paretognn.cli.options import check_said_once, sampler_tree
from paretognn.cluster import cluster_device, connected
from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.training import TrainConfig, parse_assignments
from paretognn.training.memory import probe_seconds, require_memory

_LONGEST_NAME = 100
"""Of a row from a file: the name becomes part of a file's name."""
NAME = "benchmark"
HELP = """Judge methods side by side: data sets x methods x training seeds, each cell in a process of its own.

What is finished is kept in the store and never run again: after Ctrl-C, a crash or a kill the same command goes on
where it was. A cell that fails or runs out of memory is recorded as such, and the others go on. The exit code is 1
where none is finished for that, and where a cell was told to end from outside (SIGTERM); one that is killed counts as
out of memory.

A row from a file (--embeddings) has a link score only with --link-embeddings, from a model that saw the train pairs
of OUT/splits/DATASET-seed0.parquet alone; the first cell of a data set writes that split.

\b
Examples:
  paretognn benchmark --datasets cora,actor --methods all --steps 200 --plan --out store
  paretognn benchmark --datasets cora --methods paretognn,spectral --seeds 3 --out store
  paretognn benchmark --datasets cora,actor --methods all --ray --out /shared/store
  paretognn benchmark --datasets cora --embeddings mine=mine.npy --link-embeddings mine=link.npy --out store
"""


def command(
    datasets: Annotated[
        str, typer.Option(help="Public data sets by name, comma-separated.", autocompletion=dataset_lists)
    ],
    out: Annotated[Path, typer.Option(help="The store to write or go on with.")],
    methods: Annotated[
        str | None,
        typer.Option(help="Methods and controls by name, comma-separated; or all.", autocompletion=method_lists),
    ] = None,
    preset: Annotated[str, typer.Option(help="auto, quick or paper.", autocompletion=preset_names)] = "auto",
    steps: Annotated[int | None, typer.Option(help="Optimiser steps; default from the preset.")] = None,
    seeds: Annotated[int, typer.Option(help="Training seeds: 0, 1, ..")] = 1,
    evaluation_seeds: Annotated[int, typer.Option(help="Evaluation seeds: splits, probes, negatives.")] = 10,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="One setting, key=value, laid over every trained cell; may be repeated."),
    ] = None,
    sampler: Annotated[
        str | None,
        typer.Option(
            help="Sub-graphs for every task: full, k-hop, saint-node or saint-walk.", autocompletion=sampler_names
        ),
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Draws, seeds or walks of --sampler.")] = None,
    widths: Annotated[
        str | None,
        typer.Option(help="Widths of the embeddings, comma-separated: a cell for each; default the preset's."),
    ] = None,
    embeddings: Annotated[
        list[str] | None,
        typer.Option(help="A row from a file, NAME=FILE (.parquet, .csv or .npy); may be repeated."),
    ] = None,
    link_embeddings: Annotated[
        list[str] | None, typer.Option(help="For its link score, NAME=FILE; may be repeated.")
    ] = None,
    data_root: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; default $PARETOGNN_DATA, then a cache folder.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Cells at once, where memory allows; default half the cores, on cuda 1.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.", autocompletion=device_names)] = "auto",
    retry: Annotated[bool, typer.Option(help="Run cells again that failed or ran out of memory.")] = False,
    ray: Annotated[bool, typer.Option(help="Make the cells on the machines of a Ray cluster.")] = False,
    plan: Annotated[bool, typer.Option(help="Print cells, estimated time and memory, and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    store = _open(out)
    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs must be at least 1, not {jobs}")
    with connected() if ray else nullcontext():
        request = Request(
            datasets=_listed(datasets),
            methods=_listed(methods),
            preset=preset,
            steps=steps,
            seeds=seeds,
            evaluation_seeds=evaluation_seeds,
            settings=_settings_of(set_ or [], sampler_tree(sampler, budget)),
            widths=_numbers("--widths", widths),
            files=_files(embeddings, link_embeddings),
            data_root=None if data_root is None else str(data_root.resolve()),
            device=cluster_device(device) if ray else choose_device(device),
        )
        place = (_cluster if ray else ThisMachine.of)(request.device, jobs)
        try:
            with warnings_said():
                (_print_plan if plan else _run)(store, request, place, retry, as_json)
        except KeyboardInterrupt:
            if plan:
                say("interrupted")
            else:
                say(f"interrupted: finished cells and checkpoints are kept in {out}; go on with: {_same_command()}")
            raise typer.Exit(130) from None


def _settings_of(assigned: list[str], sampler: dict[str, Any]) -> dict[str, Any]:
    settings = parse_assignments(assigned)
    check_said_once(settings, sampler)
    return settings | sampler


def _cluster(device: str, jobs: int | None) -> Place:
    from paretognn.cluster.cells import Cluster  # an extra

    return Cluster.of(device, jobs)


def _run(store: Store, request: Request, place: Place, retry: bool, as_json: bool) -> None:
    cells = [cell for _, own in expand(request) for cell in own]
    left = to_do(cells, store, request, retry)
    with writing(store.path):
        store.cells.mkdir(parents=True, exist_ok=True)
    for cell in cells:
        found = recorded(store, cell, request.evaluation_seeds)
        if found is not None and found.status == DONE:
            drop_checkpoints(store, cell.key)  # left by a process that was killed between the cell and this
            if other := made_otherwise(found, cell):
                say(
                    f"{store.file(cell.key)}: was made with settings of {', '.join(other)} that '{cell.key.method}' no "
                    "longer has; remove it to have it made again"
                )
    say(f"{len(cells)} cells, {len(cells) - len(left)} of them recorded in {store.path}; {place.jobs} at once")
    for cell in left:
        if cell.file is not None and cell.file.link_embeddings is None:
            split = link_split_file(store, cell.key.dataset)
            say(f"{cell.key.method}: no link score without --link-embeddings; the split to train on will be {split}")
    progress = _Progress(store, left, request.evaluation_seeds, place.jobs)
    report = Report(progress.started, progress.finished, progress.waiting)
    unfinished = run_cells(left, store, request, place, report)
    statuses = _summary(store, cells, unfinished, request)
    if as_json:
        print_json([_content(cell, recorded(store, cell, request.evaluation_seeds)) for cell in cells])
    if unfinished or (statuses and DONE not in statuses):
        raise typer.Exit(1)


def _content(cell: GridCell, found: Cell | None) -> dict[str, Any]:
    """What ``--json`` says of a cell."""
    scores = None
    if found is not None and found.evaluation is not None:
        means = {task: score["mean"] for task, score in found.evaluation["tasks"].items()}
        scores = {**means, "average": found.evaluation["average"]}
    return {**asdict(cell.key), "status": None if found is None else found.status, "scores": scores}


_TITLES = {
    "node_classification": "nodes",
    "node_clustering": "clusters",
    "link_prediction": "links",
    "partition_prediction": "partition",
}


class _Progress:
    """A line for every cell that starts or ends."""

    def __init__(self, store: Store, left: list[GridCell], evaluation_seeds: int, jobs: int) -> None:
        self.total, self.jobs, self.ended = len(left), jobs, 0
        self.pending = {cell.key.name: cell for cell in left}
        self.running: dict[str, tuple[GridCell, float]] = {}
        self.estimator = Estimator(store, evaluation_seeds, _threads(jobs))

    def started(self, cell: GridCell) -> None:
        self.running[cell.key.name] = self.pending.pop(cell.key.name, cell), time.monotonic()
        say(f"started   {_label(cell)}")

    def finished(self, cell: GridCell, made: Cell) -> None:
        self.pending.pop(cell.key.name, None)
        _, since = self.running.pop(cell.key.name, (cell, None))
        took = "by another process" if since is None else f"in {_duration(time.monotonic() - since)}"
        self.ended += 1
        self.estimator.add(made)
        left = time_left(
            self.estimator, [running for running, _ in self.running.values()], self.pending.values(), self.jobs
        )
        rest = f", about {_duration(left)} left" if left else ""
        say(f"{_outcome(made)} {_label(cell)} {took} [{self.ended}/{self.total}{rest}]: {_scores(made)}")

    def waiting(self, cells: list[GridCell]) -> None:
        say(f"waiting for {len(cells)} cell(s) that other processes are at")


def _outcome(made: Cell) -> str:
    return {DONE: "finished ", FAILED: "failed   ", OUT_OF_MEMORY: "no memory"}[made.status]


def _scores(made: Cell) -> str:
    if made.evaluation is None:
        return str(made.error)
    tasks, average = made.evaluation["tasks"], made.evaluation["average"]
    shown = [f"{title} {_percent(tasks[task]['mean'])}" for task, title in _TITLES.items()]
    return f"{', '.join(shown)}, average {_percent(average)}"


def _percent(score: float | None) -> str:
    return "-" if score is None else f"{100 * score:.1f}"


def _summary(store: Store, cells: list[GridCell], unfinished: list[GridCell], request: Request) -> list[str]:
    """The statuses of what is recorded."""
    found = [recorded(store, cell, request.evaluation_seeds) for cell in cells]
    statuses = [made.status for made in found if made is not None]
    parts = [f"{statuses.count(DONE)} of {len(cells)} cells finished"]
    for status, words in ((FAILED, "failed"), (OUT_OF_MEMORY, "out of memory")):
        if status in statuses:
            parts.append(f"{statuses.count(status)} {words}")
    if unfinished:
        parts.append(f"{len(unfinished)} stopped from outside")
    say(", ".join(parts))
    if unfinished:
        say(f"go on with: {_same_command()}")
    elif len(statuses) > statuses.count(DONE):
        say("those that failed or ran out of memory are run again with --retry")
    if DONE in statuses:
        say(f"next: {shlex.join(['paretognn', 'tables', str(store.path)])}")
    return statuses


def _print_plan(store: Store, request: Request, place: Place, retry: bool, as_json: bool) -> None:
    estimator = Estimator(store, request.evaluation_seeds, _threads(place.jobs))
    rows: list[list[str]] = []
    content: list[dict[str, Any]] = []
    estimates: list[Estimate] = []
    for graph, cells in expand(request):
        left = {cell.key.name for cell in to_do(cells, store, request, retry)}
        for cell in cells:
            found = recorded(store, cell, request.evaluation_seeds)
            key, estimate, state = cell.key, None, "to run"
            if cell.key.name in left:
                estimate = estimator.estimate(cell, partial(_probe, graph, cell, request.device))
                estimates.append(estimate)
            if found is not None:
                state = found.status if estimate is None else f"{found.status}, to retry"
                if made_otherwise(found, cell):
                    state += " (other settings)"
            start = [key.dataset, key.method, _settings(key), str(key.seed), str(key.steps or "-"), state]
            rows.append([*start, *_estimated(estimate)])
            content.append({**_content(cell, found), "estimate": None if estimate is None else asdict(estimate)})
    if as_json:
        print_json(content)
        return
    output.print(_plan_table(rows))
    known = [estimate.seconds for estimate in estimates if estimate.seconds is not None]
    line = f"{len(rows)} cells, {len(estimates)} to run"
    if estimates:
        line += f": about {_duration(span(known, place.jobs))} with {place.jobs} at once"
        line += f", at most {max(estimate.memory for estimate in estimates) / 2**30:.1f} GiB a cell"
    unknown = len(estimates) - len(known)
    output.print(line + (f"; {unknown} without an estimate, which are not counted" if unknown else ""))
    output.print(
        f"time rests on: finished cells of the same data set and method ({STORED}), two steps measured now ({PROBED}), "
        f"or a formula ({BY_SIZE}); judging on finished cells of the data set, or its size",
    )


def _probe(graph: Graph, cell: GridCell, device: str, config: TrainConfig) -> float:
    require_memory(cell.memory, device)
    say(f"measuring two steps: {_label(cell)}")
    return probe_seconds(graph, config, device)


def _estimated(estimate: Estimate | None) -> list[str]:
    if estimate is None:
        return ["-", "-", ""]
    seconds = "?" if estimate.seconds is None else _duration(estimate.seconds)
    return [seconds, f"{estimate.memory / 2**30:.1f} GiB", estimate.rests_on]


def _plan_table(rows: list[list[str]]) -> Table:
    names = ("data set", "method", "settings", "seed", "steps", "state", "time", "memory", "rests on")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for j, name in enumerate(names):
        cells = [row[j] for row in rows]
        if not any(cells):
            continue
        number = name in ("seed", "steps", "time", "memory")
        # In a narrow terminal settings give way, never a number.
        least = None if name == "settings" else max(map(len, (name, *cells)))
        table.add_column(name, justify="right" if number else "left", no_wrap=name != "settings", min_width=least)
    for row in rows:
        table.add_row(*(cell for j, cell in enumerate(row) if any(other[j] for other in rows)))
    return table


def _threads(jobs: int) -> int:
    return max(1, torch.get_num_threads() // jobs)


def _label(cell: GridCell) -> str:
    key = cell.key
    parts = [key.dataset, key.method, f"seed {key.seed}"]
    if key.steps:
        parts.append(f"{key.steps} steps")
    if key.settings:
        parts.append(_settings(key))
    return " ".join(parts)


def _settings(key: CellKey) -> str:
    return " ".join(f"{path}={readable(value)}" for path, value in flatten(key.settings))


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _open(path: Path) -> Store:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file; --out names a folder")
    store = Store(path)
    if path.exists() and any(path.iterdir()) and not store.cells.is_dir():
        raise InputError(f"{path}: is not empty and holds no benchmark; choose another --out")
    return store


def _files(embeddings: list[str] | None, link_embeddings: list[str] | None) -> tuple[EmbeddingsFile, ...]:
    files = [_named("--embeddings", text) for text in embeddings or []]
    links = [_named("--link-embeddings", text) for text in link_embeddings or []]
    for name, _ in links:
        if name not in dict(files):
            raise InputError(f"--link-embeddings {name}: there is no --embeddings {name}=FILE beside it")
    link = dict(links)
    if len(link) < len(links):
        raise InputError("--link-embeddings: one NAME is given twice")
    return tuple(EmbeddingsFile(name, path, link.get(name)) for name, path in files)


def _named(option: str, text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise InputError(f"{option} {text}: expected NAME=FILE")
    try:
        long = len(name.strip().encode()) > _LONGEST_NAME
    except UnicodeEncodeError:
        raise InputError(f"{option} {name!a}: the name is not UTF-8 text; choose another") from None
    if long:
        raise InputError(f"{option} {name[:20]}..: the name is longer than {_LONGEST_NAME} bytes; choose another")
    return name.strip(), Path(path.strip()).expanduser().absolute()


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _numbers(option: str, text: str | None) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in _listed(text))
    except ValueError:
        numbers = ()
    if text is not None and not numbers:
        raise InputError(f"{option} {text}: expected whole numbers, comma-separated")
    return numbers


def _same_command() -> str:
    return shlex.join(["paretognn", *sys.argv[1:]])
