"""Tables larger than memory become a graph on disk (`paretognn.graph.mapped`).

DuckDB reads, joins and sorts, with a bound on its memory and the disk beyond it; what it streams is written in order.
Direction, repeats, self-loops and weights are settled as `paretognn.graph.build` does.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paretognn.atomic import atomic_write, writing
from paretognn.errors import InputError, suggest
from paretognn.graph.graph import Counts
from paretognn.graph.ids import listed
from paretognn.graph.labels import encode_labels
from paretognn.graph.mapped import FACTS, VERSION, Part, is_store, store_digest
from paretognn.graph.summary import hub_share
from paretognn.graph.table_options import TableOptions

Say = Callable[[str], None]
ROWS = 1 << 16
"""Rows of a batch."""
_MOST = 1 << 31
"""Nodes from which on a target does not fit into 32 bits, nor a pair and its direction into 63."""
_TABLES = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
_WHOLE = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT",
)  # fmt: skip
_NUMBERS = (*_WHOLE, "FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL")
_IDS = (*_WHOLE, "VARCHAR")


def import_tables(
    nodes: Path, edges: Path, out: Path, options: TableOptions, memory: int = 2 << 30, say: Say = lambda line: None
) -> dict[str, Any]:
    """Write the store ``out`` from a node table and an edge table, each a file or a folder of such (Parquet, CSV).

    memory : bytes that DuckDB may take; what does not fit goes to the disk beside ``out``. A stage that an earlier call
    with the same tables has finished is not made again. Returns the facts of the store, with its ``summary``.

    InputError for what is wrong with the tables, or an ``out`` that is there already.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        what = "already holds an imported graph" if is_store(out) else "is there already, and no folder for a new store"
        raise InputError(f"{out}: {what}; choose another --out")
    for name in ("categorical", "add_missing_nodes", "impute"):
        if getattr(options, name):
            raise InputError(
                f"--{name.replace('_', '-')} is for graphs in memory: an import takes numeric columns without gaps, "
                "and edges between nodes of the table"
            )
    node_files, edge_files = _files(nodes), _files(edges)
    request = {"version": VERSION, "options": asdict(options), "files": _seen([*node_files, *edge_files])}
    staging = out.parent / f"{out.name}.importing"
    with writing(staging):
        staging.mkdir(parents=True, exist_ok=True)
    stages = _Stages(staging, json.loads(json.dumps(request)))
    with _duckdb(staging, memory) as database:
        table = _Nodes(database, node_files, nodes, options)
        done = stages.done("nodes")
        if done is None:
            say("reading nodes")
            done = stages.finish("nodes", table.write(staging, options))
        else:
            say("nodes: done before")
        linked = stages.done("edges")
        if linked is None:
            say("joining and sorting edges")
            linked = stages.finish("edges", _write_edges(database, edge_files, edges, table, options, staging, done))
    parts = {name: Part(**part) for name, part in {**done["parts"], **linked["parts"]}.items()}
    facts = {
        "version": VERSION,
        "byteorder": sys.byteorder,
        "name": (nodes.name.split(".")[0] or "graph"),
        "digest": store_digest(parts),
        "feature_columns": None if not done["features"] else [[name, None] for name in done["features"]],
        "label_names": done["label_names"],
        "counts": linked["counts"],
        "warnings": linked["warnings"],
        "parts": {name: asdict(part) for name, part in parts.items()},
    }
    facts["summary"] = _summary(facts, done, linked, staging)
    with atomic_write(staging / FACTS) as aside:
        aside.write_text(json.dumps(facts, ensure_ascii=False, indent=1), encoding="utf-8")
    stages.file.unlink()
    with writing(out):
        if out.exists():
            out.rmdir()
        os.replace(staging, out)
    return facts


