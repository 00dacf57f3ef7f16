"""``paretognn predict-links``: the nodes that one is most likely joined to, of those that it is not."""

from typing import Annotated

import pyarrow as pa
import typer

from paretognn.cli.answers import Id, Out, Run, answer, label_column, row_of
from paretognn.cli.as_json import AsJson
from paretognn.cli.out_file import check_out
from paretognn.downstream.recommendation import LinkRecommender
from paretognn.sources import run_embeddings
from paretognn.training import RunFolder

NAME = "predict-links"
HELP = """List the nodes that are no neighbours of a node, and look most like some.

A logistic regression on products of embeddings is fitted on the graph's edges and as many pairs without one; the
probability is that of an edge among such pairs, where half are edges. How good it is on edges that were not seen is the
link AUC of `paretognn evaluate`.

\b
Examples:
  paretognn predict-links runs/people --id 1042
  paretognn predict-links runs/people --id 1042 -k 50 --json
"""


def command(
    run: Run,
    name: Id,
    k: Annotated[int, typer.Option("-k", min=1, help="How many.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Draws the pairs without an edge.")] = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    check_out(out, run)
    graph, units = run_embeddings(RunFolder(run))
    node = row_of(graph, name)
    found, probabilities = LinkRecommender(units, graph, seed).partners(node, k)
    columns = {"id": graph.id_array().take(pa.array(found)), "probability": pa.array(probabilities)}
    answer(columns | label_column(graph, found), out, as_json)
