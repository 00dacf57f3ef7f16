"""What the figures of a table were made with: in its caption, and by a mark where one differs from the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from paretognn.benchmark.cells import CONTROL, EMBEDDINGS
from paretognn.benchmark.selection import Result

T = TypeVar("T")

BUDGET, SEEDS, FILE, INCOMPLETE, HARDWARE = "†", "‡", "§", "*", "¶"


class Provenance:
    """The budget, seeds and hardware that most of a table's results share.

    notes : text by mark, of the marks given out so far.
    """

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results
        self.trained = [result for result in results if result.trained]
        self.budget = _most(result.budget for result in self.trained)
        self.seeds = _most(r.seeds for r in ([r for r in self.trained if r.done] or results) if r.done)
        self.hardware = _most(h for result in results if (h := hardware(result)))
        self.at_once = _most(at_once(result) for result in results)
        self.notes: dict[str, str] = {}

    def mark(self, family: str, text: str) -> str:
        """The mark of a note: its family's sign, from the second text on with a number."""
        known = {note: mark for mark, note in self.notes.items() if mark.startswith(family)}
        if text not in known:
            known[text] = family if not known else f"{family}{len(known) + 1}"
            self.notes[known[text]] = text
        return known[text]

    def marks(self, result: Result) -> tuple[str, ...]:
        """What is said of a score that differs from most."""
        marks = self._budget_marks(result)
        if result.row.kind == EMBEDDINGS:
            marks += (self.mark(FILE, "embeddings from a file: how they were trained is not known here"),)
        return marks + self.seed_marks(result)

    def seed_marks(self, result: Result) -> tuple[str, ...]:
        """What is said of a mean over other seeds than most."""
        if not result.done or (result.seeds == self.seeds and len(result.done) == len(result.cells)):
            return ()
        return (self.mark(SEEDS, f"mean and deviation over {_deviation(result.seeds)}{_lost(result)}"),)

    def cost_marks(self, result: Result) -> tuple[str, ...]:
        """What is said of a cost that differs from most."""
        own, marks = hardware(result), self._budget_marks(result)
        if own not in ("", self.hardware):
            marks += (self.mark(HARDWARE, f"on {own}"),)
        if at_once(result) != self.at_once:
            marks += (self.mark(HARDWARE, f"cells made at once: {at_once(result)}"),)
        return marks

    def _budget_marks(self, result: Result) -> tuple[str, ...]:
        if not result.budget.steps:
            if result.row.kind != CONTROL or self.budget is None or result.budget.preset == self.budget.preset:
                return ()
            return (self.mark(BUDGET, f"another preset: {result.budget.preset}"),)
        if result.budget == self.budget:
            return ()
        return (self.mark(BUDGET, f"another budget: {result.budget}"),)

    def deviations(self) -> str:
        """A sentence on what deviations are over."""
        if self.seeds is None:
            return ""
        counts = sorted({len(c.evaluation["evaluation_seeds"]) for r in self.results for c in r.done if c.evaluation})
        evaluation = f"{' or '.join(map(str, counts))} evaluation seed{'' if counts == [1] else 's'}"
        if len(self.seeds) == 1 and counts == [1]:
            return f"One evaluation seed of one training seed ({self.seeds[0]}): no deviations."
        if len(self.seeds) > 1:
            over = f"{_deviation(self.seeds)}, each the mean of {evaluation}"
        else:
            over = f"{evaluation} of one training seed ({self.seeds[0]})"
        return f"Subscripts: population standard deviation over {over}."

    def budgets(self) -> str:
        """Sentences on budget, budgets left out, hardware and software."""
        parts = [f"Budget: {self.budget}." if self.budget else "Nothing here was trained."]
        left_out = sorted({budget for result in self.results for budget in result.left_out})
        if left_out:
            others = "; ".join(map(str, left_out))
            parts.append(f"Where a cell has several budgets the commonest is shown (left out: {others}).")
        cells = [cell for result in self.results for cell in result.cells]
        if machines := _all(_machine(cell.hardware) for cell in cells):
            parts.append(f"Hardware: {machines}.")
        if made := _all(_software(cell.versions) for cell in cells):
            parts.append(f"Software: {made}.")
        return " ".join(parts)


def hardware(result: Result) -> str:
    """Devices and threads in words; empty where not known."""
    return _all(_machine(cell.hardware) for cell in result.cells)


def at_once(result: Result) -> str:
    """How many cells were made side by side."""
    return _all(str(cell.hardware.get("cells_at_once", 1)) for cell in result.cells)


def _machine(facts: dict[str, Any]) -> str:
    threads = f", {facts['threads']} thread{'' if facts['threads'] == 1 else 's'}" if "threads" in facts else ""
    return f"{facts['device']}{threads}" if facts.get("device") else ""


def _software(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {versions[name]}" for name in ("paretognn", "torch") if name in versions)


def _all(texts: Iterable[str]) -> str:
    return "; ".join(sorted({text for text in texts if text}))


def _most(values: Iterable[T]) -> T | None:
    """The most common; of several, the largest."""
    counts = Counter(values)
    return max(counts, key=lambda value: (counts[value], value), default=None)


def _deviation(seeds: Sequence[int]) -> str:
    if len(seeds) > 1:
        return f"training seeds {', '.join(map(str, seeds))}"
    return f"the evaluation seeds of training seed {seeds[0]}"


def _lost(result: Result) -> str:
    lost = len(result.cells) - len(result.done)
    return f"; {lost} more did not finish" if lost else ""
