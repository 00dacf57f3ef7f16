"""Checkpoints: tensors in safetensors, the rest in JSON beside them, no pickle anywhere.

A checkpoint exists once its JSON does; the JSON is written last and holds the digest of the tensors.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, load_file, save, save_file
from torch import Tensor

from paretognn.atomic import atomic_write
from paretognn.errors import InputError

Checkpoint = tuple[dict[str, Tensor], dict[str, Any], list[str]]
"""Tensors, the rest of the state, and what was wrong with newer checkpoints."""

_NAME = re.compile(r"step-(\d{8})\.json$")


def save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors aside and rename."""
    with atomic_write(path) as aside:
        try:
            save_file({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, aside)
        except SafetensorError as error:
            raise OSError(str(error)) from None


def load_tensors(path: Path) -> dict[str, Tensor]:
    """InputError naming the path where the file is missing or corrupt."""
    try:
        return load_file(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:
        # A damaged header, or a type of number that torch has not, raises whatever its reader has.
        line = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise InputError(f"{path}: corrupt ({line})") from None


def save_checkpoint(folder: Path, step: int, tensors: dict[str, Tensor], state: dict[str, Any], keep: int) -> None:
    """Write the checkpoint of ``step`` and drop all but it and the newest before it, ``keep`` in all.

    Those of later steps are corrupt, or the run would have gone on from one; tensors without a JSON are those of a
    checkpoint that was cut off.
    """
    path = folder / f"step-{step:08d}.safetensors"
    save_tensors(path, tensors)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with atomic_write(path.with_suffix(".json")) as aside:
        aside.write_text(json.dumps({"step": step, "sha256": digest, **state}, indent=1), encoding="utf-8")
    found = [p.stem for p in list_checkpoints(folder)]
    kept = set(found[: found.index(path.stem) + 1][-keep:])
    for old in sorted(folder.glob("step-*")):  # a JSON goes before its tensors
        if old.stem not in kept:
            with suppress(OSError):
                old.unlink()


def list_checkpoints(folder: Path) -> list[Path]:
    """JSON paths, oldest step first."""
    return sorted(p for p in folder.glob("step-*.json") if _NAME.search(p.name))


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and state; InputError with the word "corrupt" and the path where either is damaged."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        digest, step = state["sha256"], state["step"]
        data = path.with_suffix(".safetensors").read_bytes()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{path}: corrupt checkpoint") from None
    if not isinstance(step, int) or path.stem != f"step-{step:08d}":
        raise InputError(f"{path}: corrupt checkpoint (its step is not that of its name)")
    if hashlib.sha256(data).hexdigest() != digest:
        raise InputError(
            f"{path.with_suffix('.safetensors')}: corrupt checkpoint (its content does not match its digest)"
        )
    return load_tensors(path.with_suffix(".safetensors")), state


def newest_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest checkpoint that loads, and what was wrong with newer ones; None where there is none.

    InputError where there are checkpoints and all are corrupt.
    """
    problems: list[str] = []
    paths = list_checkpoints(folder)
    for path in reversed(paths):
        try:
            tensors, state = load_checkpoint(path)
        except InputError as error:
            problems.append(str(error))
            continue
        return tensors, state, problems
    if paths:
        raise InputError(f"{problems[0]}; no older checkpoint loads")
    return None


def packed(kept: Checkpoint | None) -> tuple[bytes, bytes]:
    """A checkpoint, or none, for other processes: its state as JSON, and its tensors as safetensors."""
    if kept is None:
        return b"null", b""
    tensors, state, problems = kept
    return json.dumps([state, problems]).encode(), save(tensors)


def unpacked(state: bytes, tensors: bytes) -> Checkpoint | None:
    """The inverse of `packed`."""
    content = json.loads(state)
    return None if content is None else (load(tensors), *content)


def optimizer_tensors(optimizer: torch.optim.Optimizer, names: list[str]) -> dict[str, Tensor]:
    """The optimiser's state by parameter name."""
    tensors = {}
    for name, parameter in zip(names, optimizer.param_groups[0]["params"], strict=True):
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{key}.{name}"] = torch.as_tensor(value)
    return tensors


def restore_optimizer(optimizer: torch.optim.Optimizer, names: list[str], tensors: dict[str, Tensor]) -> None:
    """The inverse of `optimizer_tensors`, onto the parameters' device. ValueError where a shape does not fit."""
    for name, parameter in zip(names, optimizer.param_groups[0]["params"], strict=True):
        state: dict[str, Tensor] = {}
        for key in ("step", "exp_avg", "exp_avg_sq"):
            value = tensors.get(f"optimizer.{key}.{name}")
            if value is not None:
                if value.shape != (torch.Size() if key == "step" else parameter.shape):
                    raise ValueError(f"optimizer.{key}.{name} has another shape")
                state[key] = value.to(parameter.device, torch.float32) if key == "step" else value.to(parameter)
        if state:
            optimizer.state[parameter] = state
