"""Train, validation and test masks as splits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from paretognn.errors import InputError
from paretognn.graph.graph import Split
from paretognn.graph.host import to_host

MASKS = ("train_mask", "val_mask", "test_mask")


def splits_from_masks(masks: Mapping[str, Any], num_nodes: int) -> tuple[tuple[Split, ...], tuple[str, ...]]:
    """One split for each column of the masks [N] or [N, S], and notes on nodes in none of them.

    A mask of one column serves every split; a missing one is empty. Raises InputError for shapes that do not
    fit and for masks that overlap.
    """
    columns: dict[str, np.ndarray] = {}
    for name in MASKS:
        if masks.get(name) is not None:
            mask = to_host(masks[name]).astype(bool)
            if mask.ndim not in (1, 2) or mask.shape[0] != num_nodes:
                raise InputError(f"{name} has shape {mask.shape}, where [{num_nodes}] or [{num_nodes}, S] fits")
            columns[name] = mask.reshape(num_nodes, -1)
    if not columns:
        return (), ()
    count = max(mask.shape[1] for mask in columns.values())
    for name, mask in columns.items():
        if mask.shape[1] not in (1, count):
            raise InputError(f"{name} has {mask.shape[1]} columns, where other masks have {count}")
    splits, notes = [], []
    for k in range(count):
        parts = {name: mask[:, min(k, mask.shape[1] - 1)] for name, mask in columns.items()}
        for one, other in combinations(parts, 2):
            both = np.flatnonzero(parts[one] & parts[other])
            if len(both):
                raise InputError(f"{one} and {other} overlap in {len(both)} node(s) of split {k}: row {both[0]}")
        indices = [np.flatnonzero(parts.get(name, np.zeros(num_nodes, bool))) for name in MASKS]
        splits.append(Split(*indices))
        unused = num_nodes - sum(map(len, indices))
        if unused:
            notes.append(f"split {k}: {unused} of {num_nodes} nodes are in no mask")
    return tuple(splits), tuple(notes[:1] + [f"... and so in {len(notes) - 1} more splits"] * (len(notes) > 1))
