"""Which stored cells a table shows: one budget a method and data set, all training seeds of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from paretognn.benchmark.cells import CONTROL, DONE, OUT_OF_MEMORY, TRAINED, Cell, CellKey
from paretognn.benchmark.reference import AVERAGE, TASKS
from paretognn.benchmark.settings_text import flatten, readable
from paretognn.errors import InputError


class Budget(NamedTuple):
    """What a method was given to train with."""

    preset: str
    steps: int

    def __str__(self) -> str:
        return f"{self.steps:,} steps, preset {self.preset}" if self.steps else "untrained"


class Score(NamedTuple):
    """In [0, 1]; the population deviation is over training seeds where there are several, else evaluation seeds."""

    mean: float
    deviation: float | None


class Row(NamedTuple):
    """A row of a table. Rows of one label may differ in kind: trained here, or read from a file."""

    kind: str
    label: str


@dataclass(frozen=True)
class Result:
    """A method on a data set at one budget: its cells, one a training seed. left_out : its other budgets."""

    row: Row
    cells: tuple[Cell, ...]
    left_out: tuple[Budget, ...] = ()

    @property
    def key(self) -> CellKey:
        return self.cells[0].key

    @property
    def dataset(self) -> str:
        return self.key.dataset

    @property
    def budget(self) -> Budget:
        return Budget(self.key.preset, self.key.steps)

    @property
    def trained(self) -> bool:
        return self.row.kind == TRAINED

    @property
    def varies_width(self) -> bool:
        return bool(_widths(self.key))

    @cached_property
    def done(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.status == DONE)

    @property
    def outcome(self) -> str:
        """What is printed where there is no score, for want of a finished cell."""
        return "OOM" if any(cell.status == OUT_OF_MEMORY for cell in self.cells) else "failed"

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(cell.key.seed for cell in self.done)

    def score(self, metric: str) -> Score | None:
        """None where no cell has it."""
        scores = [score for cell in self.done if (score := _score(cell.evaluation or {}, metric))]
        if len(scores) < 2:
            return scores[0] if scores else None
        means = [score.mean for score in scores]
        return Score(fmean(means), pstdev(means))


def results_of(cells: Iterable[Cell], preset: str | None = None, steps: int | None = None) -> list[Result]:
    """One result a row, data set, encoder width and budget, in the cells' order.

    preset, steps : of what was trained, and the preset of controls; all of them where None. InputError where they leave
        nothing that was trained, and where a row has two cells of one training seed.
    """
    groups: dict[tuple[Row, str, str, Budget], list[Cell]] = defaultdict(list)
    for cell in cells:
        key = cell.key
        groups[Row(key.kind, _label(key)), key.dataset, _widths(key), Budget(key.preset, key.steps)].append(cell)
    trained = {budget for row, *_, budget in groups if row.kind == TRAINED}
    if not any(_fits(budget, preset, steps) for budget in trained) and (preset, steps) != (None, None):
        there = "; ".join(map(str, sorted(trained))) or "nothing trained"
        asked = f"--preset {preset or 'any'} --steps {'any' if steps is None else steps}"
        raise InputError(f"no cells with {asked}; the store has: {there}")
    for (row, *_), own in groups.items():
        _refuse_repeated(row, own)
    return [
        Result(row, tuple(sorted(own, key=lambda cell: cell.key.seed)))
        for (row, *_, budget), own in groups.items()
        # What was not trained fits any steps, and a row from a file any preset.
        if _fits(budget, preset if budget.steps or row.kind == CONTROL else None, steps if budget.steps else None)
    ]


def _refuse_repeated(row: Row, cells: Iterable[Cell]) -> None:
    """InputError where a training seed has two cells: settings that read alike would be averaged."""
    first: dict[int, CellKey] = {}
    for cell in cells:
        key = first.setdefault(cell.key.seed, cell.key)
        if key != cell.key:
            raise InputError(f"cells '{key.name}' and '{cell.key.name}' are one row, '{row.label}'; remove one")


def select(results: Iterable[Result]) -> list[Result]:
    """One result a row, data set and encoder width: of several budgets the one that most of what was trained has, and
    of what was not trained the one of that preset."""
    groups: dict[tuple[Row, str, str], list[Result]] = defaultdict(list)
    for result in results:
        groups[result.row, result.dataset, _widths(result.key)].append(result)
    common = Counter(result.budget for own in groups.values() for result in own if result.trained)
    by_preset = {budget.preset: count for budget, count in sorted(common.items(), key=lambda item: item[1])}
    chosen = []
    for own in groups.values():
        *others, best = sorted(own, key=lambda result: _commonness(result.budget, common, by_preset))
        chosen.append(replace(best, left_out=tuple(other.budget for other in others if other.budget.steps)))
    return chosen


def tabled(results: Iterable[Result]) -> list[Result]:
    """What stands in tables by row. Where a row has several widths of embeddings on a data set at one budget, those
    laid over it are for the width figure; one that it has alone stands, and its label says it."""
    results = list(results)
    widths: dict[tuple[Row, str, Budget], set[int | None]] = defaultdict(set)
    for result in results:
        dims = result.key.settings.get("encoder", {}).get("hidden_dims")
        widths[result.row, result.dataset, result.budget].add(dims[-1] if dims else None)
    return [
        replace(result, row=result.row._replace(label=_label(result.key, width=True)))
        if result.varies_width
        else result
        for result in results
        if not result.varies_width or len(widths[result.row, result.dataset, result.budget]) == 1
    ]


def _commonness(budget: Budget, common: Mapping[Budget, int], by_preset: Mapping[str, int]) -> tuple[int, int, Budget]:
    return common.get(budget, 0) if budget.steps else by_preset.get(budget.preset, 0), budget.steps, budget


def _fits(budget: Budget, preset: str | None, steps: int | None) -> bool:
    return preset in (None, budget.preset) and steps in (None, budget.steps)


def _widths(key: CellKey) -> str:
    """The encoder's widths where they are laid over the method; else empty."""
    return str(key.settings.get("encoder", {}).get("hidden_dims", ""))


def _label(key: CellKey, width: bool = False) -> str:
    """The method, with the settings laid over it; that of the encoder's width only where asked for."""
    settings = dict(flatten(key.settings))
    if not width:
        settings.pop("encoder.hidden_dims", None)
    return f"{key.method} [{', '.join(f'{k}={readable(v)}' for k, v in settings.items())}]" if settings else key.method


def _score(evaluation: dict[str, Any], metric: str) -> Score | None:
    tasks = evaluation.get("tasks", {})
    if metric == AVERAGE:
        mean = evaluation.get("average")
        by_task = [tasks.get(task, {}).get("per_seed", []) for task in TASKS]
        seeds = [fmean(scores) for scores in zip(*by_task, strict=False)]
    else:
        mean, seeds = (tasks.get(metric, {}).get(name) for name in ("mean", "per_seed"))
    return None if mean is None else Score(mean, pstdev(seeds) if len(seeds or ()) > 1 else None)
