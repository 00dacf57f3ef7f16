"""What of a run's settings can be refused before its graph is read."""

from __future__ import annotations

from typing import Any

from paretognn.methods.presets import check_preset
from paretognn.methods.rows import find_method
from paretognn.training.config import check_names


def check_asked(overrides: dict[str, Any]) -> None:
    """InputError for a method, a preset or a setting of ``overrides`` (see `method_config`) that there is not."""
    asked = dict(overrides)
    if "method" in asked:
        find_method(asked.pop("method"))
    if "preset" in asked:
        check_preset(asked.pop("preset"))
    asked.pop("sampler", None)
    check_names(asked)
