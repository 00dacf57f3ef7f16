"""One process of several: some steps, and what it holds after each, into FOLDER/RANK.npz."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import torch

from made import SMALL, make_graph, on_device
from paretognn.training import MultiTaskModel, MultiTaskStepper, make_config
from paretognn.training.frozen import build_encoder
from paretognn.training.ranks import ALONE, joined

STEPS = 4
IDLE = "mi_ng"
"""The task without a loss on the second rank, where that is asked for."""


def stepper(kind=MultiTaskStepper, ranks=ALONE):
    config = make_config({**SMALL, "steps": STEPS})
    prepared = on_device(make_graph(), config.features)
    model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width))
    return kind(model, prepared, config, ranks=ranks)


def held(own, record):
    """Task weights, losses and parameters."""
    parameters = torch.cat([p.detach().flatten() for p in own.model.parameters()])
    return list(record.weights.values()), list(record.losses.values()), parameters.numpy().copy()


def main(folder, slow, idle):
    with joined("cpu") as ranks:
        own = stepper(ranks=ranks)
        if idle and ranks.index == 1:
            own.model.tasks[IDLE].loss = lambda encoder, batch: next(encoder.parameters()).sum() * 0
        rows = []
        for _ in range(STEPS):
            if slow and not ranks.leads:
                time.sleep(0.3 * ranks.index)
            rows.append(held(own, own.step()))
    weights, losses, parameters = (np.array(part) for part in zip(*rows, strict=True))
    np.savez(folder / f"{ranks.index}.npz", weights=weights, losses=losses, parameters=parameters)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(bool(os.environ.get(name)) for name in ("SLOW", "IDLE")))
