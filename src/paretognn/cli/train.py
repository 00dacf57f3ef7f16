"""``paretognn train``: a graph in, a run folder with frozen encoder and embeddings out."""

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from paretognn.atomic import writing
from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.completion import device_names, method_names, preset_names, sampler_names
from paretognn.cli.console import say, warnings_said
from paretognn.cli.device import choose_device
from paretognn.cli.live import Terminal
from paretognn.cli.options import check_said_once, sampler_tree, takes_graph
from paretognn.cluster import cluster_device, connected
from paretognn.errors import InputError
from paretognn.graph import Graph, format_summary, summarise
from paretognn.methods import DEFAULT, method_config, run_method, searched_in
from paretognn.methods.names import check_asked
from paretognn.methods.recipe import said_of
from paretognn.private_peak import PrivatePeak
from paretognn.sources import GraphSource, run_graph
from paretognn.training import (
    EachStep,
    Interrupted,
    RunFolder,
    Tracker,
    TrainConfig,
    TrainedEncoder,
    parse_assignments,
    read_config_file,
    write_embeddings,
)
from paretognn.training import train as train_encoder
from paretognn.training.cost import CostLog
from paretognn.training.memory import estimate, peak_memory, require_memory
from paretognn.training.ranks import ALONE, RankLost, Ranks, joined, launch, on_this_machine
from paretognn.training.tensorboard import TensorBoard
from paretognn.training.trainer import follow

NAME = "train"
HELP = """Train an encoder on a graph without labels, and write its embeddings.

\b
Examples:
  paretognn train --nodes people.csv --edges calls.csv --out runs/people
  paretognn train --dataset cora --preset quick --out runs/cora
  paretognn train --dataset cora --out runs/cora --tensorboard
  paretognn train --resume --out runs/people --steps 2000
  paretognn train --from-run runs/people --out runs/again --seed 1
  torchrun --standalone --nproc-per-node 2 -m paretognn train --dataset cora --out runs/cora
  paretognn train --graph /shared/store --ray-workers 8 --out /shared/runs/big
"""


