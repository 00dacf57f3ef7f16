"""Charts of the nodes: the map, scores by degree, nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretognn.downstream.nearest import nearest
from paretognn.errors import InputError
from paretognn.report.by_degree import SAMPLE, ByDegree, accuracy_by_degree
from paretognn.report.chart import GREY, Chart, colour, shown
from paretognn.report.projection import project
from paretognn.report.run import ReportRun

CLASSES = 10
"""Classes that have a colour of their own; smaller ones share the last."""
NEIGHBOURS = 10


def map_chart(place: int, run: ReportRun) -> tuple[Chart, str]:
    """The nodes in two dimensions, coloured by label, partition or degree; and a sentence on how they were placed."""
    projection = project(run.embeddings)
    nodes, points = projection.nodes, np.round(projection.points.astype(np.float64), 2)
    ids = np.array([shown(text) for text in run.graph.id_array().take(nodes).to_pylist()], dtype=object)
    groups: dict[str, list[_Group]] = {}
    if run.graph.labels is not None and (run.graph.labels >= 0).any():
        groups["label"] = _classes(run.graph.labels[nodes], run.graph.label_names)
    parts = run.partition[nodes]
    groups["partition"] = [(f"part {part}", parts == part, colour(k)) for k, part in enumerate(np.unique(parts))]
    traces = []
    for colouring, members in groups.items():
        for k, (name, member, of) in enumerate(members):
            own = {"meta": colouring, "marker": _marker(of), "legendrank": 1000 + (len(members) if of == GREY else k)}
            traces.append(_points(points[member], ids[member], shown(name)) | own)
    degrees = run.graph.degrees[nodes]
    scale = {"colorscale": "Viridis", "color": np.round(np.log10(1 + degrees), 3).tolist(), "colorbar": _bar(degrees)}
    by_degree = _points(points, ids, "degree") | {"meta": "degree", "marker": {**_marker(""), **scale}}
    traces.append({**by_degree, "showlegend": False})
    hidden = {"visible": False, "showgrid": False, "zeroline": False}
    layout = {"xaxis": hidden, "yaxis": {**hidden, "scaleanchor": "x"}, "hovermode": "closest"}
    colourings = [*groups, "degree"]
    for trace in traces:
        trace["visible"] = trace["meta"] == colourings[0]
    n = run.graph.num_nodes
    which = f"All {n:,} nodes" if len(nodes) == n else f"A random sample of {len(nodes):,} of {n:,} nodes"
    chart = Chart(f"map-{place}", run.name, traces, layout, colourings=colourings, height=460)
    return chart, f"{which}, placed by {projection.method}: near means alike, far means little."


def degree_charts(runs: Sequence[ReportRun]) -> list[Chart]:
    """Accuracy of the linear probe by the degree of the test nodes: for labels, and for METIS parts."""
    charts = []
    for name, title in (("label", "Node classification by degree"), ("partition", "Partition prediction by degree")):
        traces, rows, sampled = [], [], False
        for place, run in enumerate(runs):
            codes = run.graph.labels if name == "label" else run.partition
            try:
                found: ByDegree | None = None if codes is None else _by_degree(run, codes)
            except InputError:  # too few nodes or classes for a split
                continue
            if found is None:
                continue
            sampled |= found.left_out
            traces.append({
                "type": "bar", "name": shown(run.name),
                "x": list(found.names), "y": np.round(100 * found.accuracy, 2).tolist(),
                "customdata": found.nodes.tolist(), "marker": {"color": colour(place)}, "showlegend": len(runs) > 1,
                "hovertemplate": "degree %{x}: %{y:.1f}% of %{customdata} test nodes<extra></extra>",
            })  # fmt: skip
            rows += [
                [run.name, degree, f"{100 * accuracy:.1f}", f"{nodes:,}"]
                for degree, accuracy, nodes in zip(found.names, found.accuracy, found.nodes.tolist(), strict=True)
            ]
        if traces:
            title += f", of {SAMPLE:,} random nodes" if sampled else ""
            layout = {"xaxis": {"type": "category", "title": {"text": "degree"}}, "yaxis": {"ticksuffix": "%"}}
            columns = ("run", "degree", "accuracy, %", "test nodes")
            charts.append(Chart(f"degree-{name}", title, traces, layout, columns, rows))
    return charts


def _by_degree(run: ReportRun, codes: np.ndarray) -> ByDegree:
    return accuracy_by_degree(run.embeddings, codes, run.graph.degrees)


@dataclass(frozen=True)
class Near:
    """A node, and its nearest: their ids, cosines, labels, degrees, and whether an edge joins them to it."""

    id: str
    label: str
    degree: int
    rows: Sequence[tuple[str, str, str, int, bool]]


def neighbour_lists(run: ReportRun, most: int = 8) -> list[Near]:
    """For some nodes, from the highest degree to the lowest."""
    graph, n = run.graph, run.graph.num_nodes
    by_degree = np.argsort(-graph.degrees, kind="stable")
    chosen = by_degree[np.unique(np.linspace(0, n - 1, min(most, n)).astype(np.int64))]
    found, cosines = nearest(run.embeddings, chosen, NEIGHBOURS)
    ids = graph.id_array()
    lists = []
    for row, node in enumerate(chosen.tolist()):
        linked = set(graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist())
        near = [
            (ids[other].as_py(), f"{cosine:.3f}", _label(run, other), int(graph.degrees[other]), other in linked)
            for other, cosine in zip(found[row].tolist(), cosines[row].tolist(), strict=True)
        ]
        lists.append(Near(ids[node].as_py(), _label(run, node), int(graph.degrees[node]), near))
    return lists


def _label(run: ReportRun, node: int) -> str:
    labels = run.graph.labels
    return "" if labels is None or labels[node] < 0 else run.graph.label_names[labels[node]]


_Group = tuple[str, np.ndarray, str]
"""A name, bool [M] for the nodes of it, and their colour."""


def _classes(codes: np.ndarray, names: Sequence[str]) -> list[_Group]:
    """The nodes without a label, which are drawn first and so beneath; the largest classes by name, the others
    together."""
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    order = [code for code in np.argsort(-sizes, kind="stable").tolist() if sizes[code]]
    own = order if len(order) <= CLASSES else order[: CLASSES - 1]
    groups = [(names[code], codes == code, colour(k)) for k, code in enumerate(sorted(own))]
    if len(own) < len(order):
        groups.append((f"{len(order) - len(own)} smaller classes", np.isin(codes, order[len(own) :]), colour(len(own))))
    unlabelled = codes < 0
    return [("no label", unlabelled, GREY), *groups] if unlabelled.any() else groups


def _points(points: np.ndarray, ids: np.ndarray, name: str) -> dict[str, object]:
    return {
        "type": "scatter", "mode": "markers", "name": name, "x": points[:, 0].tolist(), "y": points[:, 1].tolist(),
        "text": ids.tolist(), "hovertemplate": "%{text}<extra>%{fullData.name}</extra>",
    }  # fmt: skip


def _marker(of: str) -> dict[str, object]:
    return {"size": 5, "opacity": 0.8, "color": of}


def _bar(degrees: np.ndarray) -> dict[str, object]:
    """A colour bar of log10(1 + degree) that speaks of degrees."""
    top = int(degrees.max())
    ticks = [d for d in (0, 1, 3, 10, 30, 100, 300, 1_000, 10_000, 100_000, 1_000_000) if d < top] + [top]
    return {
        "title": {"text": "degree"},
        "tickvals": np.log10(1 + np.array(ticks)).tolist(),
        "ticktext": [str(t) for t in ticks],
    }
