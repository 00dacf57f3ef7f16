"""Early stopping by the pretext losses alone; no label and no downstream score is ever looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from paretognn.state import finite, finite_by_name


class StoppingSettings(BaseModel):
    """``never``: the run takes all its ``steps``. ``plateau``: it ends earlier, when over ``window`` steps the losses
    fell by less than ``tolerance`` of what they were in the first window, in the mean over tasks."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    name: Literal["never", "plateau"] = "never"
    window: int = Field(50, ge=1)
    tolerance: float = Field(0.01, ge=0)


class Plateau:
    """Mean losses by window. Its state is a function of the losses so far, so a resumed run stops where an
    uninterrupted one does."""

    def __init__(self, settings: StoppingSettings) -> None:
        self.settings = settings
        self.first: dict[str, float] = {}
        self.last: float | None = None
        self.sums: dict[str, float] = {}
        self.count = 0

    def reached(self, losses: Mapping[str, float]) -> bool:
        """Take in the losses of one step; True where the run should end with it."""
        if self.settings.name == "never":
            return False
        for task, loss in losses.items():
            self.sums[task] = self.sums.get(task, 0.0) + loss / self.settings.window
        self.count += 1
        if self.count < self.settings.window:
            return False
        means, self.sums, self.count = self.sums, {}, 0
        if not self.first:
            self.first = means
        level = sum(means[t] / abs(self.first[t]) for t in means if self.first[t]) / len(means)
        before, self.last = self.last, level
        return before is not None and before - level < self.settings.tolerance

    def state(self) -> dict[str, Any]:
        return {"first": self.first, "last": self.last, "sums": self.sums, "count": self.count}

    def restore(self, state: Mapping[str, Any]) -> None:
        """KeyError, TypeError or ValueError where the state is not one of `state`'s."""
        self.first, self.sums = finite_by_name(state["first"]), finite_by_name(state["sums"])
        self.last, self.count = None if state["last"] is None else finite(state["last"]), int(finite(state["count"]))
