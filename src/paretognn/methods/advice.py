"""What a graph is like in plain words, what to train on it, and what will hurt. Labels are described, and choose
nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretognn.graph import Features, Graph, summarise
from paretognn.graph.homophily import feature_homophily
from paretognn.graph.own_features import own_features_tell, told_by_features
from paretognn.graph.region import walked_region
from paretognn.graph.twins import twin_groups
from paretognn.methods.presets import looks_like_words, preset_settings
from paretognn.methods.rows import DEFAULT

HOMOPHILY = 0.06
"""Feature homophily below which neighbours are hardly more alike than strangers."""
SHARED = 0.1
"""Share of the columns that at least two nodes must have, or features are names and not traits."""
_FEW = 0.01
"""A share of the nodes below which something is not worth a warning."""
_DENSE, _HUBS, _MANY_COMPONENTS, _ONE_CLASS = 0.1, 0.1, 0.5, 0.9
_HEAVY = 0.2
"""Share of all weight at a hundredth of the edges from which weights are uneven."""
_NO_MORE = 0.05
"""Edge homophily from chance, below which it is called that."""
_NODES_FOR_AN_ID = 20
"""Fewer values than that are all different by chance."""


@dataclass(frozen=True)
class Advice:
    """``words``: the graph in sentences. ``preset`` and ``method`` with their reasons; ``method`` is None where there
    is nothing to learn from. ``warnings``: what will hurt. ``feature_homophily`` is None without features or edges."""

    words: tuple[str, ...]
    preset: str
    preset_why: str
    method: str | None
    method_why: str
    warnings: tuple[str, ...]
    feature_homophily: float | None
    twins: int


def advise(graph: Graph, summary: dict[str, Any] | None = None) -> Advice:
    """``summary``: that of `summarise`, where it is there."""
    summary = summarise(graph) if summary is None else summary
    preset_why, own = preset_settings("auto", graph)[1], own_features_tell(graph)
    on_disk = graph.stored is not None
    if on_disk:  # a part of it is looked at: it need not fit into memory
        graph = walked_region(graph, 0)
    alike = feature_homophily(graph) if summary["features"]["count"] and graph.num_edges else None
    twins, crossing = _twins(graph)
    method, why = _method(graph, own, on_disk)
    return Advice(
        words=(*_structure(summary), _features(graph, summary["features"], alike, own), *_labels(summary["labels"])),
        preset="auto",
        preset_why=preset_why,
        method=method,
        method_why=why,
        warnings=(*_hurts(graph, summary, twins, crossing), *_feature_hurts(graph, summary["features"])),
        feature_homophily=alike,
        twins=twins,
    )


def format_advice(advice: Advice) -> list[str]:
    """Plain lines, warnings last."""
    lines = ["in words:", *(f"  {sentence}" for sentence in advice.words)]
    if advice.method is None:
        lines.append(f"advice: nothing to train; {advice.method_why}")
    else:
        lines.append(f"advice: paretognn train --preset {advice.preset} --method {advice.method}")
        lines.append(f"  preset {advice.preset}: settings by the graph's size and the free memory (above)")
        lines.append(f"  method {advice.method}: {advice.method_why}")
    return lines + [f"  will hurt: {warning}" for warning in advice.warnings]


def _structure(s: dict[str, Any]) -> list[str]:
    if not s["edges"]:
        return [f"{s['nodes']:,} nodes that nothing joins"]
    kind = "dense" if s["density"] >= _DENSE else "sparse"
    lines = [
        f"a {kind} graph: {_percent(s['density'])} of all pairs are edges, and half of the nodes have at most "
        f"{s['median_degree']:g} neighbour" + ("" if s["median_degree"] == 1 else "s")
    ]
    even = "uneven" if s["hub_share"] >= _HUBS else "fairly even"
    hubs = s["nodes"] // 100
    most = f"the {hubs:,} nodes (1%)" if hubs > 1 else "the node"
    lines.append(f"degrees are {even}: {_percent(s['hub_share'])} of the ends of edges are at {most} with most of them")
    if s["components"] is None:  # not counted: the graph is on disk
        return lines
    if s["components"] == 1:
        return [*lines, "every node can be reached from every other"]
    share = s["largest_component"] / s["nodes"]
    return [*lines, f"{s['components']:,} components, the largest with {_percent(share)} of the nodes"]


def _features(graph: Graph, f: dict[str, Any], alike: float | None, own: bool) -> str:
    if not f["count"]:
        return "no features: they will be made from degrees and diffused random vectors of the ids"
    kind = "a bag of words, or of other things that a node has or has not" if looks_like_words(graph.features) else ""
    kind = kind or {"one-hot": "categories", "binary": "yes or no", "numeric": "numbers"}[f["kind"]]
    if alike is None:
        return f"features are {kind}"
    said = "are more alike than strangers" if alike >= HOMOPHILY else "are hardly more alike than strangers"
    line = f"features are {kind}; neighbours {said} (feature homophily {alike:.3f})"
    if own:
        told = "{:.0%} by its others, {:.0%} by its neighbours'".format(*told_by_features(graph))
        line += f"; a node's own features tell what its neighbours' do not (half of them: {told})"
    return line


def _labels(labels: dict[str, Any] | None) -> list[str]:
    if labels is None or labels["edge_homophily"] is None:
        return []
    own, chance = labels["edge_homophily"], labels["edge_homophily_by_chance"]
    if own > (1 + chance) / 2:
        said = "mostly share their label"
    elif abs(own - chance) < _NO_MORE:
        said = "share their label about as often as by chance"
    else:
        said = f"share their label {'more' if own > chance else 'less'} often than by chance"
    return [f"neighbours {said} (edge homophily {own:.3f}, by chance {chance:.3f})"]


def _method(graph: Graph, own: bool, on_disk: bool) -> tuple[str | None, str]:
    if not graph.num_edges:
        return None, (
            "without edges an encoder sees one row at a time; from Python, ParetoGNN().fit(matrix) joins every row to "
            "its nearest rows"
        )
    if on_disk:
        return DEFAULT, "the encoder of --method paretognn; the graph is on disk, so nothing stands beside its output"
    beside = "the nodes' own features (they tell what neighbours' do not), " if own else ""
    return DEFAULT, (
        f"the encoder of --method paretognn; beside its leading components stand {beside}positions and degrees, "
        "which need no training"
    )


def _hurts(graph: Graph, s: dict[str, Any], twins: int, crossing: int) -> list[str]:
    found, n = [], s["nodes"]
    if twins:
        public = f"; {crossing:,} test nodes of a public split have one in training" if crossing else ""
        found.append(
            f"{twins:,} nodes have the features and neighbours of another node: split between training and test, such "
            f"twins make scores too good{public}"
        )
    if graph.weights is not None and len(graph.weights):
        heaviest = np.sort(graph.weights)[-max(1, len(graph.weights) // 100) :].sum() / graph.weights.sum()
        if heaviest >= _HEAVY:
            found.append(
                f"edge weights are uneven: 1% of the edges have {_percent(float(heaviest))} of their sum, and most "
                "neighbours hardly count; give their logarithms, or no weights"
            )
    isolated = s["isolated_nodes"]
    if s["edges"] and isolated >= _FEW * n:
        found.append(
            f"{isolated:,} nodes ({_percent(isolated / n)}) have no edge: their embedding is their own features alone"
        )
    joined, largest = n - isolated, s["largest_component"]
    islands = 0 if s["components"] is None else s["components"] - isolated
    if islands > 1 and largest < _MANY_COMPONENTS * joined:
        found.append(
            f"{islands:,} components and none with half of the nodes: clusters, parts and positions will mostly tell "
            "which component a node is in"
        )
    elif islands > 1 and joined - largest >= _FEW * n:
        found.append(
            f"one component holds {_percent(largest / joined)} of the joined nodes, {islands - 1:,} small ones the "
            "rest: no edge says where those lie"
        )
    labels = s["labels"]
    if labels and labels["labelled"]:
        name, size = max(labels["class_sizes"].items(), key=lambda item: item[1])
        share = size / labels["labelled"]
        if share >= _ONE_CLASS:
            found.append(
                f"class '{name}' has {_percent(share)} of the labels, and accuracy as much without learning anything: "
                "judge the other classes by precision and recall"
            )
    return found


def _feature_hurts(graph: Graph, f: dict[str, Any]) -> list[str]:
    if not f["count"]:
        return []
    assert graph.features is not None
    found = []
    if f["constant_columns"]:
        count, verb = (f"{f['constant_columns']:,} feature columns", "are")
        if f["constant_columns"] == 1:
            count, verb = "1 feature column", "is"
        found.append(f"{count} of {f['count']:,} {verb} the same for every node: nothing can be learnt from that")
    if f["zero_rows"] >= _FEW * graph.num_nodes:
        share = f["zero_rows"] / graph.num_nodes
        found.append(
            f"{f['zero_rows']:,} nodes ({_percent(share)}) have no feature: only their neighbours tell of them"
        )
    owners = np.asarray((graph.features != 0).sum(axis=0)).ravel()
    if graph.num_nodes > 1 and (owners > 1).mean() < SHARED:
        found.append(
            "nearly every feature column belongs to a single node: it names nodes, and says nothing of others or of "
            "new ones; give the edges alone"
        )
    columns = graph.feature_columns
    names = [str(place) if columns is None else columns[place].name for place in _id_like(graph.features)]
    if names:
        shown = ", ".join(f"'{name}'" for name in names[:5]) + (", ..." if len(names) > 5 else "")
        found.append(f"every node has a whole number of its own in {shown}, as an id would: see --drop-columns")
    return found


def _twins(graph: Graph) -> tuple[int, int]:
    """Nodes that have an edge, and the features and neighbours of another node; and the test nodes of a public split,
    the worst one, that have such a twin in its training part."""
    groups = twin_groups(graph)
    if groups is None:
        return 0, 0
    joined = groups[graph.degrees > 0]
    count = int((np.bincount(joined, minlength=1)[joined] > 1).sum())
    return count, max(
        (int(np.isin(groups[split.test], groups[split.train]).sum()) for split in graph.splits), default=0
    )


def _id_like(features: Features) -> list[int]:
    """Columns with whole numbers, no two of them equal."""
    n = features.shape[0]
    if n < _NODES_FOR_AN_ID:
        return []
    found = []
    stored: Any = sp.csc_array(features) if sp.issparse(features) else features
    for place in np.flatnonzero(np.asarray((features != 0).sum(axis=0)).ravel() >= n - 1):  # one may be number 0
        column = stored[:, [place]].toarray().ravel() if sp.issparse(stored) else stored[:, place]
        if (column == np.rint(column)).all() and len(np.unique(column)) == n:
            found.append(int(place))
    return found


def _percent(share: float) -> str:
    return f"{share:.2%}" if share < 0.01 or 0.99 < share < 1 else f"{share:.0%}"
