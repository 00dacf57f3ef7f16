"""``paretognn evaluate``: a run, or embeddings from anywhere, judged on the four tasks."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from paretognn.atomic import WriteError, atomic_write
from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.completion import device_names
from paretognn.cli.console import digests, reasons, say, score_table, warnings_said
from paretognn.cli.console import out as output
from paretognn.cli.device import choose_device
from paretognn.cli.live import Terminal
from paretognn.cli.options import takes_graph
from paretognn.cli.out_file import check_out
from paretognn.downstream import ALL, load_link_split
from paretognn.errors import InputError
from paretognn.graph.region import REGION
from paretognn.methods import method_config
from paretognn.methods.judge import judge, judge_run
from paretognn.methods.judged_region import SMALLEST, judged_region
from paretognn.private_peak import PrivatePeak
from paretognn.sources import GraphSource, run_graph
from paretognn.training import Interrupted, RunFolder, read_embeddings

NAME = "evaluate"
HELP = """Judge frozen embeddings: node classification, clustering, link prediction, partition prediction.

Link prediction needs a second model that never saw the test links; it is trained on first need and kept in
RUN/link, that of a region in a folder of its own. Scores stand beside those of training-free controls.

\b
Examples:
  paretognn evaluate runs/cora
  paretognn evaluate runs/cora --tasks node_classification,partition_prediction --seeds 3
  paretognn evaluate --embeddings mine.npy --dataset cora --json
"""


@takes_graph
def command(
    source: GraphSource,
    run: Annotated[Path | None, typer.Argument(help="A run folder.")] = None,
    embeddings: Annotated[
        Path | None,
        typer.Option(help="Embeddings to judge instead: .parquet, .csv (joined by id) or .npy."),
    ] = None,
    tasks: Annotated[str | None, typer.Option(help=f"Comma-separated, of: {', '.join(ALL)}.")] = None,
    seeds: Annotated[int, typer.Option(help="Evaluation seeds: splits, probes, negatives.")] = 10,
    split: Annotated[
        str | None,
        typer.Option(help="random (10/10/80), public, or public:i; default random, public for the OGB data sets."),
    ] = None,
    link_split: Annotated[
        Path | None,
        typer.Option(
            help="With --embeddings: Parquet (source, target, set); their model must not have seen val and test."
        ),
    ] = None,
    controls: Annotated[bool, typer.Option(help="Score the training-free controls too.")] = True,
    region: Annotated[
        int | None,
        typer.Option(
            help="Judge a region of at most so many nodes; default all nodes, "
            f"{REGION:,} where the graph is too large to be read into memory.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSON file to write; default RUN/evaluation.json, without --tasks and --region.")
    ] = None,
    device: Annotated[
        str, typer.Option(help="auto, cpu or cuda, for the link model.", autocompletion=device_names)
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    if (run is None) == (embeddings is None):
        raise InputError("name a run folder, or --embeddings FILE with a graph")
    if region is not None and region < SMALLEST:
        raise InputError(f"--region must be at least {SMALLEST}, not {region}")
    if seeds < 1:
        raise InputError(f"--seeds must be at least 1, not {seeds}")
    chosen = tuple(t.strip() for t in tasks.split(",") if t.strip()) if tasks is not None else ALL
    check_out(out, run, [embeddings, link_split, *source.files], suffixes=None)
    if not chosen:
        raise InputError(f"--tasks names none; known: {', '.join(ALL)}")
    if run is not None:
        folder = RunFolder(run).require_finished()
        try:
            with PrivatePeak() as peak:
                result = judge_run(
                    folder, run_graph(folder, source), choose_device(device), tasks=chosen, seeds=seeds, split=split,
                    link_split=link_split, controls=controls, region=region, trackers=[Terminal("link model")], say=say,
                )  # fmt: skip
        except Interrupted as stop:
            say(f"interrupted: the link model is saved after step {stop.step}; the same command continues it")
            raise typer.Exit(130) from None
        name = str(result["run"]["method"])
        # Some tasks alone, or a region of a graph that could be judged whole, must not take a whole evaluation's place.
        whole = set(chosen) == set(ALL) and region is None
        path: Path | None = out or (folder.evaluation_file if whole else None)
    else:
        assert embeddings is not None
        with PrivatePeak() as peak, warnings_said():
            result = _judge_file(embeddings, source, chosen, seeds, split, link_split, controls, region)
        name, path = embeddings.stem, out
    say(f"{peak}")
    # A file that cannot be written does not keep scores from being shown, nor a reader that goes away the file.
    unwritten: WriteError | None = None
    if path is not None:
        try:
            with atomic_write(path) as aside:
                aside.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")
            say(f"wrote {path}")
        except WriteError as error:
            unwritten = error
    if as_json:
        print_json({**result, **peak.to_json()})
    else:
        _show(result, name, seeds)
    if unwritten is not None:
        raise unwritten


def _show(result: dict[str, Any], name: str, seeds: int) -> None:
    output.print(score_table(result, name))
    for line in [*reasons(result), *result["warnings"], *digests(result)]:
        output.print(line)
    seeds_line = f"percent, mean ± deviation over {seeds} evaluation seeds"
    if "run" in result:
        seeds_line += f"; 1 training seed ({result['run']['training_seeds'][0]}), {result['run']['steps']} steps"
    output.print(seeds_line)
    if "verdict" in result:
        output.print(result["verdict"])


def _judge_file(
    file: Path,
    source: GraphSource,
    tasks: tuple[str, ...],
    seeds: int,
    split: str | None,
    link_split: Path | None,
    controls: bool,
    region: int | None,
) -> dict[str, Any]:
    whole = source.load()
    judged = judged_region(whole, region)
    if judged.nodes is not None and link_split is not None:
        raise InputError(
            f"--link-split is of the whole graph, and a region is judged; name --region {whole.num_nodes} to judge "
            "all of it, in memory"
        )
    graph, matrix = judged.graph, judged.rows(read_embeddings(file, whole))
    link = None if link_split is None else (matrix, load_link_split(link_split, graph))
    width = {"encoder": {"hidden_dims": [512, matrix.shape[1]]}}
    config = method_config(graph, overrides=width)[0] if controls else None
    result = judge(matrix, graph, tasks=tasks, seeds=seeds, split=split, link=link, controls=config, say=say)
    return judged.told(result)
