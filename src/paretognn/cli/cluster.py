"""``paretognn cluster``: the nodes in groups."""

from typing import Annotated

import pyarrow as pa
import typer

from paretognn.cli.answers import Out, Run, answer, label_column
from paretognn.cli.as_json import AsJson
from paretognn.cli.out_file import check_out
from paretognn.downstream.clustering import k_means
from paretognn.errors import InputError
from paretognn.sources import run_embeddings
from paretognn.training import RunFolder

NAME = "cluster"
HELP = """Group the nodes by k-means on their embeddings: the cluster of every node, by id.

\b
Examples:
  paretognn cluster runs/people -k 8 --out groups.csv
"""


def command(
    run: Run,
    k: Annotated[int, typer.Option("-k", min=1, help="How many clusters.")],
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the starts.")] = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    check_out(out, run)
    graph, units = run_embeddings(RunFolder(run))
    if k > graph.num_nodes:
        raise InputError(f"-k {k}: the run has {graph.num_nodes} nodes, and a cluster needs one")
    columns = {"id": graph.id_array(), "cluster": pa.array(k_means(units, k, seed))}
    answer(columns | label_column(graph, slice(None)), out, as_json)
