"""The recipe of the methods `best` and `auto`: the encoder of ParetoGNN beside what needs no training.

How its settings were chosen is in docs/does-training-pay.md.
"""

from __future__ import annotations

from typing import Any

from paretognn.training.assembly import AssemblySettings

SMOOTHING, POSITION = 2, 0.5
"""Of `best`: steps of smoothing, and the length of the rows of positions."""
NEIGHBOURHOOD_WIDTH, POSITION_WIDTH, DEGREE_WIDTH = 64, 96, 8
BESIDE = NEIGHBOURHOOD_WIDTH + POSITION_WIDTH + DEGREE_WIDTH
"""Columns that are not the encoder's."""
SMOOTHINGS, POSITIONS = (0, 2, 8), (0.5, 1.0, 2.0)
"""Among which `auto` chooses."""


def recipe(settings: dict[str, Any], smoothing: int = SMOOTHING, position: float = POSITION) -> dict[str, Any]:
    """The assembly: blocks, and the first columns of the encoder's output, in as many columns as that has."""
    # Words count as often as they are there: an encoder needs rows of one size, a linear code does not.
    source = "raw-features" if settings.get("features") == "row" else "features"
    blocks = {
        "neighbourhood": {"source": source, "hops": 2, "width": NEIGHBOURHOOD_WIDTH, "weight": 1.0},
        "position": {"source": "positions", "width": POSITION_WIDTH, "weight": position},
        "degree": {"source": "degree", "width": DEGREE_WIDTH, "weight": 0.3},
    }
    left = settings["encoder"]["hidden_dims"][-1] - BESIDE
    return {"columns": max(1, left), "smoothing": smoothing, "blocks": blocks}


def alternatives(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """To the encoder's output as it is: that output smoothed, and the recipe, from little to much."""
    alone = [{"smoothing": k} for k in SMOOTHINGS if k]
    return [*alone, *(recipe(settings, k, weight) for weight in POSITIONS for k in SMOOTHINGS)]


def said_of(assembly: AssemblySettings) -> str:
    """What an embedding is put together of, in words."""
    columns = "" if assembly.columns is None else f"{assembly.columns} columns of "
    said = f"{columns}the encoder's output"
    if assembly.smoothing:
        said += f", smoothed {assembly.smoothing} times"
    if assembly.blocks:
        blocks = (f"{block.width} of {name} ({block.weight:g})" for name, block in assembly.blocks.items())
        said += f"; beside it {', '.join(blocks)}"
    return said