class _Stages:
    """What is finished in the staging folder, for the request that it was made for; another request begins anew."""

    def __init__(self, staging: Path, request: dict[str, Any]) -> None:
        self.file, self.request = staging / "progress.json", request
        self.found: dict[str, Any] = {}
        try:
            content = json.loads(self.file.read_text(encoding="utf-8"))
            if content["request"] == request:
                self.found = content["stages"]
        except (OSError, ValueError, KeyError, TypeError):
            pass
        if not self.found:
            shutil.rmtree(staging)
            staging.mkdir()

    def done(self, name: str) -> dict[str, Any] | None:
        return self.found.get(name)

    def finish(self, name: str, facts: dict[str, Any]) -> dict[str, Any]:
        self.found[name] = facts
        with atomic_write(self.file) as aside:
            aside.write_text(json.dumps({"request": self.request, "stages": self.found}), encoding="utf-8")
        return facts


@dataclass
class _Writer:
    """A raw array that is written from front to back, and its digest."""

    path: Path
    dtype: str
    columns: tuple[int, ...] = ()
    rows: int = 0
    _hash: Any = field(default_factory=hashlib.sha256)

    def __enter__(self) -> _Writer:
        self._file = self.path.open("wb")
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def write(self, rows: np.ndarray) -> None:
        content = np.ascontiguousarray(rows, dtype=self.dtype)
        self._file.write(content.data)
        self._hash.update(content.data)
        self.rows += len(rows)

    def part(self) -> dict[str, Any]:
        self._file.flush()
        os.fsync(self._file.fileno())
        return asdict(Part(self.path.name, self.dtype, (self.rows, *self.columns), self._hash.hexdigest()))


class _Nodes:
    """The node table: which column is what."""

    def __init__(self, database: Any, files: list[Path], where: Path, options: TableOptions) -> None:
        self.database, self.where = database, where
        self.scan = _scan(files, options.header)
        kinds = _columns(database, self.scan, where)
        names = list(kinds)
        self.key = _find(kinds, options.id_column, ("id", "node_id"), where, "--id-column") or names[0]
        self.label = _find(kinds, options.label_column, ("label",), where, "--label-column")
        if self.label == self.key:
            self.label = None
        for flag, asked in (("--feature-columns", options.feature_columns), ("--drop-columns", options.drop_columns)):
            for name in asked:
                _find(kinds, name, (), where, flag)
        left = [name for name in names if name not in (self.key, self.label, *options.drop_columns)]
        self.features = [name for name in left if name in options.feature_columns or not options.feature_columns]
        _require_kind(kinds, self.key, _IDS, where, "is no id: text and whole numbers are")
        for name in self.features:
            if _is_text(files):
                continue  # a CSV column is numeric where its values are
            _require_kind(
                kinds, name, _NUMBERS, where, "is not numeric; leave it out with --drop-columns, or encode it before"
            )

    def write(self, folder: Path, options: TableOptions) -> dict[str, Any]:
        """Ids, features and labels in the table's order; what is known of them."""
        label = "NULL" if self.label is None else f"CAST({_quoted(self.label)} AS VARCHAR)"
        numbers = "".join(f", TRY_CAST({_quoted(name)} AS FLOAT)" for name in self.features)
        ids: list[pa.Array] = []
        labels: list[pa.Array] = []
        columns = len(self.features)
        kind = _FeatureKind(columns)
        with _Writer(folder / "features.bin", "float32", (columns,)) as writer:
            key = f"CAST({_quoted(self.key)} AS VARCHAR)"
            for batch in _batches(self.database, f"SELECT {key}, {label}{numbers} FROM {self.scan}"):
                _require_filled(batch.column(0), f"{self.where}: the id column '{self.key}'", len(kind))
                ids.append(batch.column(0))
                labels.append(batch.column(1).cast(pa.string()))
                if columns:
                    rows = np.stack(
                        [batch.column(2 + j).to_numpy(zero_copy_only=False) for j in range(columns)], axis=1
                    )
                    self._require_finite(rows, batch.column(0), self.where)
                    writer.write(rows)
                    kind.add(rows)
                else:
                    kind.count += len(batch)
            parts = {"features": writer.part()} if columns else {}
        if not ids:
            raise InputError(f"{self.where}: has no rows")
        parts["ids"] = _write_ids(folder / "ids.arrow", pa.concat_arrays(ids))
        del ids
        codes, names = (None, ()) if self.label is None else encode_labels(pa.chunked_array(labels))
        if codes is not None:
            with _Writer(folder / "labels.bin", "int64") as writer:
                writer.write(codes)
                parts["labels"] = writer.part()
        known = None if codes is None else np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
        return {
            "parts": parts,
            "nodes": len(kind),
            "features": self.features,
            "kind": kind.facts(),
            "label_names": list(names),
            "class_sizes": known,
        }

    def _require_finite(self, rows: np.ndarray, ids: pa.Array, where: Path) -> None:
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            row, column = bad[0].tolist()
            raise InputError(
                f"{where}: column '{self.features[column]}' has no finite number for node '{ids[row].as_py()}'; leave "
                "the column out with --drop-columns, or mend it before"
            )


