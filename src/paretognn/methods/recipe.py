"""The recipe of the methods `best` and `auto`: the encoder of ParetoGNN beside what needs no training.

How its settings were chosen is in docs/does-training-pay.md.
"""

from __future__ import annotations

from typing import Any

from paretognn.training.assembly import AssemblySettings

SMOOTHING, POSITION = 2, 0.5
"""Of `best`: steps of smoothing, and the length of the rows of positions."""
POSITION_SHARE, DEGREE_SHARE = 2, 32
"""A half of the columns are positions, one in 32 is a degree's, the others are the encoder's leading components."""
SMOOTHINGS, POSITIONS = (0, 2, 8), (0.5, 1.0, 2.0)
"""Among which `auto` chooses."""


def recipe(settings: dict[str, Any], smoothing: int = SMOOTHING, position: float = POSITION) -> dict[str, Any]:
    """The assembly: components of the encoder's output beside blocks, in as many columns as that output has."""
    width = settings["encoder"]["hidden_dims"][-1]
    widths = {"position": width // POSITION_SHARE, "degree": width // DEGREE_SHARE}
    blocks = {
        "position": {"source": "positions", "width": widths["position"], "weight": position},
        "degree": {"source": "degree", "width": widths["degree"], "weight": 0.3},
    }
    return {
        "smoothing": smoothing,
        "components": width - sum(widths.values()),
        "blocks": {name: block for name, block in blocks.items() if widths[name]},
    }


def alternatives(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """To the encoder's output as it is: that output smoothed, and the recipe, from little to much."""
    alone = [{"smoothing": k} for k in SMOOTHINGS if k]
    return [*alone, *(recipe(settings, k, weight) for weight in POSITIONS for k in SMOOTHINGS)]


def said_of(assembly: AssemblySettings) -> str:
    """What an embedding is put together of, in words."""
    said = "the encoder's output"
    if assembly.components is not None:
        said = f"{assembly.components} components of {said}"
    if assembly.smoothing:
        said += f", smoothed {assembly.smoothing} times"
    if assembly.blocks:
        blocks = (f"{block.width} of {name} ({block.weight:g})" for name, block in assembly.blocks.items())
        said += f"; beside it {', '.join(blocks)}"
    return said
