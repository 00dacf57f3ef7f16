"""What is thrown at the program: small graphs of every odd kind, and damage to files.

``PARETOGNN_FUZZ=20`` tries twenty times as many inputs, other ones at every run; without it they are few, and the same
ones always.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

TIMES = int(os.environ.get("PARETOGNN_FUZZ", "1"))
MODERATE = 1e6
"""Features and weights up to this size must train; beyond, an error that says so will do."""


def fuzzed(examples: int) -> settings:
    return settings(
        max_examples=examples * TIMES,
        deadline=None,
        derandomize=TIMES == 1,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],  # an input is small as it is, and shrinking one takes minutes
        report_multiple_bugs=False,
    )


@dataclass(frozen=True)
class RawGraph:
    """``ids`` [N], ``edges`` between positions, ``weights`` [E] or None, ``features`` float64 [N, D] or None,
    ``labels`` [N] (None where unknown) or None."""

    ids: list[str]
    edges: list[tuple[int, int]]
    weights: list[float] | None
    features: np.ndarray | None
    labels: list[str | None] | None

    @property
    def moderate(self) -> bool:
        """Whether nothing in it is an excuse for an error."""
        values = [np.ravel(part) for part in (self.features, self.weights) if part is not None]
        every = np.concatenate([*values, [0.0]])
        weights = np.zeros(1) if self.weights is None or not self.weights else np.array(self.weights)
        with np.errstate(invalid="ignore"):
            return bool(self.ids and (np.abs(every) <= MODERATE).all() and (weights >= 0).all())


def _edges(kind: str, n: int, draw: Any) -> list[tuple[int, int]]:
    if kind == "none":
        return []
    if kind == "complete":
        return [(a, b) for a in range(n) for b in range(a)]
    if kind == "star":
        return [(0, b) for b in range(1, n)]
    if kind == "path":
        return [(a, a + 1) for a in range(n - 1)]
    if kind == "pairs":
        return [(a, a + 1) for a in range(0, n - 1, 2)]
    node = st.integers(0, n - 1)
    return draw(st.lists(st.tuples(node, node), max_size=4 * n))


ODD_IDS = ["007", "7", "NA", "null", "1e5", "-0", "9007199254740993", "a b", "é", "\U0001f600", 'q"q', "c,d", "x" * 300]
CONTENT: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "zero": lambda r, n, d: np.zeros((n, d)),
    "constant": lambda r, n, d: np.full((n, d), 3.5),
    "equal rows": lambda r, n, d: np.tile(r.standard_normal(d), (n, 1)),
    "two kinds of rows": lambda r, n, d: r.standard_normal((2, d))[np.arange(n) % 2],
    "normal": lambda r, n, d: r.standard_normal((n, d)),
    "words": lambda r, n, d: (r.random((n, d)) < 0.2).astype(float),
    "counts": lambda r, n, d: r.poisson(0.3, (n, d)).astype(float),
    "zero rows": lambda r, n, d: r.standard_normal((n, d)) * (r.random((n, 1)) < 0.5),
    "constant columns": lambda r, n, d: np.where(r.random(d) < 0.5, 1.0, r.standard_normal((n, d))),
    "one alone": lambda r, n, d: np.eye(n, d),
    "far from zero": lambda r, n, d: 1e6 - r.random((n, d)),
    "scales apart": lambda r, n, d: r.standard_normal((n, d)) * 10.0 ** r.integers(-6, 6, d),
    "tiny": lambda r, n, d: r.standard_normal((n, d)) * 1e-30,
    "denormal": lambda r, n, d: r.random((n, d)) * 1e-42,
    "huge": lambda r, n, d: r.standard_normal((n, d)) * 1e36,
    "beyond float32": lambda r, n, d: r.standard_normal((n, d)) * 1e300,
    "NaN": lambda r, n, d: np.where(r.random((n, d)) < 0.2, np.nan, 1.0),
    "infinite": lambda r, n, d: np.where(r.random((n, d)) < 0.2, np.inf, 1.0),
}
WEIGHTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "one": lambda r, e: np.ones(e),
    "random": lambda r, e: r.random(e),
    "some zero": lambda r, e: (r.random(e) < 0.5) * 2.0,
    "all zero": lambda r, e: np.zeros(e),
    "large": lambda r, e: r.random(e) * 1e6,
    "tiny": lambda r, e: r.random(e) * 1e-40,
    "huge": lambda r, e: r.random(e) * 1e38,
    "negative": lambda r, e: r.standard_normal(e),
    "NaN": lambda r, e: np.where(r.random(e) < 0.3, np.nan, 1.0),
}


@st.composite
def raw_graphs(draw: Any, smallest: int = 0) -> RawGraph:
    n = draw(st.sampled_from([0, 1, 2, 3, 5, 8, 13, 30]).filter(lambda n: n >= smallest))
    numbers = np.random.default_rng(draw(st.integers(0, 99)))
    kind = draw(st.sampled_from(["none", "complete", "star", "path", "pairs", "any", "any", "any"]))
    edges = _edges(kind, n, draw) if n else []
    if draw(st.booleans()):
        edges = edges + [(b, a) for a, b in edges[::2]] + edges[:3]
    weights = None
    if draw(st.integers(0, 3)) == 0:
        weights = WEIGHTS[draw(st.sampled_from(list(WEIGHTS)))](numbers, len(edges)).tolist()
    features = None
    if draw(st.integers(0, 5)):
        width = draw(st.sampled_from([1, 2, 4, 9, 40]))
        features = CONTENT[draw(st.sampled_from(list(CONTENT)))](numbers, n, width)
    classes = draw(st.sampled_from([0, 0, 1, 2, 3, n]))
    labels = [f"c{k % classes}" for k in range(n)] if classes else None
    if labels is not None and draw(st.booleans()):
        labels = [None if numbers.random() < 0.3 else label for label in labels]
    plain = [f"n{k}" for k in range(n)]
    ids = (ODD_IDS + plain)[:n] if draw(st.booleans()) else plain
    return RawGraph(ids, edges, weights, features, labels)


SPARSE = {
    f"{form}_{kind}": getattr(sp, f"{form}_{kind}")
    for form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    for kind in ("array", "matrix")
}
SAMPLERS = [
    {"name": "full"},
    {"name": "saint-walk", "seeds": 3, "hops": 2},
    {"name": "saint-node", "seeds": 4},
    {"name": "k-hop", "seeds": 2, "hops": 1},
]


def narrow(sampler: dict[str, Any] | None = None) -> dict[str, Any]:
    """Settings under which a step takes milliseconds."""
    tree: dict[str, Any] = {
        "encoder": {"hidden_dims": [6, 4]},
        "tasks": {"mi_nsg": {"projection": 4, "contrast": 8}},
    }
    return tree if sampler is None else {**tree, "sampler": sampler}


# --- Damage ----------------------------------------------------------------------------------------------------------

JUNK = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from(
        [b"PAR1", b"PK\x03\x04", b"\x1f\x8b\x08", b"\x93NUMPY\x01\x00", b"\x80\x04", b"{", b"[[", b"- &a [*a]"]
    ).flatmap(lambda head: st.binary(max_size=60).map(lambda tail: head + tail)),
)


@st.composite
def damaged_bytes(draw: Any, whole: bytes) -> bytes:
    """``whole`` cut short, with bytes changed, with something put in or taken out, or other bytes altogether."""
    kind = draw(st.sampled_from(["cut", "changed", "changed", "spliced", "junk"]))
    if kind == "junk" or not whole:
        return draw(JUNK)
    place = st.integers(0, len(whole) - 1)
    if kind == "cut":
        return whole[: draw(place)]
    content = bytearray(whole)
    if kind == "spliced":
        start = draw(place)
        content[start : start + draw(st.integers(0, 20))] = draw(st.binary(max_size=20))
        return bytes(content)
    for _ in range(draw(st.integers(1, 4))):
        content[draw(place)] = draw(st.integers(0, 255))
    return bytes(content)


VALUES = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf")),
        *("", "x", "mgda", "nan", "../../x", [], {}, [[]], [0], ["x"], {"x": 1}, {"name": []}, [None], {"": None}),
    ]
)


@st.composite
def damaged_tree(draw: Any, tree: Any) -> Any:
    """A tree of mappings and lists with some values replaced or left out, keys renamed."""
    for _ in range(draw(st.integers(1, 2))):
        tree = _changed(draw, tree)
    return tree


def _changed(draw: Any, tree: Any) -> Any:
    if not isinstance(tree, dict | list) or not tree or draw(st.integers(0, 6)) == 0:
        return draw(VALUES)
    if isinstance(tree, list):
        place = draw(st.integers(0, len(tree) - 1))
        if draw(st.integers(0, 5)) == 0:
            return tree[:place]
        return [*tree[:place], _changed(draw, tree[place]), *tree[place + 1 :]]
    key = draw(st.sampled_from(list(tree)))
    kind = draw(st.integers(0, 9))
    rest = {name: value for name, value in tree.items() if name != key}
    if kind == 0:
        return rest
    if kind == 1:
        return {**rest, f"{key}x": tree[key]}
    return {**tree, key: _changed(draw, tree[key])}


def damaged_json(whole: bytes) -> st.SearchStrategy[bytes]:
    return damaged_tree(json.loads(whole)).map(lambda tree: json.dumps(tree).encode())


@st.composite
def damaged_safetensors(draw: Any, whole: bytes) -> bytes:
    """With another header, or with values of another kind."""
    size = struct.unpack("<Q", whole[:8])[0]
    header, body = json.loads(whole[8 : 8 + size]), bytearray(whole[8 + size :])
    name = draw(st.sampled_from(sorted(header)))
    kind = draw(st.sampled_from(["shape", "dtype", "tree", "lost", "values", "renamed"]))
    if kind == "shape":
        header[name]["shape"] = draw(
            st.sampled_from([[], [1], header[name]["shape"][::-1], [*header[name]["shape"], 1]])
        )
    elif kind == "dtype":
        header[name]["dtype"] = draw(st.sampled_from(["F32", "I32", "F16", "BOOL", "F64", "U8", "BF16", "F8_E4M3"]))
    elif kind == "lost":
        del header[name]
    elif kind == "renamed":
        header[name + "x"] = header.pop(name)
    elif kind == "tree":
        header = draw(damaged_tree(header))
    else:
        start, end = header[name]["data_offsets"]
        body[start:end] = draw(st.sampled_from([b"\xff", b"\x7f", b"\x00"])) * (end - start)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(body)