class _FeatureKind:
    """What features are like, from one pass over their rows."""

    def __init__(self, columns: int) -> None:
        self.count, self.filled, self.zero_rows, self.binary = 0, 0, 0, True
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)

    def __len__(self) -> int:
        return self.count

    def add(self, rows: np.ndarray) -> None:
        filled = np.count_nonzero(rows, axis=1)
        self.count += len(rows)
        self.filled += int(filled.sum())
        self.zero_rows += int((filled == 0).sum())
        self.binary = self.binary and bool(((rows == 0) | (rows == 1)).all())
        self.low, self.high = np.minimum(self.low, rows.min(axis=0)), np.maximum(self.high, rows.max(axis=0))

    def facts(self) -> dict[str, Any]:
        columns = len(self.low)
        if not columns:
            return {"count": 0, "kind": "none"}
        return {
            "count": columns,
            "kind": "binary" if self.binary else "numeric",
            "density": self.filled / max(1, self.count * columns),
            "stored": "dense",
            "constant_columns": int((self.low == self.high).sum()),
            "zero_rows": self.zero_rows,
        }


def _write_edges(
    database: Any,
    files: list[Path],
    where: Path,
    table: _Nodes,
    options: TableOptions,
    folder: Path,
    nodes: dict[str, Any],
) -> dict[str, Any]:
    scan = _scan(files, options.header)
    kinds = _columns(database, scan, where)
    names = list(kinds)
    source = _find(kinds, options.source_column, ("source", "src"), where, "--source-column") or names[0]
    target = _find(kinds, options.target_column, ("target", "dst"), where, "--target-column")
    if target is None:
        left = [name for name in names if name != source]
        if not left:
            raise InputError(f"{where}: needs two columns, the ends of an edge")
        target = left[0]
    weight = _find(kinds, options.weight_column, ("weight",), where, "--weight-column")
    for end in (source, target):
        _require_kind(kinds, end, _IDS, where, "is no end of an edge: text and whole numbers are")

    n = nodes["nodes"]
    if n >= _MOST:
        raise InputError(f"{table.where}: {n:,} nodes; a store has at most {_MOST - 1:,}")
    _require_unique(database, table)
    database.execute("CREATE TEMP TABLE ids (id VARCHAR, place BIGINT)")
    with pa.ipc.open_file(pa.memory_map(str(folder / "ids.arrow"))) as content:
        column = content.read_all()["id"]
    places = pa.table({"id": column, "place": np.arange(n)})
    database.register("places", places)
    database.execute("INSERT INTO ids SELECT * FROM places")
    database.unregister("places")
    ends = ", ".join(f"CAST({_quoted(name)} AS VARCHAR) AS {new}" for name, new in ((source, "s"), (target, "t")))
    number = "1.0" if weight is None else f"CAST(TRY_CAST({_quoted(weight)} AS FLOAT) AS DOUBLE)"
    database.execute(
        f"CREATE TEMP TABLE joined AS SELECT a.place AS s, b.place AS t, {'w' if weight else 'NULL::DOUBLE AS w'} "
        f"FROM (SELECT {ends}, {number} AS w FROM {scan}) e LEFT JOIN ids a ON e.s = a.id LEFT JOIN ids b ON e.t = b.id"
    )
    [(rows, lost, loops)] = database.execute(
        "SELECT count(*), count(*) FILTER (s IS NULL OR t IS NULL), count(*) FILTER (s = t) FROM joined"
    ).fetchall()
    if lost:
        found = database.execute(
            f"WITH ends AS (SELECT {ends} FROM {scan}), named AS (SELECT s AS id FROM ends UNION SELECT t FROM ends) "
            "SELECT id FROM named ANTI JOIN ids USING (id) ORDER BY id LIMIT 3"
        ).fetchall()
        shown = [each for (each,) in found if each is not None]
        what = f"ends that are not in {table.where.name}: {listed(pa.array(shown))}" if shown else "a blank end"
        raise InputError(f"{where}: {lost} row(s) have {what}")
    zero, bad = 0, 0
    if weight is not None:
        [(zero, bad)] = database.execute(
            "SELECT count(*) FILTER (w = 0 AND s <> t), count(*) FILTER (w IS NULL OR NOT isfinite(w) OR w < 0) "
            "FROM joined"
        ).fetchall()
    if bad:
        raise InputError(f"{where}: {bad} weight(s) in column '{weight}' are negative, blank, NaN or infinite")

    labels = None
    if "labels" in nodes["parts"]:
        labels = np.fromfile(folder / "labels.bin", np.int64)
    found = _Pairs(n, labels, weight is not None)
    # One number a direction of a row: the pair, and whether it is as it was given. Sorted, equal pairs are neighbours.
    kept = "s <> t" + (" AND w <> 0" if weight else "")
    order = (
        f"SELECT (s * {n} + t) * 2 AS k, w FROM joined WHERE {kept} UNION ALL "
        f"SELECT (t * {n} + s) * 2 + 1 AS k, w FROM joined WHERE {kept} ORDER BY k"
    )
    with _Writer(folder / "indices.bin", "int32") as indices, _Writer(folder / "weights.bin", "float32") as weights:
        for targets, values in found.stream(_batches(database, order)):
            indices.write(targets)
            if values is not None:
                weights.write(values)
        parts = {"indices": indices.part()}
        if weight is not None and not found.all_one:
            parts["weights"] = weights.part()
    if "weights" not in parts:
        (folder / "weights.bin").unlink()
    with _Writer(folder / "indptr.bin", "int64") as indptr:
        indptr.write(np.concatenate([[0], np.cumsum(found.degrees)]))
        parts["indptr"] = indptr.part()
    pairs = indices.rows // 2
    warnings = [f"{zero} edge rows have weight 0 and are not edges"] if zero else []
    if found.conflicting:
        warnings.append(f"{found.conflicting // 2} edge(s) were given different weights; their mean is used")
    if not pairs:
        warnings.append("the graph has no edges")
    counts = Counts(rows, loops, rows - loops - zero - pairs, found.one_way // 2)
    degrees = found.degrees
    return {
        "parts": parts,
        "counts": asdict(counts),
        "warnings": warnings,
        "edges": pairs,
        "weighted": "weights" in parts,
        "isolated_nodes": int((degrees == 0).sum()),
        "mean_degree": float(degrees.mean()),
        "median_degree": float(np.median(degrees)),
        "max_degree": int(degrees.max()),
        "hub_share": hub_share(degrees),
        "edge_homophily": found.alike / found.known if found.known else None,
        "edge_homophily_by_chance": found.by_chance(),
    }


class _Pairs:
    """Sorted directions of rows, streamed into the entries of a matrix: repeats become one, with the mean weight."""

    def __init__(self, n: int, labels: np.ndarray | None, weighted: bool) -> None:
        self.n, self.labels, self.weighted = n, labels, weighted
        self.degrees = np.zeros(n, dtype=np.int64)
        self.one_way = self.conflicting = self.alike = self.known = 0
        self.all_one = True
        self.ends = None if labels is None else np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int64)

    def stream(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Targets of entries in order, and their weights. The rows of the last pair wait for the next batch."""
        keys, weights = np.empty(0, np.int64), np.empty(0)
        for batch in batches:
            keys = np.concatenate([keys, batch.column(0).to_numpy()])
            if self.weighted:
                weights = np.concatenate([weights, batch.column(1).to_numpy(zero_copy_only=False)])
            whole = int(np.searchsorted(keys >> 1, keys[-1] >> 1))
            if whole:
                yield self._entries(keys[:whole], weights[:whole])
                keys, weights = keys[whole:], weights[whole:]
        if len(keys):
            yield self._entries(keys, weights)

    def _entries(self, keys: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        pair, turned = keys >> 1, keys & 1
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        times = np.diff(first, append=len(pair))
        source, target = np.divmod(pair[first], self.n)
        low = int(source[0])
        counts = np.bincount(source - low)
        self.degrees[low : low + len(counts)] += counts
        given = np.add.reduceat(turned, first)
        self.one_way += int(((given == 0) | (given == times)).sum())
        if self.labels is not None and self.ends is not None:
            a, b = self.labels[source], self.labels[target]
            both = (a >= 0) & (b >= 0)
            self.known += int(both.sum())
            self.alike += int((a[both] == b[both]).sum())
            self.ends += np.bincount(a[both], minlength=len(self.ends))
        if not self.weighted:
            return target, None
        mean = np.add.reduceat(weights, first) / times
        spread = np.abs(weights - np.repeat(mean, times)) > 1e-6 * np.maximum(np.repeat(mean, times), 1e-30)
        self.conflicting += int(np.logical_or.reduceat(spread, first).sum())
        self.all_one = self.all_one and bool((mean == 1).all())
        return target, mean

    def by_chance(self) -> float | None:
        """Edge homophily where each end is drawn anew from the ends of all edges."""
        if self.ends is None or not self.known:
            return None
        return float(((self.ends / self.ends.sum()) ** 2).sum())


def _summary(facts: dict[str, Any], nodes: dict[str, Any], edges: dict[str, Any], folder: Path) -> dict[str, Any]:
    """As `paretognn.graph.summarise`, but for the components, which would need the whole graph in memory."""
    n, sizes = nodes["nodes"], nodes["class_sizes"]
    pairs = n * (n - 1) // 2
    counts = facts["counts"]
    notes = []
    if counts["one_way"]:
        notes.append(
            f"{counts['one_way']:,} of {edges['edges']:,} pairs are given in one direction only; read as undirected"
        )
    labels = None
    if sizes is not None:
        labels = {
            "classes": len(sizes),
            "labelled": sum(sizes),
            "unlabelled": n - sum(sizes),
            "class_sizes": dict(zip(nodes["label_names"], sizes, strict=True)),
            "edge_homophily": edges["edge_homophily"],
            "edge_homophily_by_chance": edges["edge_homophily_by_chance"],
        }
    return {
        "name": facts["name"],
        "nodes": n,
        "edges": edges["edges"],
        "rows_read": counts["rows"],
        **{name: counts[name] for name in ("self_loops", "duplicates", "one_way")},
        **{name: edges[name] for name in ("weighted", "isolated_nodes")},
        "components": None,
        "largest_component": None,
        "density": edges["edges"] / pairs if pairs else 0.0,
        **{name: edges[name] for name in ("mean_degree", "median_degree", "hub_share", "max_degree")},
        "features": nodes["kind"],
        "labels": labels,
        "splits": 0,
        "notes": notes,
        "warnings": facts["warnings"],
    }


@contextmanager
def _duckdb(staging: Path, memory: int) -> Iterator[Any]:
    try:
        import duckdb
    except ImportError:
        raise InputError("an import needs DuckDB: pip install 'paretognn[import]'") from None
    spill = staging / "spill"
    shutil.rmtree(spill, ignore_errors=True)
    settings: dict[str, Any] = {
        "memory_limit": f"{memory >> 20}MiB",
        "temp_directory": str(spill),
        "preserve_insertion_order": "true",
    }
    database = duckdb.connect(config=settings)
    try:
        yield database
    except duckdb.Error as error:
        text = " ".join(str(error).split())
        if isinstance(error, duckdb.OutOfMemoryException):
            raise InputError(f"the import needs more than {memory >> 20} MiB for DuckDB: raise --memory") from None
        raise InputError(f"the tables cannot be read: {text[:300]}") from None
    finally:
        database.close()
        shutil.rmtree(spill, ignore_errors=True)


def _batches(database: Any, query: str) -> Iterator[pa.RecordBatch]:
    yield from database.sql(query).to_arrow_reader(ROWS)


def _files(path: Path) -> list[Path]:
    """The table itself, or those of a folder in the order of their names."""
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.name.lower().endswith(_TABLES) and file.is_file())
        if not found:
            raise InputError(f"{path}: holds no Parquet or CSV file")
        if len({_is_text([file]) for file in found}) > 1:
            raise InputError(f"{path}: holds both Parquet and CSV files; a table is one kind")
        return found
    if not path.is_file():
        raise InputError(f"{path}: no such file or folder")
    if not path.name.lower().endswith(_TABLES):
        raise InputError(f"{path}: the name must end in one of {', '.join(_TABLES)}")
    return [path]


def _is_text(files: list[Path]) -> bool:
    return not files[0].name.lower().endswith(".parquet")


def _seen(files: list[Path]) -> list[list[Any]]:
    return [[str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in files]


def _scan(files: list[Path], header: str) -> str:
    listed_files = "[" + ", ".join("'" + str(file).replace("'", "''") + "'" for file in files) + "]"
    if not _is_text(files):
        return f"read_parquet({listed_files})"
    titles = "" if header == "auto" else f", header = {'true' if header == 'yes' else 'false'}"
    return f"read_csv({listed_files}, all_varchar = true, nullstr = ''{titles})"


def _columns(database: Any, scan: str, where: Path) -> dict[str, str]:
    return {name: kind for name, kind, *_ in database.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()}


def _find(kinds: dict[str, str], asked: str | None, usual: tuple[str, ...], where: Path, flag: str) -> str | None:
    if asked is not None:
        if asked not in kinds:
            raise InputError(f"{where}: has no column '{asked}' ({flag}){suggest(asked, kinds)}")
        return asked
    return next((name for name in usual if name in kinds), None)


def _require_kind(kinds: dict[str, str], name: str, known: tuple[str, ...], where: Path, fault: str) -> None:
    if not kinds[name].startswith(known):
        raise InputError(f"{where}: column '{name}' ({kinds[name].lower()}) {fault}")


def _require_filled(column: pa.Array, what: str, before: int) -> None:
    if column.null_count:
        row = before + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0]) + 1
        raise InputError(f"{what} is blank in row {row}")


def _require_unique(database: Any, table: _Nodes) -> None:
    key = _quoted(table.key)
    found = database.execute(
        f"SELECT CAST({key} AS VARCHAR), count(*) FROM {table.scan} GROUP BY 1 HAVING count(*) > 1 LIMIT 1"
    ).fetchall()
    for text, times in found:
        raise InputError(f"{table.where}: id '{text}' comes {times} times; ids must be unique")


def _write_ids(path: Path, ids: pa.Array) -> dict[str, Any]:
    """One column in one piece, so that a mapped file is the array itself."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("id", pa.string())])) as writer:
        writer.write_batch(
            pa.record_batch({"id": ids}),
        )
    with path.open("rb") as content:
        return asdict(Part(path.name, "int8", (len(ids),), hashlib.file_digest(content, "sha256").hexdigest()))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