@takes_graph
def command(
    source: GraphSource,
    out: Annotated[Path, typer.Option(help="The run folder to write.")],
    method: Annotated[
        str | None, typer.Option(help=f"Method by name; default {DEFAULT}.", autocompletion=method_names)
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="auto (default), quick or paper.", autocompletion=preset_names)
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Optimiser steps; default from the preset.")] = None,
    seed: Annotated[int | None, typer.Option(help="Training seed; default 0.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.", autocompletion=device_names)] = "auto",
    config: Annotated[Path | None, typer.Option(help="YAML file of settings.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="One setting, key=value; may be repeated.")] = None,
    sampler: Annotated[
        str | None,
        typer.Option(
            help="Sub-graphs for every task: full, k-hop, saint-node or saint-walk.", autocompletion=sampler_names
        ),
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Draws, seeds or walks of --sampler.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue the run in --out; a larger --steps extends it.")] = False,
    from_run: Annotated[
        Path | None,
        typer.Option(
            help="Repeat this run: its settings, seed and graph. --seed, --steps, --set and --sampler are laid over; a "
            "schedule stays as it was laid out."
        ),
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option(help="Write every step's numbers to OUT/tensorboard (pip install 'paretognn[tensorboard]').")
    ] = False,
    graph_copy: Annotated[bool, typer.Option(help="Keep a copy of the graph in the run folder.")] = True,
    split_features: Annotated[
        bool, typer.Option(help="Each of several processes holds a share of the features (import --parts).")
    ] = False,
    ray_workers: Annotated[
        int | None, typer.Option(help="Train by so many processes of a Ray cluster, a core or a GPU each.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    folder, costs = RunFolder(out), CostLog()
    trackers: list[Tracker] = [Terminal()]
    if tensorboard:
        trackers.append(TensorBoard(folder.path / "tensorboard"))  # before any work: the package may be missing
    with _processes(device, ray_workers) as (chosen, ranks):
        if not ranks.leads:
            _follow(folder, source, resume, from_run, chosen, ranks)
            return
        room = None if ray_workers else chosen
        if split_features and (ray_workers or ranks.count) == 1:
            raise InputError("--split-features is for several processes (torchrun, or --ray-workers)")
        given = {"method": method, "preset": preset, "seed": seed, **sampler_tree(sampler, budget)}
        if resume:
            fixed = {**given, "config": config, "set": set_ or None, "from-run": from_run}
            changed = [f"--{k}" for k, v in fixed.items() if v is not None]
            if changed:
                raise InputError(f"{changed[0]} cannot be changed with --resume; only --steps can be raised")
            with costs.stage("reading the graph"):
                graph, resolved = _reopen(folder, source, steps, room)
        else:
            overrides = read_config_file(config) if config is not None else {}
            check_said_once(parse_assignments(set_ or []), {**given, "steps": steps})
            overrides = parse_assignments(set_ or [], overrides)
            overrides |= {k: v for k, v in {**given, "steps": steps}.items() if v is not None}
            origin = None if from_run is None else RunFolder(from_run).require()
            if origin is not None:
                overrides = _laid_over(origin.config(), overrides, config)
            overrides.setdefault("method", DEFAULT)
            graph, resolved = _start(folder, source, overrides, graph_copy, room, origin, costs)
        if ray_workers is None:
            resolved = searched_in(folder, graph, resolved, chosen, say)
        loose = (
            "" if chosen == "cpu" else " (sums on it are not in a fixed order: runs repeat closely, not bit for bit)"
        )
        say(f"device: {chosen}{loose}")
        if ranks.count > 1:
            say(f"{ranks.count} processes, each with sub-graphs of its own")
        started = time.monotonic()
        made: list[int] = []
        trackers.append(EachStep(lambda record: made.append(record.step)))
        finished = folder.model_file.exists()
        by_cluster = f" --ray-workers {ray_workers}" if ray_workers else ""
        again = f"continue with: {launch(ranks)} train --resume{by_cluster} --out {shlex.quote(str(out))}"
        try:
            if ray_workers:
                from paretognn.cluster.training import train_on_cluster  # an extra

                say(f"{ray_workers} processes of the Ray cluster; their numbers are in {folder.metrics_file}")
                train_on_cluster(folder, source, ray_workers, chosen, tensorboard, split_features)
                trained, peak = TrainedEncoder.load(folder), None
            else:
                with warnings_said(), costs.stage("training and embedding", sessions=True), PrivatePeak() as peak:
                    trained, embeddings = train_encoder(
                        graph,
                        resolved,
                        chosen,
                        folder,
                        resume=True,
                        trackers=trackers,
                        ranks=ranks,
                        split_features=split_features,
                    )
                    write_embeddings(folder.embeddings_file, graph.id_array(), embeddings)
        except KeyboardInterrupt:
            if ray_workers:
                say(f"interrupted: {folder.checkpoints} has the newest checkpoint; {again}")
                raise typer.Exit(130) from None
            raise
        except Interrupted as stop:
            say(f"interrupted: saved after step {stop.step}; {again}")
            raise typer.Exit(130) from None
        except RankLost as lost:
            say(f"error: {lost}: saved after step {lost.step}; {again}")
            raise typer.Exit(1) from None
        finally:
            if made or ray_workers:
                costs.write(folder)
    if not made and not finished:  # all steps were made before, and what is embedded was not
        costs.write(folder)
    _drop_outdated(folder, trained.steps)
    if trained.steps < resolved.steps:
        say(f"the losses stopped falling: ended after {trained.steps} of {resolved.steps} steps")
    if resolved.assembles:
        how = "chosen without labels" if resolved.alternatives else "an embedding is"
        say(f"{how}: {said_of(trained.assembly.found())}")
    seconds = time.monotonic() - started
    memory = {} if peak is None else {"memory_bytes": peak_memory(), **peak.to_json()}  # that of other machines
    taken = f", peak memory {peak_memory() / 2**30:.1f} GiB" if graph.stored is None else f", {peak}"
    say(f"trained in {seconds:.0f} s{'' if peak is None else taken}")
    say(f"wrote {folder.embeddings_file}: {graph.num_nodes} rows, {trained.width} dimensions")
    say(f"next: {shlex.join(['paretognn', 'evaluate', str(out)])}")
    if as_json:
        shape = {"rows": graph.num_nodes, "dimensions": trained.width}
        chosen_by = {"method": resolved.method, "preset": resolved.preset, "seed": resolved.seed}
        print_json(
            {
                "run": str(out),
                **chosen_by,
                "steps": trained.steps,
                **shape,
                "seconds": seconds,
                **memory,
            }
        )


@contextmanager
def _processes(device: str, ray_workers: int | None) -> Iterator[tuple[str, Ranks]]:
    """The device, and this process among those of a run; with ``ray_workers`` they are the cluster's, and this one
    waits for them."""
    if ray_workers is None:
        chosen = choose_device(device)
        with joined(chosen) as ranks:
            yield chosen, ranks
        return
    if ray_workers < 1:
        raise InputError(f"--ray-workers must be at least 1, not {ray_workers}")
    with connected():
        yield cluster_device(device), ALONE


def _follow(
    folder: RunFolder, source: GraphSource, resume: bool, from_run: Path | None, device: str, ranks: Ranks
) -> None:
    """Train as the leader says, which alone writes and speaks."""
    run = folder if resume else None if from_run is None else RunFolder(from_run)
    graph = source.load() if run is None else run_graph(run, source)
    try:
        follow(graph, device, ranks)
    except Interrupted:
        raise typer.Exit(130) from None
    except RankLost:
        raise typer.Exit(1) from None


def _laid_over(origin: TrainConfig, overrides: dict[str, Any], config: Path | None) -> dict[str, Any]:
    """Those of a repeated run. InputError for what would make it another."""
    for name, given in {"config": config, **{k: overrides.get(k) for k in ("method", "preset")}}.items():
        if given is not None:
            raise InputError(f"--{name} and --from-run cannot be combined: a run is repeated with its own {name}")
    return {
        "method": run_method(origin),
        "preset": origin.preset,
        "seed": origin.seed,
        "steps": origin.steps,
        **overrides,
    }


def _drop_outdated(folder: RunFolder, steps: int) -> None:
    """Scores of an earlier, shorter run are no longer those of these embeddings."""
    with suppress(InputError):
        if folder.read_json(folder.evaluation_file).get("run", {}).get("steps") != steps:
            folder.evaluation_file.unlink()


def _check_memory(graph: Graph, config: TrainConfig, device: str | None) -> None:
    """``device`` None: the memory is that of other machines."""
    memory = estimate(graph, config, device or "cpu")
    together = 1 if device == "cuda" else on_this_machine()  # each process has a GPU of its own
    say(f"estimated peak memory: {memory / 2**30:.1f} GiB" + (f" in each of {together}" if together > 1 else ""))
    if device is not None:
        require_memory(memory * together, device)


def _start(
    folder: RunFolder,
    source: GraphSource,
    overrides: dict[str, Any],
    graph_copy: bool,
    device: str | None,
    origin: RunFolder | None,
    costs: CostLog,
) -> tuple[Graph, TrainConfig]:
    """A new run, or with ``origin`` that one again."""
    if folder.exists():
        raise InputError(f"{folder.path}: already holds a run; continue it with --resume, or choose another --out")
    if folder.path.exists() and not folder.path.is_dir():
        raise InputError(f"{folder.path}: is a file; --out names a folder")
    if folder.occupied():
        raise InputError(f"{folder.path}: is not empty; choose another --out")
    check_asked(overrides)
    with costs.stage("reading the graph"):
        if origin is None:
            graph, place = source.load(), source.to_json()
        else:
            graph = run_graph(origin, source)
            place = source.to_json() if source.given else origin.read_json(origin.graph_json).get("source", {})
    summary = summarise(graph)
    for line in format_summary(summary):
        say(line)
    resolved, why = method_config(graph, overrides=overrides)
    say(f"method {resolved.method}, preset {resolved.preset}: " + (why if origin is None else f"as in {origin.path}"))
    _check_memory(graph, resolved, device)  # before anything is written: a refused run leaves no folder
    with writing(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
    with folder.held():
        if folder.exists():  # by another process, since this one looked
            raise InputError(f"{folder.path}: another process has started a run there; choose another --out")
        folder.save_graph(graph, {"summary": summary, "source": place}, graph_copy)
        folder.write_config(resolved)
    return graph, resolved


def _reopen(folder: RunFolder, source: GraphSource, steps: int | None, device: str | None) -> tuple[Graph, TrainConfig]:
    if not folder.exists() and not folder.occupied():
        raise InputError(
            f"{folder.path}: no such run folder, or one that was stopped before its run began; start it by the same "
            "command without --resume"
        )
    resolved = folder.require().config()
    if steps is not None:
        if steps < resolved.steps:
            raise InputError(
                f"--steps {steps}: the run has {resolved.steps} already; it can be extended, not shortened"
            )
        resolved = resolved.model_copy(update={"steps": steps})
    graph = run_graph(folder, source)
    _check_memory(graph, resolved, device)
    with folder.held():
        folder.write_config(resolved)
    return graph, resolved
