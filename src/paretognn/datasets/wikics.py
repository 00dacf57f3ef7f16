"""Wiki-CS (Mernyei and Cangea, 2020): articles of computer science, one JSON file."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

import numpy as np

from paretognn.datasets.raw import check_length, compact, number_names, reading, split_of
from paretognn.graph.build import build_graph
from paretognn.graph.graph import Graph


def read_wikics(folder: Path) -> Graph:
    """Read ``data.json``: features [N, D], labels, links, and the public splits (one test mask for all).

    The stopping masks of the file are left out. Raises `InputError` for a damaged file.
    """
    path = folder / "data.json"
    with reading(path):
        content = json.loads(path.read_bytes())
        features = np.array(content["features"], dtype=np.float32)
        labels = np.array(content["labels"], dtype=np.int64)
        nodes = len(labels)
        check_length("features", len(features), nodes)
        links = content["links"]
        check_length("links", len(links), nodes)
        lengths = np.fromiter(map(len, links), np.int64, nodes)
        source = np.repeat(np.arange(nodes), lengths)
        target = np.fromiter(chain.from_iterable(links), np.int64, lengths.sum())
        directed = len(np.unique(source * nodes + target))
        undirected = len(np.unique(np.minimum(source, target) * nodes + np.maximum(source, target)))
        pairs = zip(content["train_masks"], content["val_masks"], strict=True)
        splits = tuple(split_of(train, val, content["test_mask"]) for train, val in pairs)
        check_length("test_mask", len(content["test_mask"]), nodes)
        return build_graph(
            nodes,
            source,
            target,
            features=compact(features),
            labels=labels,
            label_names=number_names(labels),
            splits=splits,
            notes=(f"in the file: {directed:,} directed or {undirected:,} undirected edges, with self-loops",),
        )
