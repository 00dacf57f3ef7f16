"""The node table: ids, features and labels, streamed to files in the table's order."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paretognn.errors import InputError
from paretognn.graph.importing.scan import IDS, NUMBERS, Scan, require_filled
from paretognn.graph.importing.staging import Writer
from paretognn.graph.labels import encode_labels
from paretognn.graph.mapped import Part
from paretognn.graph.node_table import choose_features, id_column
from paretognn.graph.table_options import TableOptions


class NodeTable:
    """Which column is what."""

    def __init__(self, scan: Scan, options: TableOptions) -> None:
        self.scan, head = scan, scan.head
        self.key = id_column(head, options)
        label = head.find(options.label_column, "label", flag="--label-column")
        self.label = None if label == self.key else label
        left = [name for name in head.names if name not in (self.key, self.label, head.index_column)]
        self.features, _ = choose_features(head, left, (self.key, self.label), options)
        scan.require(self.key, IDS, "is no id: text and whole numbers are")
        for name in self.features if not scan.text else ():  # a column of text is numeric where its values are
            scan.require(name, NUMBERS, "is not numeric; leave it out with --drop-columns, or encode it before")

    def require_unique(self) -> None:
        """InputError for an id that comes twice."""
        found = self.scan.database.execute(
            f"SELECT {self.scan.column(self.key)}, count(*) FROM {self.scan.sql} GROUP BY 1 HAVING count(*) > 1 LIMIT 1"
        ).fetchall()
        for text, times in found:
            raise InputError(f"{self.scan.where}: id '{text}' comes {times} times; ids must be unique")

    def write(self, folder: Path) -> dict[str, Any]:
        """The files of the store that are the nodes', and what is known of them."""
        label = "NULL" if self.label is None else self.scan.column(self.label)
        numbers = "".join(f", {self.scan.number(name)}" for name in self.features)
        ids: list[pa.Array] = []
        labels: list[pa.Array] = []
        columns, count = len(self.features), 0
        kind = _FeatureKind(columns)
        with Writer(folder / "features.bin", "float32", (columns,)) as writer:
            for batch in self.scan.batches(f"{self.scan.column(self.key)}, {label}{numbers}"):
                require_filled(batch.column(0), f"{self.scan.where}: the id column '{self.key}'", count)
                ids.append(batch.column(0))
                labels.append(batch.column(1).cast(pa.string()))
                count += len(batch)
                if columns:
                    rows = np.stack([column.to_numpy(zero_copy_only=False) for column in batch.columns[2:]], axis=1)
                    self._require_finite(rows, batch.column(0))
                    writer.write(rows)
                    kind.add(rows)
            parts = {"features": writer.part()} if columns else {}
        if not columns:
            writer.path.unlink()
        if not count:
            raise InputError(f"{self.scan.where}: has no rows")
        parts["ids"] = _write_ids(folder / "ids.arrow", pa.concat_arrays(ids))
        del ids
        codes, names = (None, ()) if self.label is None else encode_labels(pa.chunked_array(labels))
        sizes = None
        if codes is not None:
            sizes = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
            with Writer(folder / "labels.bin", "int64") as writer:
                writer.write(codes)
                parts["labels"] = writer.part()
        return {
            "parts": parts,
            "nodes": count,
            "features": self.features,
            "kind": kind.facts(),
            "label_names": list(names),
            "class_sizes": sizes,
        }

    def _require_finite(self, rows: np.ndarray, ids: pa.Array) -> None:
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            row, column = bad[0].tolist()
            raise InputError(
                f"{self.scan.where}: column '{self.features[column]}' has no finite number for node "
                f"'{ids[row].as_py()}'; leave the column out with --drop-columns, or mend it before"
            )


class _FeatureKind:
    """What features are like, from one pass over their rows."""

    def __init__(self, columns: int) -> None:
        self.count, self.filled, self.zero_rows, self.binary = 0, 0, 0, True
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)

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


def _write_ids(path: Path, ids: pa.Array) -> dict[str, Any]:
    """One column in one piece, so that a mapped file is the array itself."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("id", pa.string())])) as writer:
        writer.write_batch(
            pa.record_batch({"id": ids}),
        )
    with path.open("rb") as content:
        return asdict(Part(path.name, "int8", (len(ids),), hashlib.file_digest(content, "sha256").hexdigest()))
