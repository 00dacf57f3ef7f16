"""Cells in one table must have been judged alike: the same splits, negatives, partition and evaluation seeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paretognn.benchmark.cells import Cell
from paretognn.errors import InputError


def refuse_mixed(cells: Iterable[Cell]) -> None:
    """InputError naming two cells of one data set that were judged differently, and in what.

    The link split is compared between cells of one training seed; what a cell does not know is not compared.
    """
    first: dict[tuple[Any, ...], tuple[Cell, Any]] = {}
    for cell in cells:
        for (what, *scope), value in _facts(cell):
            if value is None:
                continue
            other, known = first.setdefault((cell.key.dataset, what, *scope), (cell, value))
            if value != known:
                raise InputError(
                    f"cells '{other.key.name}' and '{cell.key.name}' were judged differently, by their {what}"
                    f"{_shown(known, value)}; remove one, and run it again under the other's protocol"
                )


def _facts(cell: Cell) -> Iterable[tuple[tuple[Any, ...], Any]]:
    judged = cell.evaluation or {}
    yield ("kind of split",), judged.get("split")
    yield ("evaluation seeds",), judged.get("evaluation_seeds")
    yield ("split digests",), judged.get("split_digests")
    yield ("partition digest",), (judged.get("partition") or {}).get("digest")
    yield ("link split digest", cell.key.seed), judged.get("link_split_digest")


def _shown(known: Any, value: Any) -> str:
    texts = str(known), str(value)
    return f" ({texts[0]} and {texts[1]})" if max(map(len, texts)) <= 60 else ""
