"""What a grid will take: seconds and memory of every cell, and what the figures rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from paretognn.benchmark.cells import DONE, EMBEDDINGS, TRAINED, Cell, CellKey
from paretognn.benchmark.grid import GridCell
from paretognn.errors import InputError, NonFiniteError
from paretognn.training import TrainConfig

Probe = Callable[[TrainConfig], float]
"""Seconds of a step, measured now on the graph of the cell."""

_START = 5.0
"""Seconds of a process before its cell begins: libraries, the graph."""
_JUDGING = (0.4, 2.5e-4, 4.1e-5)
"""Seconds on one core of judging 256 columns by one evaluation seed: fixed, a node and an edge. From cora and
chameleon."""
_CONTROL = 3e-4
"""Seconds a node of a control's embeddings, both of them, at 256 columns."""


STORED, PROBED, BY_SIZE, UNKNOWN = "stored", "probed", "by size", "unknown"


@dataclass(frozen=True)
class Estimate:
    """seconds : None where nothing says how long a step takes.

    rests_on : ``stored`` (the cells of the store), ``probed`` (two steps), ``by size`` (a formula) or ``unknown``.
    """

    seconds: float | None
    memory: int
    rests_on: str


class Estimator:
    """Estimates from the finished cells of a store, of the same data set and settings; else from a probe or a formula.

    threads : that a cell has, of which each judges another evaluation seed.
    """

    def __init__(self, cells: Iterable[Cell], evaluation_seeds: int, threads: int = 1) -> None:
        self.seeds, self.threads = evaluation_seeds, threads
        self.steps: dict[str, list[float]] = {}
        self.making: dict[str, list[float]] = {}
        self.judging: dict[str, list[float]] = {}
        self.peaks: dict[str, list[int]] = {}
        self.probed: dict[str, float | None] = {}
        for cell in cells:
            self.add(cell)

    def add(self, cell: Cell) -> None:
        """Learn from a finished cell."""
        if cell.status != DONE or cell.evaluation is None:
            return
        key, like = cell.key, _like(cell.key)
        if cell.step_seconds is not None:
            self.steps.setdefault(like, []).append(cell.step_seconds)
        seconds = cell.seconds.get("training", 0.0) + cell.seconds.get("link_training", 0.0)
        self.making.setdefault(like, []).append(seconds)
        per_seed = cell.seconds.get("evaluation", 0.0) / len(cell.evaluation["evaluation_seeds"])
        self.judging.setdefault(key.dataset, []).append(per_seed)
        if cell.peak_memory:
            self.peaks.setdefault(like, []).append(cell.peak_memory)

    def estimate(self, cell: GridCell, probe: Probe | None = None) -> Estimate:
        """``probe`` is called once for cells that differ in training seed or steps alone."""
        making, rests_on = self._making(cell, probe)
        seconds = None if making is None else _START + making + self._judging(cell)
        peaks = self.peaks.get(_like(cell.key))
        return Estimate(seconds, max(peaks) if peaks else cell.memory, rests_on)

    def _judging(self, cell: GridCell) -> float:
        known = self.judging.get(cell.key.dataset)
        if known:
            return self.seeds * median(known)
        fixed, node, edge = _JUDGING
        width = cell.config.width / 256
        rounds = -(-self.seeds // self.threads)
        return rounds * (fixed + width * (node * cell.nodes + edge * cell.edges))

    def _making(self, cell: GridCell, probe: Probe | None) -> tuple[float | None, str]:
        key = cell.key
        if key.kind == TRAINED and not cell.needs:  # else the encoder is there
            step, rests_on = self._step(cell, probe)
            search = cell.config.search
            tried = search.generations * search.population * search.steps if search.name != "none" else 0
            # Two models: that of the graph, and that of link prediction.
            return None if step is None else (2 * key.steps + tried) * step, rests_on
        known = self.making.get(_like(key))
        if known and key.kind != TRAINED:
            return median(known), STORED
        width = cell.config.width
        return (0.0 if key.kind == EMBEDDINGS else _CONTROL * cell.nodes * width / 256), BY_SIZE

    def _step(self, cell: GridCell, probe: Probe | None) -> tuple[float | None, str]:
        like = _like(cell.key)
        known = self.steps.get(like)
        if known:
            return median(known), STORED
        if probe is not None and like not in self.probed:
            try:
                self.probed[like] = probe(cell.config)
            except (InputError, NonFiniteError, RuntimeError, MemoryError):
                self.probed[like] = None  # what is wrong is the cell's to say
        step = self.probed.get(like)
        return step, UNKNOWN if step is None else PROBED


def span(seconds: Sequence[float], jobs: int) -> float:
    """Seconds that cells of so many take, ``jobs`` at once: the longest is not made in parts."""
    return max(sum(seconds) / jobs, max(seconds, default=0.0))


def time_left(
    estimator: Estimator, running: Iterable[GridCell], pending: Iterable[GridCell], jobs: int
) -> float | None:
    """Seconds until the grid is done, as far as finished cells say; trained cells of methods without one are taken
    for the mean of the others. What runs counts half."""
    half, whole = list(running), list(pending)
    known = [estimator.estimate(cell).seconds for cell in (*half, *whole)]
    certain = [seconds for seconds in known if seconds is not None]
    if len(certain) < len(known) and not estimator.steps:
        return None
    if not certain:
        return 0.0 if not known else None
    filled = [sum(certain) / len(certain) if seconds is None else seconds for seconds in known]
    return span([*(seconds / 2 for seconds in filled[: len(half)]), *filled[len(half) :]], jobs)


def _like(key: CellKey) -> str:
    """Cells that take as long and as much: those of another seed, and a step of those of other steps."""
    return CellKey(key.dataset, key.method, key.kind, key.preset, 0, 0, key.settings).name
