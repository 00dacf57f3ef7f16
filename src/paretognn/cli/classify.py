"""``paretognn classify``: a few labels carried to every node."""

from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from paretognn.cli.answers import Out, Run, answer
from paretognn.cli.as_json import AsJson
from paretognn.cli.console import say
from paretognn.cli.out_file import check_out
from paretognn.downstream.labelling import label_nodes
from paretognn.errors import InputError
from paretognn.graph import TableOptions
from paretognn.graph.label_table import read_labels
from paretognn.sources import run_embeddings
from paretognn.training import RunFolder

NAME = "classify"
HELP = """Fit a logistic regression on the labels that you have, and predict every node's, with probabilities, by id.

The labels are those of a table (an id and a label a row, of some nodes), else the run's own. The accuracy that
is printed is cross-validated on the labelled nodes, at the strength of regularisation that is best there.

\b
Examples:
  paretognn classify runs/people --labels known.csv --out predicted.parquet
  paretognn classify runs/people --labels known.csv --label-column fraud --out predicted.csv
"""


def command(
    run: Run,
    labels: Annotated[Path | None, typer.Option(help="Table of ids and labels; default the run's own labels.")] = None,
    id_column: Annotated[str | None, typer.Option(help="Id; default 'id' or 'node_id', else the first column.")] = None,
    label_column: Annotated[str | None, typer.Option(help="Label; default 'label', else the only other one.")] = None,
    header: Annotated[str, typer.Option(help="Whether a CSV file has a header line: auto, yes or no.")] = "auto",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Draws the folds.")] = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    check_out(out, run, [labels])
    if labels is None and (id_column or label_column or header != "auto"):
        raise InputError("--id-column, --label-column and --header are for a table of labels; name it with --labels")
    options = TableOptions(id_column=id_column, label_column=label_column, header=header)
    graph, units = run_embeddings(RunFolder(run))
    ids = graph.id_array()
    if labels is not None:
        codes, names = read_labels(labels, ids, options)
    elif graph.labels is None:
        raise InputError(f"{run}: the run has no labels; name a table of them with --labels")
    else:
        codes, names = graph.labels, graph.label_names
    found = label_nodes(units, codes, seed)
    known = [names[code] if code >= 0 else "" for code in codes.tolist()]
    columns = {
        "id": ids,
        "predicted": pa.array([names[code] for code in found.codes.tolist()]),
        "known": pa.array(known),
        **{f"p({names[c]})": pa.array(found.probabilities[:, k]) for k, c in enumerate(found.classes.tolist())},
    }
    answer(columns, out, as_json)
    counted = f"{int((codes >= 0).sum()):,} labelled nodes of {len(found.classes)} classes"
    if found.accuracy is None:
        say(f"fitted on {counted}; a class has a single node, so that the accuracy cannot be estimated")
    else:
        say(f"fitted on {counted}; cross-validated accuracy {100 * found.accuracy:.1f}%")
