"""The table of nodes: an id, features, perhaps a label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError, suggest
from paretognn.graph.feature_columns import FeatureReader
from paretognn.graph.graph import FeatureColumn, Features
from paretognn.graph.ids import check_filled, check_unique, listed, one_array
from paretognn.graph.labels import encode_labels
from paretognn.graph.open_table import open_table
from paretognn.graph.table import Table
from paretognn.graph.table_options import TableOptions


@dataclass(frozen=True, eq=False)
class NodeRows:
    """One row a node, in table order; the fields are those of `Graph`. ``where`` is the file."""

    ids: pa.StringArray
    features: Features | None
    feature_columns: tuple[FeatureColumn, ...] | None
    labels: np.ndarray | None
    label_names: tuple[str, ...]
    where: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_node_rows(
    path: Path,
    options: TableOptions,
    schema: Sequence[FeatureColumn] | None = None,
    means: Mapping[str, float] | None = None,
) -> NodeRows:
    """Read the node table; with ``schema``, its features are exactly those columns, and gaps are filled with
    ``means`` by column where the options ask for means.

    Raises InputError for ids that are blank or come twice, and for features that are not finite numbers.
    """
    sources = dict.fromkeys(column.source for column in schema or ())
    table = open_node_table(path, options, sources)
    key = id_column(table, options)
    if key in sources:
        raise InputError(f"{path}: column '{key}' is a feature of the training graph, and cannot be the id")
    # The settings of the training tables serve new nodes as well, and those may come without labels.
    wanted_label = options.label_column if schema is None or options.label_column in table.names else None
    label = table.find(wanted_label, "label", flag="--label-column")
    label = None if label == key or label in sources else label
    notes = list(table.notes)
    left = [name for name in table.names if name not in (key, label)]
    if table.index_column in left:
        left.remove(str(table.index_column))
        notes.append(f"{path.name}: the unnamed column is taken as a row index and left out")
    if schema is None:
        numeric, categorical = choose_features(table, left, (key, label), options)
    else:
        _require_schema(table, sources)
        one_hot = {column.source for column in schema if column.category is not None}
        categorical = [name for name in sources if name in one_hot]
        numeric = [name for name in sources if name not in one_hot]
        extra = [name for name in left if name not in sources]
        if extra:
            unknown = listed(pa.array(extra))
            notes.append(f"{path.name}: not features of the training graph, ignored: {unknown}")

    text = list(dict.fromkeys([*categorical, *([label] if label else [])]))
    data = table.read(ids=[key], text=text, numbers=numeric)
    check_filled(table, key, data[key])
    ids = one_array(data[key])
    check_unique(ids, str(path), table.number)
    labels, label_names = encode_labels(data[label]) if label else (None, ())
    features, columns = None, None
    reader = FeatureReader(table, ids, options.impute, means, labelled=label is not None or schema is not None)
    if numeric or categorical:
        features, columns = reader.read(data, numeric, categorical, schema)
    return NodeRows(ids, features, columns, labels, label_names, str(path), tuple(notes), tuple(reader.warnings))


def open_node_table(path: Path, options: TableOptions, sources: Iterable[str] = (), most: int | None = None) -> Table:
    """The table, or what its first ``most`` bytes tell; ``sources`` are columns that it has for sure."""
    asked = (options.id_column, options.label_column, *options.feature_columns, *options.categorical)
    reserved = [frozenset({name}) for name in ("id", "node_id", *asked, *sources) if name]
    return open_table(path, reserved, header=options.header, most=most)


def id_column(table: Table, options: TableOptions) -> str:
    key = table.find(options.id_column, "id", "node_id", flag="--id-column")
    return key or table.index_column or table.row_names or table.names[0]


def choose_features(
    table: Table, left: list[str], taken: tuple[str | None, ...], options: TableOptions
) -> tuple[list[str], list[str]]:
    """Numeric and categorical feature columns, each in table order."""
    table.require(options.drop_columns, "--drop-columns")
    table.require(options.feature_columns, "--feature-columns")
    table.require(options.categorical, "--categorical")
    for name in (*options.feature_columns, *options.categorical):
        if name in taken:
            raise InputError(f"{table.path}: column '{name}' is the id or the label, and cannot be a feature")
        if name in options.drop_columns:
            raise InputError(f"{table.path}: column '{name}' is both dropped and asked for")
    wanted = set(options.feature_columns)
    chosen = [n for n in left if n in wanted] if wanted else left
    numeric = [n for n in chosen if n not in options.categorical and n not in options.drop_columns]
    return numeric, [n for n in table.names if n in options.categorical]


def _require_schema(table: Table, sources: dict[str, None]) -> None:
    missing = [name for name in sources if name not in table.names]
    if missing:
        more = f" ({len(missing)} are missing)" if len(missing) > 1 else ""
        raise InputError(
            f"{table.path} has no column '{missing[0]}', a feature of the training graph{more}"
            f"{suggest(missing[0], table.names)}"
        )
