"""Features from the columns of a table: numbers as they are, categories as one-hot columns."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from paretognn.errors import InputError, flag_value
from paretognn.graph.build import SPARSE_BELOW
from paretognn.graph.graph import FeatureColumn, Features
from paretognn.graph.ids import listed, shown
from paretognn.graph.labels import natural_order
from paretognn.graph.numbers import NOT_FINITE, NotNumericError, to_numbers
from paretognn.graph.table import Table

SPARSE_FROM = 1 << 18
"""Cells [N x D] below which a sparse matrix saves too little to be worth it."""

MANY = 100
"""Values of a categorical column above which it is warned of, where they are also more than half of the rows."""

_Column = np.ndarray | tuple[np.ndarray, np.ndarray]
"""All N values; or the rows (int32) and values of those that are not zero."""


class FeatureReader:
    """Turns columns into a matrix [N, D], and collects warnings on the way.

    ids : [N] the nodes, for messages.
    impute : None (a gap is an error), ``zero`` or ``mean``.
    means : by column, what ``mean`` fills in; None for the mean of the column's own values.
    labelled : whether the table has a column of labels; where not, a column of text may be meant to be that.
    """

    def __init__(
        self,
        table: Table,
        ids: pa.StringArray,
        impute: str | None,
        means: Mapping[str, float] | None = None,
        labelled: bool = True,
    ) -> None:
        self._table, self._ids, self._impute, self._means, self._labelled = table, ids, impute, means, labelled
        self.warnings: list[str] = []

    def read(
        self,
        data: dict[str, pa.ChunkedArray],
        numeric: Sequence[str],
        categorical: Sequence[str],
        schema: Sequence[FeatureColumn] | None,
    ) -> tuple[Features, tuple[FeatureColumn, ...]]:
        """Features [N, D] float32, and what each column is.

        Without ``schema`` the columns are those of the table, in its order, and a category for every value
        found; with it, exactly its columns. Raises InputError for text and for values that are not finite.
        """
        if schema is None:
            one_hot = {name: self._categories(name, data[name]) for name in categorical}
            place = {name: k for k, name in enumerate(self._table.names)}
            order = sorted([*numeric, *categorical], key=place.__getitem__)
            schema = [FeatureColumn(name, category) for name in order for category in one_hot.get(name, [None])]
        self._check_text(data, numeric)
        columns: list[_Column] = []
        for source, group in groupby(schema, key=lambda column: column.source):
            wanted = [column.category for column in group]
            if wanted == [None]:
                columns.append(self._number(source, data[source]))
            else:
                columns += self._one_hot(source, data[source], [str(category) for category in wanted])
        return _assemble(columns, len(self._ids)), tuple(schema)

    def _categories(self, name: str, column: pa.ChunkedArray) -> list[str]:
        found = sorted((v for v in pc.unique(column).to_pylist() if v.strip()), key=natural_order)
        if len(found) > max(MANY, len(column) / 2):
            self.warnings.append(
                f"column '{name}' has {len(found):,} values in {len(column):,} rows, and gives as many features, which "
                f"hardly any two nodes share; --drop-columns {flag_value(name)} leaves it out"
            )
        return found

    def _check_text(self, data: dict[str, pa.ChunkedArray], numeric: Sequence[str]) -> None:
        faults: dict[str, NotNumericError] = {}
        for name in numeric:
            if not _stored_as_number(data[name]):
                try:
                    to_numbers(data[name])
                except NotNumericError as error:
                    faults[name] = error
        if not faults:
            return
        name, fault = next(iter(faults.items()))
        node = shown(self._ids[fault.row].as_py())
        one_hot = f", or --categorical {flag_value(name)} for one column a value" if _writable(data[name]) else ""
        labels = one_hot and not self._labelled
        label = f", or --label-column {shlex.quote(name)} where it is the label" if labels else ""
        others = list(faults)[1:]
        also = f"; {len(others)} more such column(s): {listed(pa.array(others))}" if others else ""
        raise InputError(
            f"{self._table.path}: column '{name}' is not numeric: {fault.what}, the first {fault.value!r} at "
            f"node '{node}'; use --drop-columns {flag_value(name)}{one_hot}{label}{also}"
        )

    def _number(self, name: str, column: pa.ChunkedArray) -> _Column:
        values = to_numbers(column)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            nodes = self._ids.take(pa.array(bad[:5]))
            said = f"column '{name}' has {len(bad)} value(s) that are blank, {NOT_FINITE}"
            if self._impute is None:
                raise InputError(
                    f"{self._table.path}: {said}, the first at node '{shown(nodes[0].as_py())}'; "
                    "use --impute zero or --impute mean to fill them"
                )
            fill = self._mean(name, values) if self._impute == "mean" else 0.0
            values = values.copy()
            values[bad] = fill
            self.warnings.append(f"{said}, filled with {fill:.6g} (nodes {listed(nodes)})")
        rows = np.flatnonzero(values)
        if len(rows) < SPARSE_BELOW * len(values):
            return rows.astype(np.int32), values[rows]
        return values

    def _mean(self, name: str, values: np.ndarray) -> float:
        if self._means is not None:
            return self._means[name]
        good = values[np.isfinite(values)]
        return float(good.mean(dtype=np.float64)) if len(good) else 0.0

    def _one_hot(self, name: str, column: pa.ChunkedArray, categories: list[str]) -> list[_Column]:
        codes = pc.index_in(column, value_set=pa.array(categories, pa.string()))
        blank = pc.equal(pc.utf8_trim_whitespace(column), "")
        blanks = pc.sum(blank).as_py()
        if blanks:
            self.warnings.append(f"column '{name}' is blank {blanks} time(s): zeros")
        unseen = pc.and_(pc.is_null(codes), pc.invert(blank))
        count = pc.sum(unseen).as_py()
        if count:
            values = pc.unique(column.filter(unseen))
            self.warnings.append(
                f"column '{name}' has {count} value(s) that the training graph does not "
                f"have ({listed(values)}); they give zeros"
            )
        found = codes.fill_null(-1).to_numpy()
        order = np.argsort(found, kind="stable").astype(np.int32)
        ends = np.searchsorted(found[order], np.arange(len(categories) + 1))
        return [(order[start:end], np.ones(end - start, dtype=np.float32)) for start, end in pairwise(ends)]


def _writable(column: pa.ChunkedArray) -> bool:
    """Whether its values can be written as text, and so be categories or labels."""
    try:
        column.slice(0, 1).cast(pa.string())
    except pa.ArrowException:
        return False
    return True


def _stored_as_number(column: pa.ChunkedArray) -> bool:
    kind = column.type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _assemble(columns: list[_Column], rows: int) -> Features:
    filled = sum(len(c[0]) if isinstance(c, tuple) else rows for c in columns)
    cells = rows * len(columns)
    if cells >= SPARSE_FROM and filled < SPARSE_BELOW * cells:
        parts = [c if isinstance(c, tuple) else (np.arange(rows, dtype=np.int32), c) for c in columns]
        indptr = np.cumsum([0, *(len(index) for index, _ in parts)])
        indices = np.concatenate([index for index, _ in parts])
        values = np.concatenate([value for _, value in parts])
        matrix = sp.csc_array((values, indices, indptr), shape=(rows, len(columns))).tocsr()
        matrix.eliminate_zeros()
        return matrix
    dense = np.zeros((rows, len(columns)), dtype=np.float32)
    for k, column in enumerate(columns):
        if isinstance(column, tuple):
            dense[column[0], k] = column[1]
        else:
            dense[:, k] = column
    return dense
