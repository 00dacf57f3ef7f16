"""``paretognn similar``: the nodes most like one."""

from typing import Annotated

import numpy as np
import pyarrow as pa
import typer

from paretognn.cli.answers import Id, Out, Run, answer, label_column, row_of
from paretognn.cli.as_json import AsJson
from paretognn.cli.out_file import check_out
from paretognn.downstream.nearest import nearest
from paretognn.sources import run_embeddings
from paretognn.training import RunFolder

NAME = "similar"
HELP = """List the nodes whose embeddings are nearest to a node's, by cosine; all are compared.

\b
Examples:
  paretognn similar runs/people --id 1042
  paretognn similar runs/people --id 1042 -k 100 --out like_1042.parquet
"""


def command(
    run: Run,
    name: Id,
    k: Annotated[int, typer.Option("-k", min=1, help="How many.")] = 10,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    check_out(out, run)
    graph, units = run_embeddings(RunFolder(run))
    found, cosines = nearest(units, np.array([row_of(graph, name)]), k)
    columns = {"id": graph.id_array().take(pa.array(found[0])), "cosine": pa.array(cosines[0])}
    answer(columns | label_column(graph, found[0]), out, as_json)
