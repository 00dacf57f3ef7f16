"""The data-set table: sizes as the cells know them, the paper's beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from paretognn.benchmark.reference import paper_statistics
from paretognn.benchmark.render import MISSING, Entry, Table
from paretognn.benchmark.selection import Result
from paretognn.benchmark.tables import dataset_order

_FACTS = ("nodes", "edges", "features", "classes", "split")


def sizes_table(results: Sequence[Result]) -> Iterator[Table]:
    """A line a data set with a finished cell; a column that neither side knows is left out."""
    here: dict[str, dict[str, str]] = {}
    for result in results:
        for cell in result.done:
            here.setdefault(result.dataset, {}).update(_facts(cell.evaluation or {}))
    datasets, paper = dataset_order(here), paper_statistics()
    columns = {"type": [paper.get(dataset, {}).get("type") for dataset in datasets]}
    for fact in _FACTS:
        columns[fact] = [here[dataset].get(fact) for dataset in datasets]
        columns[f"{fact} (paper)"] = [paper.get(dataset, {}).get(fact) for dataset in datasets]
    columns = {name: found for name, found in columns.items() if any(found)}
    if datasets:
        lines = zip(datasets, *([text or MISSING for text in found] for found in columns.values()), strict=True)
        rows = tuple(tuple(map(Entry, line)) for line in lines)
        caption = (
            "Of the graphs as they were read here, and as the paper prints them (edges are counted in several ways)."
        )
        yield Table("datasets", "Data sets", ("data set", *columns), rows, caption, {})


def _facts(evaluation: dict[str, Any]) -> dict[str, str]:
    classes = (evaluation.get("labels") or {}).get("classes")
    known = {fact: evaluation.get(fact) for fact in _FACTS} | {"classes": classes and len(classes)}
    return {fact: str(value) for fact, value in known.items() if value is not None}
