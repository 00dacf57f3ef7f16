"""``paretognn embed``: embeddings of the training graph, or of new nodes."""

from pathlib import Path
from typing import Annotated

import typer

from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.completion import device_names
from paretognn.cli.console import say
from paretognn.cli.device import choose_device
from paretognn.cli.options import takes_graph
from paretognn.cli.out_file import check_out
from paretognn.cluster import cluster_device, connected
from paretognn.errors import InputError
from paretognn.inductive import embed_new
from paretognn.private_peak import PrivatePeak
from paretognn.sources import GraphSource, run_graph
from paretognn.training import RunFolder, TrainedEncoder, write_embeddings
from paretognn.training.embeddings import SUFFIXES

NAME = "embed"
HELP = """Write embeddings by id: of the training graph, or, with a graph, of new nodes.

New nodes need the feature columns of training. Their edges may reach nodes of the training graph, which are
taken from the run's copy.

\b
Examples:
  paretognn embed runs/people --out embedded.csv
  paretognn embed runs/big --ray --out embeddings.parquet
  paretognn embed runs/people --nodes new.csv --edges new_calls.csv --out new.parquet
"""


@takes_graph
def command(
    source: GraphSource,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    out: Annotated[Path, typer.Option(help="File to write: .parquet, .csv or .npy.")],
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.", autocompletion=device_names)] = "auto",
    ray: Annotated[bool, typer.Option(help="Embed the run's graph on the machines of a Ray cluster.")] = False,
    as_json: AsJson = False,
) -> None:
    check_out(out, run, source.files, SUFFIXES)
    folder = RunFolder(run)
    if ray and source.given:
        raise InputError("--ray embeds the graph of the run, and takes no other")
    trained = TrainedEncoder.load(folder, "cpu" if ray else choose_device(device))
    with PrivatePeak() as peak:
        if ray:
            with connected():
                from paretognn.cluster.embedding import embed_on_cluster  # an extra

                graph = run_graph(folder, source)
                ids, embeddings = graph.id_array(), embed_on_cluster(folder, trained, graph, cluster_device(device))
        elif source.given:
            new = embed_new(trained, folder, source)
            ids, embeddings = new.ids, new.embeddings
            for warning in new.warnings:
                say(f"warning: {warning}")
        else:
            graph = run_graph(folder, source)
            ids, embeddings = graph.id_array(), trained.embed(graph)
        write_embeddings(out, ids, embeddings)
    say(f"wrote {out}: {embeddings.shape[0]} rows, {embeddings.shape[1]} dimensions; {peak}")
    if as_json:
        shape = {"rows": embeddings.shape[0], "dimensions": embeddings.shape[1]}
        print_json({"out": str(out), **shape, **peak.to_json()})
