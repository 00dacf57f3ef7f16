"""Which column is what, and what to do about gaps."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from paretognn.errors import InputError, suggest

OF_NODES = ("id_column", "label_column", "feature_columns", "drop_columns", "categorical", "impute")
"""Options that say how a table of nodes is read."""


@dataclass(frozen=True)
class TableOptions:
    """Settings for reading tables. Columns that are not named are found by their usual names.

    id_column : ``id`` or ``node_id``, else the first column of the node table.
    source_column, target_column : ``source``, ``target`` or ``src``, ``dst``, else the first two.
    weight_column, label_column : ``weight`` in the edge table, ``label`` in the node table, else none.
    feature_columns : these alone are features; empty for all that are left.
    drop_columns : columns that are not features.
    categorical : columns to be one-hot encoded.
    add_missing_nodes : add nodes that only edges name, with zero features, instead of an error.
    impute : None (a feature that is blank or no finite number is an error), ``zero`` or ``mean``.
    header : ``auto``, ``yes`` or ``no``: whether the first line of CSV files names the columns.

    Raises InputError for values outside of these.
    """

    id_column: str | None = None
    source_column: str | None = None
    target_column: str | None = None
    weight_column: str | None = None
    label_column: str | None = None
    feature_columns: tuple[str, ...] = ()
    drop_columns: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    add_missing_nodes: bool = False
    impute: str | None = None
    header: str = "auto"

    def __post_init__(self) -> None:
        for name in ("feature_columns", "drop_columns", "categorical"):
            value = getattr(self, name) or ()
            if not isinstance(value, str | list | tuple) or not all(isinstance(column, str) for column in value):
                raise InputError(f"{name} must be a list of column names, not {value!r}")
            listed = (value,) if isinstance(value, str) else tuple(value)
            object.__setattr__(self, name, listed)
        for name in ("id_column", "source_column", "target_column", "weight_column", "label_column"):
            if not isinstance(getattr(self, name), str | None):
                raise InputError(f"{name} must be the name of a column, not {getattr(self, name)!r}")
        if not isinstance(self.add_missing_nodes, bool):
            raise InputError(f"add_missing_nodes must be true or false, not {self.add_missing_nodes!r}")
        if self.impute not in (None, "zero", "mean"):
            raise InputError(f"impute must be 'zero' or 'mean', not {self.impute!r}")
        if self.header not in ("auto", "yes", "no"):
            raise InputError(f"header must be 'auto', 'yes' or 'no', not {self.header!r}")

    @classmethod
    def of(cls, **settings: Any) -> TableOptions:
        """The same from keyword arguments; InputError for an unknown one, with the nearest name."""
        known = [field.name for field in fields(cls)]
        for name in settings:
            if name not in known:
                raise InputError(f"unknown option '{name}' for reading tables{suggest(name, known)}")
        return cls(**settings)
