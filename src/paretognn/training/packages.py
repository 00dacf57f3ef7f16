"""Which other packages a run needs: those whose components its settings name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from paretognn.nn import ENCODERS
from paretognn.pretext import TASKS
from paretognn.reconcile import RECONCILERS
from paretognn.registry import Registry
from paretognn.sampling import SAMPLERS, Sampler
from paretognn.training.config import TrainConfig


def needed_packages(config: TrainConfig) -> dict[str, str]:
    """Version by name of the packages that the run's components are from; empty where all are the house's own."""
    found = (registry.package(name) for registry, name in _components(config))
    return dict(package for package in found if package is not None)


def _components(config: TrainConfig) -> Iterator[tuple[Registry[Any], str]]:
    yield ENCODERS, config.encoder.name
    yield RECONCILERS, config.reconciler.name
    for name in config.tasks:
        yield TASKS, name
    for settings in (*config.tasks.values(), config.reconciler.settings):
        for _, value in settings:
            if isinstance(value, Sampler):
                yield SAMPLERS, value.name


def package_changes(recorded: Mapping[str, Any]) -> str:
    """What is to be said where settings are not understood: "; the run was made with ..." for every package that is
    absent or of another version, or the empty string."""
    said = ""
    for name, wanted in recorded.items():
        try:
            there = version(name)
        except PackageNotFoundError:
            said += f"; the run was made with the package {name} {wanted}, which is not installed: pip install {name}"
        else:
            if there != wanted:
                said += f"; the run was made with the package {name} {wanted}, and {there} is installed"
    return said
