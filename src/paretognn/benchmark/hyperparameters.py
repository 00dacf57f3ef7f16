"""The hyper-parameter table: settings that differ between methods, the paper's beside ``paretognn``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from paretognn.benchmark.reference import paper_settings
from paretognn.benchmark.render import MISSING, Entry, Table
from paretognn.benchmark.selection import Result
from paretognn.benchmark.settings_text import flatten, readable
from paretognn.benchmark.tables import dataset_order, grid
from paretognn.methods.recipe import said_of
from paretognn.training.assembly import AssemblySettings

_NO_SETTING = ("method", "seed", "checkpoint")
_TASKS = "tasks."
_HOUSE = {"encoder": "gcn", "optimizer": "adamw"}
"""What has a name since, and had none in older cells: told by its parts, and its name only where it is another."""
_LATER = {"assembly": said_of(AssemblySettings()), "alternatives": ""}
"""Settings that are younger than some stored cells, and what those were made with: said only where it is another."""

Settings = dict[str, str]


def hyperparameter_table(results: Sequence[Result]) -> Iterator[Table]:
    """A line a method and its data sets of the same settings; nothing where no cell was trained."""
    rows: list[tuple[str, str, Settings]] = []
    for row, found in grid(results).items():
        for dataset in dataset_order(found):
            config = next((cell.config for cell in found[dataset].cells if cell.config), None)
            if config is not None:
                rows.append((row.label, dataset, _settings(config)))
                paper = paper_settings(dataset) if row.label == "paretognn" else None
                if paper is not None:
                    rows.append((f"{row.label} (paper)", dataset, _settings(paper)))
    if not rows:
        return
    values: dict[str, set[str | None]] = defaultdict(set)
    for path in dict.fromkeys(path for *_, settings in rows for path in settings):
        # A task's setting need not be there where the task is not, and the paper's table has few of ours.
        asked = [s for label, _, s in rows if path in s or not (path.startswith(_TASKS) or label.endswith("(paper)"))]
        values[path] = {settings.get(path) for settings in asked}
    common = [path for path, known in values.items() if len(known) == 1]
    columns = [path for path in values if path not in common and not path.startswith(_TASKS)]
    merged: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for label, dataset, settings in rows:
        own = (settings.get(path, MISSING) for path in columns)
        merged[label, *own, _tasks(settings, common)].append(dataset)
    lines = [
        tuple(map(Entry, (label, ", ".join(datasets), *rest))) for (label, *rest), datasets in merged.items()
    ]  # fmt: skip
    names = ("method", "data sets", *_names(columns), "pretext tasks")
    alike = "; ".join(f"{path.removeprefix(_TASKS)} {text}" for path in sorted(common) for text in values[path] if text)
    caption = f"The same in every row that has it: {alike}." if alike else ""
    yield Table("hyperparameters", "Hyper-parameters", names, tuple(lines), caption, {}, len(names))


def _settings(config: dict[str, Any]) -> Settings:
    kept = {key: value for key, value in config.items() if key not in _NO_SETTING}
    for part, usual in _HOUSE.items():
        found = kept.get(part)
        # Optimisers have the same parts, other encoders have not.
        if isinstance(found, dict) and (found.get("name") == usual or part == "optimizer"):
            kept[part] = {key: value for key, value in found.items() if (key, value) != ("name", usual)}
            if "name" in kept[part]:
                kept[part][part] = kept[part].pop("name")
    if "assembly" in kept:
        kept["assembly"] = _said(kept["assembly"])
    if isinstance(kept.get("alternatives"), list):
        kept["alternatives"] = _choice(kept["alternatives"])
    whole = {f"{_TASKS}{task}": "" for task in kept.get("tasks", {})}
    texts = {path: readable(value) for path, value in flatten(kept) if value is not None}
    return whole | {path: text for path, text in texts.items() if text != _LATER.get(path)}


def _said(assembly: Any) -> str:
    try:
        return said_of(AssemblySettings.model_validate(assembly))
    except ValueError:  # of another version
        return readable(assembly)


def _choice(alternatives: list[Any]) -> str:
    """Those that differ in smoothing alone are told as one."""
    steps: dict[str, list[str]] = defaultdict(list)
    for each in alternatives:
        smoothing = each.get("smoothing", 0) if isinstance(each, dict) else 0
        steps[_said({**each, "smoothing": 0} if smoothing else each)].append(str(smoothing))
    return "; or ".join(
        said if found == ["0"] else f"{said}; smoothed {'/'.join(found)} times" for said, found in steps.items()
    )


def _names(paths: Sequence[str]) -> list[str]:
    """The last words of dotted paths, as many as tell them apart from the other columns."""
    names = [path.split(".")[-1] for path in paths]
    shared = Counter(names)
    return [
        (name if shared[name] == 1 else path).replace(".", " ").replace("_", " ")
        for name, path in zip(names, paths, strict=True)
    ]


def _tasks(settings: Settings, common: Sequence[str]) -> str:
    """``mi_ng; mi_nsg (temperature 0.2)``: the tasks, with those of their settings that are not common."""
    tasks: dict[str, list[str]] = {}
    for path, value in settings.items():
        if path.startswith(_TASKS):
            task, _, name = path.removeprefix(_TASKS).partition(".")
            own = tasks.setdefault(task, [])
            if name and path not in common:
                own.append(f"{name} {value}")
    return "; ".join(f"{task} ({', '.join(own)})" if own else task for task, own in tasks.items())
