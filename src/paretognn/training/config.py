"""The settings of a run: one validated tree, every default written out."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationError,
    field_validator,
    model_validator,
)

from paretognn.errors import InputError, suggest
from paretognn.nn import ENCODERS, EncoderSettings
from paretognn.pretext import TaskSettings, task_class
from paretognn.reconcile import ReconcilerSettings, reconciler_class
from paretognn.training.assembly import AssemblySettings
from paretognn.training.stopping import StoppingSettings
from paretognn.training.yaml_tree import read_yaml


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class ReconcileSettings(_Settings):
    """How K gradients become one step.

    normalise : rows of the Gram matrix as they are (``none``, the text), divided by their norm (``l2``),
        by the loss (``loss``), or by both (``loss+``).
    step_on : combine the ``normalised`` rows or the ``raw`` ones (published code).
    heads : a head steps on its ``own`` gradient, or on it times its task's weight (``weighted``, eq. 1).
    settings : those of the reconciler itself.
    """

    name: str = "mgda"
    normalise: Literal["none", "l2", "loss", "loss+"] = "none"
    step_on: Literal["normalised", "raw"] = "normalised"
    heads: Literal["own", "weighted"] = "own"
    settings: SerializeAsAny[ReconcilerSettings] = ReconcilerSettings()

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, value: Any) -> Any:
        if isinstance(value, dict):
            kind = reconciler_class(value.get("name", "mgda")).Settings
            settings = value.get("settings") or {}
            if isinstance(settings, ReconcilerSettings):
                settings = settings.model_dump()
            try:
                value = {**value, "settings": kind.model_validate(settings)}
            except ValidationError as error:
                raise InputError(_first_error(error, kind, ("reconciler", "settings"))) from None
        return value

    @model_validator(mode="after")
    def _raw(self) -> ReconcileSettings:
        if reconciler_class(self.name).raw_only and self.normalise != "none":
            raise InputError(f"setting 'reconciler.normalise': must be 'none' for the reconciler '{self.name}'")
        return self


class OptimizerSettings(_Settings):
    """``adamw``, whose weight decay is not a part of the gradient (Loshchilov and Hutter, 2019), or ``adam``, where it
    is (L2)."""

    name: Literal["adamw", "adam"] = "adamw"
    learning_rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(1e-5, ge=0)


class ScheduleSettings(_Settings):
    """The learning rate over the steps: a linear warm-up, then ``constant`` or ``cosine`` down to
    ``final_fraction`` at ``horizon_steps``, where it stays. The horizon is a setting of its own, so that
    a run that is extended equals one that was longer from the start."""

    name: Literal["constant", "cosine"] = "constant"
    warmup_steps: int = Field(0, ge=0)
    horizon_steps: int = Field(1000, ge=1)
    final_fraction: float = Field(0.05, ge=0, le=1)


class SearchSettings(_Settings):
    """A search for task weights before the run: ``evolution`` tries ``population`` weightings in each of
    ``generations``, each in a run of ``steps`` steps, and judges them by ``clusters`` clusters of their embeddings. It
    is made where a run is started (`paretognn.methods.searched`)."""

    name: Literal["none", "evolution"] = "none"
    population: int = Field(8, ge=2)
    generations: int = Field(3, ge=1)
    steps: int = Field(50, ge=1)
    clusters: int = Field(5, ge=2)


class CheckpointSettings(_Settings):
    """A checkpoint at least every so many steps and seconds, and how many are kept."""

    every_steps: int = Field(500, ge=1)
    every_seconds: float = Field(120.0, gt=0)
    keep: int = Field(2, ge=1)


class TrainConfig(_Settings):
    """All settings of a run.

    ``steps`` may be raised later with ``--resume``; everything else is fixed once a run has started. Where there are
    ``alternatives`` to the ``assembly``, a judge without labels chooses among all of them after training.
    """

    method: str = "paretognn"
    preset: str = "auto"
    seed: int = Field(0, ge=0, lt=2**31)
    steps: int = Field(500, ge=1, le=1_000_000_000)
    features: Literal["standardise", "none", "row"] = "standardise"
    encoder: EncoderSettings = EncoderSettings()
    tasks: dict[str, SerializeAsAny[TaskSettings]] = Field(min_length=1)
    reconciler: ReconcileSettings = ReconcileSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    stopping: StoppingSettings = StoppingSettings()
    search: SearchSettings = SearchSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    assembly: AssemblySettings = AssemblySettings()
    alternatives: list[AssemblySettings] = []

    @property
    def width(self) -> int:
        """Columns of an embedding; fewer where a block finds less in the graph than it may hold."""
        return max(each.width(self.encoder.hidden_dims[-1]) for each in (self.assembly, *self.alternatives))

    @property
    def assembles(self) -> bool:
        """Whether an embedding is, or may be chosen to be, another thing than the encoder's output."""
        return bool(self.alternatives) or self.assembly != AssemblySettings()

    def of_training(self) -> str:
        """What training sees of the settings, as JSON; where it is equal, so are the encoders of one graph."""
        return self.model_dump_json(exclude={"method", "assembly", "alternatives"})

    @field_validator("tasks", mode="before")
    @classmethod
    def _resolve(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        tasks = {}
        for name, settings in value.items():
            kind = task_class(name).Settings
            if isinstance(settings, TaskSettings):
                settings = settings.model_dump()
            try:
                tasks[name] = kind.model_validate(settings or {})
            except ValidationError as error:
                raise InputError(_first_error(error, kind, ("tasks", name))) from None
        return tasks

    @model_validator(mode="after")
    def _fitting(self) -> TrainConfig:
        if self.search.name != "none" and (self.reconciler.name != "weighted-sum" or len(self.tasks) < 2):
            raise InputError("setting 'search.name': a search is for several tasks under the reconciler weighted-sum")
        if len(self.encoder.operators) > 1 and self.encoder.name != "gcn":
            raise InputError("setting 'encoder.name': an encoder of several operators is one of 'gcn' over each")
        if len(self.encoder.operators) > 1 and self.reconciler.name == "pseudo-homophily":
            raise InputError("setting 'reconciler.name': pseudo-homophily needs an encoder of one operator")
        for name in self.tasks:
            needed = list(task_class(name).operators)
            if self.encoder.operators != needed:
                raise InputError(f"setting 'encoder.operators': the task '{name}' needs [{', '.join(needed)}]")
        return self


def make_config(tree: dict[str, Any]) -> TrainConfig:
    """Validate a tree of settings; `InputError` naming the first setting that is wrong."""
    try:
        return TrainConfig.model_validate(tree)
    except ValidationError as error:
        raise InputError(_first_error(error, TrainConfig, ())) from None


def check_names(tree: dict[str, Any]) -> None:
    """InputError for the first setting, task, encoder or reconciler of a part of a tree that is not known, as far as
    that can be told without the rest."""
    _check_fields(tree, TrainConfig, ())
    tasks = tree.get("tasks")
    for name, settings in tasks.items() if isinstance(tasks, dict) else ():
        _check_fields(settings, task_class(name).Settings, ("tasks", name))
    for part, find in (("encoder", ENCODERS.find), ("reconciler", reconciler_class)):
        asked = tree.get(part)
        if isinstance(asked, dict) and "name" in asked:
            _check_fields(asked.get("settings"), find(asked["name"]).Settings, (part, "settings"))


def _check_fields(tree: Any, model: type[BaseModel], prefix: tuple[str, ...]) -> None:
    for name, value in tree.items() if isinstance(tree, dict) else ():
        if name not in model.model_fields:
            raise InputError(_unknown((*prefix, str(name)), model.model_fields))
        kind = _model_of(model, name)
        if kind is not None and kind.model_fields and name != "sampler":  # a component's settings are its name's
            _check_fields(value, kind, (*prefix, name))


def _model_of(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    kind = model.model_fields[name].annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _unknown(path: tuple[str, ...], siblings: Iterable[str]) -> str:
    inside, name = "".join(f"{part}." for part in path[:-1]), ".".join(path)
    if name in (known := list(_paths(TrainConfig))):  # with its dots, as one name
        head, *rest = name.split(".")
        return f"unknown setting '{name}': in a tree it is '{head}' with '{'.'.join(rest)}' inside"
    near = suggest(path[-1], siblings)
    near = near.replace("mean '", f"mean '{inside}") if near else suggest(path[-1], known)
    return f"unknown setting '{name}'{near}"


def _paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every setting that all runs have, as ``--set`` names it."""
    for name in model.model_fields:
        kind = _model_of(model, name)
        yield from [prefix + name] if kind is None else _paths(kind, f"{prefix}{name}.")


def _first_error(error: ValidationError, model: type[BaseModel], prefix: tuple[str, ...]) -> str:
    first = _likeliest(error)
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InputError):
        return str(cause)
    path = [*prefix, *(str(p) for p in first["loc"] if not _BRANCH.match(str(p)))]
    if first["type"] == "extra_forbidden":
        known = _fields_at(model, [str(p) for p in first["loc"][:-1]])
        return _unknown(tuple(path), known)
    message = first["msg"].removeprefix("Value error, ")
    given = "" if first["type"] == "value_error" else f", not {reprlib.repr(first['input'])}"
    return f"setting '{'.'.join(path)}': {message[0].lower()}{message[1:]}{given}"


_BRANCH = re.compile(r"constrained-|literal\[|tuple\[|function-before\[")
"""How pydantic names the alternatives of a setting that may be of several kinds."""


def _likeliest(error: ValidationError) -> Any:
    """The first error; of a setting with alternatives, that of the one which the input is most like."""
    found = error.errors()
    name = found[0]["loc"][:1]
    alike = (
        [e for e in found if e["loc"][:1] == name] if any(_BRANCH.match(str(p)) for p in found[0]["loc"]) else found[:1]
    )
    return max(alike, key=lambda e: (len(e["loc"]), not e["type"].endswith(("_type", "literal_error"))))


def _fields_at(model: type[BaseModel], path: list[str]) -> list[str]:
    current: Any = model
    for part in path:
        field = current.model_fields.get(part) if hasattr(current, "model_fields") else None
        current = field.annotation if field is not None else None
    return list(getattr(current, "model_fields", {}))


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """``over`` laid on ``base``, mapping by mapping; None removes a key of a mapping of mappings (a task)."""
    merged = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merge(merged[key], value)
        elif value is None and isinstance(merged.get(key), dict):
            del merged[key]
        else:
            merged[key] = value
    return merged


def plain(value: Any) -> Any:
    """A tree of settings with Python's own numbers and lists in the place of numpy's, and of tuples."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def whole(value: Any) -> int | None:
    """A count of at least 1, as 3 or 3.0; None for what is none, which the check of all settings names."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if number and value >= 1 and value == value // 1 else None


def parse_assignment(text: str) -> dict[str, Any]:
    """``tasks.mi_nsg.temperature=0.2`` as a nested mapping; the value is read as YAML."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"--set {text}: expected key=value, for example optimizer.learning_rate=0.001")
    tree = read_yaml(value, f"--set {name}")
    if isinstance(tree, str):
        # YAML 1.1 takes 1e-4 for text.
        with suppress(ValueError):
            tree = float(tree)
    for part in reversed(name.strip().split(".")):
        tree = {part: tree}
    return tree


def parse_assignments(texts: Iterable[str], base: dict[str, Any] | None = None) -> dict[str, Any]:
    """Each of ``texts`` laid on ``base`` in turn."""
    tree = base or {}
    for text in texts:
        tree = merge(tree, parse_assignment(text))
    return tree


def read_config_file(path: Path) -> dict[str, Any]:
    """A YAML file of settings; `InputError` where it cannot be read or is no mapping."""
    try:
        tree = read_yaml(path.read_text(encoding="utf-8"), path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not valid YAML (it is no UTF-8 text)") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise InputError(f"{path}: expected a mapping of settings, not {type(tree).__name__}")
    return tree
