"""Node ids: text exactly as it was written, none blank, none twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paretognn.errors import InputError
from paretognn.graph.table import Table


def check_filled(table: Table, column: str, ids: pa.ChunkedArray) -> None:
    """Raise InputError for the first blank id, naming its place."""
    _check_filled(ids, f"{table.path}: column '{column}'", table.place)


def _check_filled(ids: pa.ChunkedArray | pa.StringArray, where: str, place: Callable[[int], str]) -> None:
    blank = pc.equal(pc.utf8_trim_whitespace(ids), "")
    count = pc.sum(blank).as_py()
    if count:
        more = f" ({count} blank in all)" if count > 1 else ""
        raise InputError(f"{where} is blank in {place(pc.index(blank, True).as_py())}{more}")


def check_ids(ids: pa.StringArray, where: str) -> None:
    """Raise InputError for ids that do not come from a table, where one is blank or comes twice; rows count from 1."""
    _check_filled(ids, f"{where}: an id", lambda row: f"row {row + 1}")
    check_unique(ids, where, lambda row: row + 1)


def check_unique(ids: pa.StringArray, where: str, number: Callable[[int], int]) -> None:
    """Raise InputError for the first id that comes twice; ``number`` turns a row into what people count."""
    codes = ids.dictionary_encode().indices.to_numpy()
    times = np.bincount(codes)
    if times.max(initial=0) < 2:
        return
    repeated = int((times > 1).sum())
    code = codes[np.flatnonzero(times[codes] > 1)[0]]
    first, second = np.flatnonzero(codes == code)[:2].tolist()
    more = f"; {repeated} ids are repeated" if repeated > 1 else ""
    rows = f"rows {number(first)} and {number(second)}"
    raise InputError(f"{where}: duplicate node id '{shown(ids[first].as_py())}' ({rows}){more}")


def as_ids(values: Iterable[object]) -> pa.StringArray:
    """The text of each value. Raises InputError for text that UTF-8 cannot hold, and for floats."""
    values = list(values)
    for value in values:
        if isinstance(value, float | np.floating):
            # What a data frame makes of a column of integers with a gap: 3 would become "3.0".
            raise InputError(f"ids must be text or integers, not the float {value}: is there a blank among them?")
    try:
        return pa.array([str(value) for value in values], pa.string())
    except UnicodeEncodeError as error:
        raise InputError(f"an id is not valid Unicode text: {error.object!r}") from None


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.StringArray:
    """A string column in one piece."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.string())


def first_appearance(source: pa.ChunkedArray, target: pa.ChunkedArray) -> pa.StringArray:
    """The distinct ends of edges, in the order of reading: row by row, source before target."""
    ends = pa.chunked_array([*source.chunks, *target.chunks], type=pa.string())
    encoded = one_array(ends).dictionary_encode()
    codes = encoded.indices.to_numpy().reshape(2, -1).T.ravel()
    first = np.empty(len(encoded.dictionary), dtype=np.int64)
    # Assigned backwards: of several positions for one id, the earliest is written last and stays.
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return encoded.dictionary.take(pa.array(np.argsort(first)))


def positions(wanted: pa.ChunkedArray | pa.Array, ids: pa.StringArray) -> np.ndarray:
    """int64: where each wanted id stands in ``ids``, -1 where it does not."""
    found = pc.index_in(wanted, value_set=ids).fill_null(-1)
    return np.asarray(found).astype(np.int64)


def shown(text: str) -> str:
    """``text`` as a message may hold it: on one line, without control characters."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def listed(ids: pa.Array | pa.ChunkedArray, limit: int = 5) -> str:
    """``a, b, c, ...``: the first few of them."""
    return ", ".join(map(shown, ids[:limit].to_pylist())) + (", ..." if len(ids) > limit else "")
