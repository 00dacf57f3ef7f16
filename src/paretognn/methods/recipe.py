"""The recipe of the methods `best` and `auto`: the encoder of ParetoGNN beside what needs no training.

How its settings were chosen is in docs/does-training-pay.md.
"""

from __future__ import annotations

from typing import Any

from paretognn.training.assembly import AssemblySettings

SMOOTHING, POSITION, OWN = 0, 0.5, 1.5
"""Of `best`: steps of smoothing, and the length of the rows of positions and of own features."""
POSITION_SHARE, DEGREE_SHARE, OWN_SHARE = 2, 32, 16
"""A half of the columns are positions, one in 32 is a degree's, one in 16 is for own features where these tell what
neighbours do not; the others are the encoder's leading components."""
SMOOTHINGS, POSITIONS = (0, 2, 8), (0.5, 1.0, 2.0)
"""Among which `auto` chooses."""


def recipe(
    settings: dict[str, Any], own: bool, smoothing: int = SMOOTHING, position: float = POSITION
) -> dict[str, Any]:
    """The assembly: components of the encoder's output beside blocks, in as many columns as that output has. ``own``:
    whether own features tell what neighbours do not (`paretognn.graph.own_features`)."""
    width = settings["encoder"]["hidden_dims"][-1]
    blocks = {
        "position": {"source": "positions", "width": width // POSITION_SHARE, "weight": position},
        "degree": {"source": "degree", "width": width // DEGREE_SHARE, "weight": 0.3},
    }
    return _beside(settings, own, smoothing, blocks)


def candidates(settings: dict[str, Any], own: bool) -> list[dict[str, Any]]:
    """Among which `auto` chooses, from little to much: the encoder's output, beside own features where those tell
    something; that smoothed; the recipe."""
    alone = [_beside(settings, own, k, {}) for k in SMOOTHINGS]
    return [*alone, *(recipe(settings, own, k, weight) for weight in POSITIONS for k in SMOOTHINGS)]


def _beside(settings: dict[str, Any], own: bool, smoothing: int, blocks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    width = settings["encoder"]["hidden_dims"][-1]
    if own:
        # Words count as often as they are there: an encoder needs rows of one size, a linear code does not.
        source = "raw-features" if settings.get("features") == "row" else "features"
        blocks = {"own": {"source": source, "width": width // OWN_SHARE, "weight": OWN}, **blocks}
    blocks = {name: block for name, block in blocks.items() if block["width"]}
    if not blocks:
        return {"smoothing": smoothing}
    components = width - sum(block["width"] for block in blocks.values())
    return {"smoothing": smoothing, "components": components, "blocks": blocks}


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
