"""A table of labels alone: an id and a label a row, of some of a graph's nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError
from paretognn.graph.ids import check_filled, check_unique, listed, one_array, positions
from paretognn.graph.labels import encode_labels
from paretognn.graph.open_table import open_table
from paretognn.graph.table_options import TableOptions


def read_labels(
    path: Path, ids: pa.StringArray, options: TableOptions | None = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """int64 [N] index into the names, -1 for nodes of ``ids`` [N] without a label; and the names.

    The columns are those that the options name, else ``id`` or ``node_id`` or the first, and ``label`` or the only
    other one.
    Raises InputError for blank, repeated and unknown ids, and where it is not clear which column has the labels.
    """
    options = options or TableOptions()
    usual = ("id", "node_id", "label", options.id_column, options.label_column)
    table = open_table(path, [frozenset({name}) for name in usual if name], header=options.header)
    key = table.find(options.id_column, "id", "node_id", flag="--id-column") or table.names[0]
    label = table.find(options.label_column, "label", flag="--label-column")
    others = [name for name in table.names if name != key]
    if label is None:
        if len(others) != 1:
            raise InputError(f"{path}: which column has the labels? Name it with --label-column")
        label = others[0]
    data = table.read(ids=[key], text=[label])
    check_filled(table, key, data[key])
    rows = one_array(data[key])
    check_unique(rows, str(path), table.number)
    place = positions(rows, ids)
    unknown = rows.filter(pa.array(place < 0))
    if len(unknown):
        raise InputError(f"{path}: {len(unknown)} id(s) are not in the run: {listed(unknown)}")
    codes, names = encode_labels(data[label])
    found = np.full(len(ids), -1, dtype=np.int64)
    found[place] = codes
    return found, names
