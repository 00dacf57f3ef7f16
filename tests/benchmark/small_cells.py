"""Cells on the bundled data set that take a second: narrow encoders, few steps, one evaluation seed."""

from paretognn.benchmark.cells import Store
from paretognn.benchmark.grid import Request, expand
from paretognn.benchmark.job import Job
from paretognn.benchmark.making import make_cell

NARROW = {"encoder": {"hidden_dims": [8, 4]}, "checkpoint": {"every_steps": 1}}


def request(*methods, **changes):
    return Request(("digits",), methods, **{"steps": 2, "evaluation_seeds": 1, "settings": NARROW, **changes})


def cells_of(asked):
    return [cell for _, cells in expand(asked) for cell in cells]


def jobs_of(path, *methods, **changes):
    asked = request(*methods, **changes)
    return [Job.of(cell, Store(path), asked) for cell in cells_of(asked)]


def made(path, *methods, **changes):
    """The cells, made in this process, by method."""
    return {job.cell.key.method: make_cell(job) for job in jobs_of(path, *methods, **changes)}
