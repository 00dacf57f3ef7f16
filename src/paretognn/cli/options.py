"""The options that name a graph, shared by every command that takes one."""

# No `from __future__ import annotations` here: typer reads the annotations at run time.
import csv
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from paretognn.cli.completion import dataset_names
from paretognn.cli.console import say
from paretognn.errors import InputError
from paretognn.sampling.sampler import OWN as OWN_SAMPLERS
from paretognn.sampling.sampler import SAMPLERS
from paretognn.sources import GraphSource


def _graph_options(
    dataset: Annotated[
        str | None,
        typer.Option(help="A public data set by name (see: paretognn datasets).", autocompletion=dataset_names),
    ] = None,
    data_root: Annotated[
        Path | None,
        typer.Option(help="Folder of the public data sets; default $PARETOGNN_DATA, then a cache folder."),
    ] = None,
    nodes: Annotated[
        Path | None,
        typer.Option(help="Node table: CSV, TSV (also .gz) or Parquet."),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(help="Edge table; alone, the graph has no features."),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(help="A graph in one .npz file (adj_*, attr_*, labels)."),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(help="Node id; default 'id' or 'node_id', else the first column."),
    ] = None,
    source_column: Annotated[
        str | None,
        typer.Option(help="Edge source; default 'source' or 'src', else the first."),
    ] = None,
    target_column: Annotated[
        str | None,
        typer.Option(help="Edge target; default 'target' or 'dst', else the second."),
    ] = None,
    weight_column: Annotated[
        str | None,
        typer.Option(help="Edge weight; default 'weight' where there is one."),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(help="Label; default 'label' where there is one. Never seen in training."),
    ] = None,
    feature_columns: Annotated[
        str | None,
        typer.Option(help="Feature columns, comma-separated; default all others."),
    ] = None,
    drop_columns: Annotated[str | None, typer.Option(help="Columns to leave out, comma-separated.")] = None,
    categorical: Annotated[
        str | None,
        typer.Option(help="Columns to one-hot encode, comma-separated."),
    ] = None,
    add_missing_nodes: Annotated[
        bool,
        typer.Option(help="Add nodes that only edges name, with zero features."),
    ] = False,
    impute: Annotated[
        str | None,
        typer.Option(help="Fill missing features: zero or mean; default an error."),
    ] = None,
    header: Annotated[
        str,
        typer.Option(help="Whether CSV files have a header line: auto, yes or no."),
    ] = "auto",
) -> GraphSource:
    options: dict[str, Any] = {
        "id_column": id_column,
        "source_column": source_column,
        "target_column": target_column,
        "weight_column": weight_column,
        "label_column": label_column,
        "feature_columns": listed(feature_columns),
        "drop_columns": listed(drop_columns),
        "categorical": listed(categorical),
        "add_missing_nodes": add_missing_nodes,
        "impute": impute,
        "header": header if header != "auto" else None,
    }
    paths = {
        "data_root": data_root, "nodes": nodes, "edges": edges, "graph": graph,
    }  # fmt: skip
    return GraphSource(
        dataset=dataset,
        options={k: v for k, v in options.items() if v},
        **{k: None if v is None else str(v) for k, v in paths.items()},
    )


def listed(text: str | None) -> list[str]:
    """The parts of a comma-separated option; one with a comma of its own is in double quotes, as in CSV."""
    parts = next(csv.reader([text], skipinitialspace=True), []) if text else []
    return [part.strip() for part in parts if part.strip()]


def sampler_tree(sampler: str | None, budget: int | None) -> dict[str, Any]:
    """The settings of ``--sampler NAME --budget N``, empty where neither is given. InputError for one that lacks the
    other, or has no use for it."""
    if sampler is None and budget is not None:
        raise InputError("--budget goes with --sampler")
    if sampler is None:
        return {}
    if sampler not in SAMPLERS:
        raise InputError(f"--sampler: {SAMPLERS.unknown(sampler)}")
    if sampler in OWN_SAMPLERS and (budget is None) != (sampler == "full"):
        raise InputError(f"--sampler {sampler}: " + ("needs --budget N" if budget is None else "takes no --budget"))
    return {"sampler": {"name": sampler} if budget is None else {"name": sampler, "seeds": budget}}


def check_said_once(assigned: dict[str, Any], given: dict[str, Any]) -> None:
    """InputError where an option and --set say two things."""
    for name, value in given.items():
        if value is not None and name in assigned and assigned[name] != value:
            raise InputError(f"--{name} and --set {name}= say two things; leave one of them out")


def takes_graph(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the graph options; they arrive as one `GraphSource` in its parameter ``source``."""
    names = inspect.signature(_graph_options).parameters
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "source"]

    @functools.wraps(command)
    def wrapper(**arguments: Any) -> None:
        source = _graph_options(**{name: arguments.pop(name) for name in names})
        try:
            command(source=source, **arguments)
        except KeyboardInterrupt:
            # typer would leave without a word.
            say("interrupted")
            raise typer.Exit(130) from None

    ordered = sorted([*own, *names.values()], key=lambda p: p.default is not inspect.Parameter.empty)
    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in ordered]
    wrapper.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in keyword}
    return wrapper
