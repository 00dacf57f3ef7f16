"""The numbers of every step as TensorBoard reads them."""

from __future__ import annotations

import os
from typing import Any

from paretognn.errors import InputError
from paretognn.training.config import TrainConfig
from paretognn.training.multitask import StepRecord
from paretognn.training.tracking import Outcome, Tracker


class TensorBoard(Tracker):
    """Event files in ``folder``. A run that is resumed goes on in it, and steps behind its checkpoint are replaced.

    InputError where the package is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter  # an extra
        except ImportError:
            raise InputError("TensorBoard needs a further package: pip install 'paretognn[tensorboard]'") from None
        self.folder, self._writer_class = os.fspath(folder), SummaryWriter
        self._writer: Any = None

    def started(self, config: TrainConfig, done: int) -> None:
        self._writer = self._writer_class(self.folder, purge_step=done + 1 if done else None)

    def stepped(self, record: StepRecord) -> None:
        for name, value in record.scalars().items():
            self._writer.add_scalar(name, value, record.step)

    def ended(self, outcome: Outcome) -> None:
        self._writer.close()
