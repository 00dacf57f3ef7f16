"""Which nodes a probe is fitted on, tuned on and judged on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretognn.downstream.labels import encode_labels
from paretognn.downstream.notices import notify
from paretognn.errors import InputError
from paretognn.graph.graph import Graph, Split

Fractions = tuple[float, float, float]
PARTS = ("train", "val", "test")
PAPER_FRACTIONS: Fractions = (0.1, 0.1, 0.8)
# Labels that somebody drew with `default_rng(seed)` (minesweeper's mines were) must not be drawn again as a part.
_STREAM = int.from_bytes(b"split")


def exact_counts(total: int, fractions: Fractions, what: str = "labelled nodes") -> tuple[int, int, int]:
    """Sizes of train, validation and test.

    Each is its fraction of ``total``, rounded, and at least 1 unless the fraction is 0; the largest part
    takes what rounding leaves over. Fractions that sum to less than 1 leave the rest unused.

    Raises InputError for fractions outside [0, 1] or with a sum above 1, and where ``total`` is too small.
    """
    share = np.asarray(fractions, dtype=np.float64)
    if share.shape != (3,) or not np.isfinite(share).all() or share.min() < 0 or share.sum() > 1 + 1e-9:
        raise InputError(f"split fractions must be three numbers >= 0 with a sum of at most 1, not {fractions}")
    wanted = share > 0
    if total < wanted.sum():
        raise InputError(f"a split into {int(wanted.sum())} parts needs at least that many {what}, there are {total}")
    sizes = np.maximum(np.floor(share * total + 0.5).astype(np.int64), wanted)
    largest = int(share.argmax())
    used = total if share.sum() > 1 - 1e-9 else min(total, int(sizes.sum()))
    sizes[largest] = used - (sizes.sum() - sizes[largest])
    return int(sizes[0]), int(sizes[1]), int(sizes[2])


def random_split(labels: Any, seed: int, fractions: Fractions = PAPER_FRACTIONS) -> Split:
    """A random split of the labelled nodes with exact counts (`exact_counts`), a function of its arguments.

    labels : [N] or [N, 1] of any kind that `encode_labels` takes; unlabelled nodes are in no part.

    The split is not stratified, but a class with a single member is kept in train, with a warning.

    Raises InputError with fewer than 2 classes or fewer nodes than parts.
    """
    codes, names = encode_labels(labels)
    if len(names) < 2:
        raise InputError(f"a split for classification needs at least 2 classes, there are {len(names)}")
    labelled = np.flatnonzero(codes >= 0)
    sizes = exact_counts(len(labelled), fractions)
    order = np.random.default_rng([seed, _STREAM]).permutation(labelled)
    single = np.bincount(codes[labelled])[codes[order]] == 1
    if single.any():
        shown = ", ".join(repr(names[code]) for code in np.sort(codes[order[single]])[:3])
        notify(f"{int(single.sum())} class(es) have a single member, which is kept in train: {shown}")
        order = np.concatenate([order[single], order[~single]])
    first, second, third = np.cumsum(sizes)
    return Split(np.sort(order[:first]), np.sort(order[first:second]), np.sort(order[second:third]))


def checked_split(split: Split, codes: np.ndarray, name: str = "public split") -> Split:
    """The split without its unlabelled nodes; says what it leaves out and what it does not use.

    codes : int64 [N], -1 where unknown.

    Raises InputError where parts overlap, repeat a node, reach outside the graph, or train or test is empty.
    """
    parts = [np.asarray(getattr(split, part), dtype=np.int64) for part in PARTS]
    every = np.concatenate(parts)
    if len(every) and (every.min() < 0 or every.max() >= len(codes)):
        raise InputError(f"{name}: a node index lies outside 0..{len(codes) - 1}")
    repeated = len(every) - len(np.unique(every))
    if repeated:
        raise InputError(f"{name}: {repeated} node(s) are in more than one of train, val and test")
    unlabelled = int((codes[every] < 0).sum())
    if unlabelled:
        notify(f"{name}: {unlabelled} of its nodes have no label and are left out")
    unused = int((codes >= 0).sum()) - (len(every) - unlabelled)
    if unused:
        notify(f"{name}: {unused} labelled node(s) are in none of train, val and test")
    train, val, test = (np.sort(part[codes[part] >= 0]) for part in parts)
    if not len(train) or not len(test):
        raise InputError(f"{name}: {'train' if not len(train) else 'test'} has no labelled node")
    return Split(train, val, test)


def choose_splits(graph: Graph, spec: str, seeds: int | Sequence[int], labels: np.ndarray | None = None) -> list[Split]:
    """One split for each evaluation seed.

    spec : ``random`` (10/10/80 drawn by the seed); ``public`` (the i-th seed takes the i-th public split,
        starting again after the last); ``public:i`` (that one for every seed). Equal splits are one object.
    labels : what to split by, [N]; the graph's labels where None.

    Raises InputError for an unknown ``spec``, a public split that the graph does not have, and as
    `random_split` and `checked_split`.
    """
    numbers = range(seeds) if isinstance(seeds, int) else seeds
    labels = graph.labels if labels is None else labels
    if labels is None:
        raise InputError(f"graph '{graph.name}' has no labels to split by")
    if spec == "random":
        return [random_split(labels, seed) for seed in numbers]
    kind, colon, index = spec.partition(":")
    if kind != "public" or (colon and not index.isdecimal()):
        raise InputError(f"unknown split '{spec}': use 'random', 'public' or 'public:i'")
    available = len(graph.splits)
    if not available:
        raise InputError(f"graph '{graph.name}' has no public split: use 'random'")
    if colon and int(index) >= available:
        raise InputError(f"split '{spec}': graph '{graph.name}' has {available} public split(s), 0..{available - 1}")
    wanted = [int(index)] * len(numbers) if colon else [i % available for i in range(len(numbers))]
    codes, _ = encode_labels(labels)
    checked = {i: checked_split(graph.splits[i], codes, f"public split {i}") for i in sorted(set(wanted))}
    return [checked[i] for i in wanted]


def split_digest(split: Split) -> str:
    """SHA-256 (hex) of train, validation and test; the order inside a set is ignored."""
    h = hashlib.sha256()
    for part in PARTS:
        nodes = np.sort(np.asarray(getattr(split, part), dtype="<i8"))
        h.update(f"{part}:{len(nodes)};".encode())
        h.update(nodes.tobytes())
    return h.hexdigest()
