"""What the shell offers for the values of options, beside files."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def _starting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def dataset_names(incomplete: str) -> list[str]:
    from paretognn.datasets.registry import DATASETS

    return _starting(DATASETS, incomplete)


def method_names(incomplete: str) -> list[str]:
    from paretognn.methods.rows import METHODS

    return _starting(METHODS, incomplete)


def comma_separated(names: Callable[[str], list[str]], incomplete: str) -> list[str]:
    """``names`` for the last of a list; what stands before it stays."""
    before, comma, last = incomplete.rpartition(",")
    listed = set(before.split(","))
    return [before + comma + name for name in names(last) if name not in listed]


def dataset_lists(incomplete: str) -> list[str]:
    return comma_separated(dataset_names, incomplete)


def method_lists(incomplete: str) -> list[str]:
    from paretognn.benchmark.grid import ALL, method_names

    return comma_separated(lambda last: _starting((ALL, *method_names()), last), incomplete)


def preset_names(incomplete: str) -> list[str]:
    from paretognn.methods.presets import PRESETS

    return _starting(PRESETS, incomplete)


def sampler_names(incomplete: str) -> list[str]:
    from paretognn.sampling.sampler import SAMPLERS

    return _starting(SAMPLERS, incomplete)


def device_names(incomplete: str) -> list[str]:
    return _starting(("auto", "cpu", "cuda"), incomplete)
