"""``paretognn train``: a graph in, a run folder with frozen encoder and embeddings out."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from paretognn.cli.console import say, training_progress, warnings_said
from paretognn.cli.device import choose_device
from paretognn.cli.options import sampler_tree, takes_graph
from paretognn.errors import InputError
from paretognn.graph import Graph, format_summary, summarise
from paretognn.methods import method_config, searched
from paretognn.sources import GraphSource, run_graph
from paretognn.training import (
    Interrupted,
    RunFolder,
    TrainConfig,
    parse_assignments,
    read_config_file,
    write_embeddings,
)
from paretognn.training import train as train_encoder
from paretognn.training.cost import CostLog
from paretognn.training.memory import estimate, peak_memory, require_memory

NAME = "train"
HELP = """Train an encoder on a graph without labels, and write its embeddings.

\b
Examples:
  paretognn train --nodes people.csv --edges calls.csv --out runs/people
  paretognn train --dataset cora --preset quick --out runs/cora
  paretognn train --resume --out runs/people --steps 2000
"""


@takes_graph
def command(
    source: GraphSource,
    out: Annotated[Path, typer.Option(help="The run folder to write.")],
    method: Annotated[str | None, typer.Option(help="Method by name; default paretognn.")] = None,
    preset: Annotated[str | None, typer.Option(help="auto (default), quick or paper.")] = None,
    steps: Annotated[int | None, typer.Option(help="Optimiser steps; default from the preset.")] = None,
    seed: Annotated[int | None, typer.Option(help="Training seed; default 0.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    config: Annotated[Path | None, typer.Option(help="YAML file of settings.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="One setting, key=value; may be repeated.")] = None,
    sampler: Annotated[
        str | None, typer.Option(help="Sub-graphs for every task: full, k-hop, saint-node or saint-walk.")
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Draws, seeds or walks of --sampler.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue the run in --out; a larger --steps extends it.")] = False,
    graph_copy: Annotated[bool, typer.Option(help="Keep a copy of the graph in the run folder.")] = True,
) -> None:
    folder, costs = RunFolder(out), CostLog()
    chosen = choose_device(device)
    given = {"method": method, "preset": preset, "seed": seed, **sampler_tree(sampler, budget)}
    if resume:
        changed = [f"--{k}" for k, v in {**given, "config": config, "set": set_ or None}.items() if v is not None]
        if changed:
            raise InputError(f"{changed[0]} cannot be changed with --resume; only --steps can be raised")
        with costs.stage("reading the graph"):
            graph, resolved = _reopen(folder, source, steps)
        _check_memory(graph, resolved, chosen)
    else:
        overrides = read_config_file(config) if config is not None else {}
        overrides = parse_assignments(set_ or [], overrides)
        overrides |= {k: v for k, v in {**given, "steps": steps}.items() if v is not None}
        graph, resolved = _start(folder, source, overrides, graph_copy, chosen, costs)
    say(
        f"device: {chosen}"
        + ("" if chosen == "cpu" else " (sums on it are not in a fixed order: runs repeat closely, not bit for bit)")
    )
    started = time.monotonic()
    try:
        with warnings_said(), training_progress(resolved.steps) as progress, costs.stage("training and embedding"):
            trained, embeddings = train_encoder(graph, resolved, chosen, folder, resume=True, progress=progress)
    except Interrupted as stop:
        say(f"interrupted: saved after step {stop.step}; continue with: paretognn train --resume --out {out}")
        raise typer.Exit(130) from None
    write_embeddings(folder.embeddings_file, graph.id_array(), embeddings)
    costs.write(folder)
    # Scores of an earlier, shorter run are no longer those of these embeddings.
    folder.evaluation_file.unlink(missing_ok=True)
    if trained.steps < resolved.steps:
        say(f"the losses stopped falling: ended after {trained.steps} of {resolved.steps} steps")
    say(f"trained in {time.monotonic() - started:.0f} s, peak memory {peak_memory() / 2**30:.1f} GiB")
    say(f"wrote {folder.embeddings_file}: {embeddings.shape[0]} rows, {embeddings.shape[1]} dimensions")
    say(f"next: paretognn evaluate {out}")


def _check_memory(graph: Graph, config: TrainConfig, device: str) -> None:
    memory = estimate(graph, config)
    say(f"estimated peak memory: {memory / 2**30:.1f} GiB")
    require_memory(memory, device)


def _start(
    folder: RunFolder,
    source: GraphSource,
    overrides: dict[str, Any],
    graph_copy: bool,
    device: str,
    costs: CostLog,
) -> tuple[Graph, TrainConfig]:
    if folder.exists():
        raise InputError(f"{folder.path}: already holds a run; continue it with --resume, or choose another --out")
    if folder.path.exists() and not folder.path.is_dir():
        raise InputError(f"{folder.path}: is a file; --out names a folder")
    if folder.occupied():
        raise InputError(f"{folder.path}: is not empty; choose another --out")
    with costs.stage("reading the graph"):
        graph = source.load()
    summary = summarise(graph)
    for line in format_summary(summary):
        say(line)
    resolved, why = method_config(graph, overrides=overrides)
    say(f"method {resolved.method}, preset {resolved.preset}: {why}")
    _check_memory(graph, resolved, device)  # before anything is written: a refused run leaves no folder
    resolved = searched(graph, resolved, device, say)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.save_graph(graph, {"summary": summary, "source": source.to_json()}, graph_copy)
        folder.write_config(resolved)
    except OSError as error:
        raise InputError(f"{folder.path}: cannot be written ({error.strerror})") from None
    return graph, resolved


def _reopen(folder: RunFolder, source: GraphSource, steps: int | None) -> tuple[Graph, TrainConfig]:
    resolved = folder.require().config()
    if steps is not None:
        if steps < resolved.steps:
            raise InputError(
                f"--steps {steps}: the run has {resolved.steps} already; it can be extended, not shortened"
            )
        resolved = resolved.model_copy(update={"steps": steps})
    graph = run_graph(folder, source)
    folder.write_config(resolved)
    return graph, resolved
