"""Markdown tables of the speed benchmarks' results: python benchmarks/speed_tables.py benchmarks/results/speed"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

TASKS = ("feat_rec", "topo_rec", "rep_decor", "mi_ng", "mi_nsg")
Row = dict[str, Any]


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def table(head: list[str], body: Iterable[Iterable[Any]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for line in body:
        yield "| " + " | ".join(str(cell) for cell in line) + " |"
    yield ""


def step(rows: list[Row]) -> Iterator[str]:
    stages = [f"{task}/{stage}" for task in TASKS for stage in ("sampling", "forward", "backward")]
    body = []
    for r in rows:
        cells = []
        for task in TASKS:
            parts = [r["stages"].get(stage, 0.0) for stage in stages if stage.startswith(f"{task}/")]
            cells.append(" / ".join(f"{1e3 * part:.0f}" for part in parts))
        ends = [f"{1e3 * r['stages'][name]:.0f}" for name in ("solver", "optimizer")]
        preset = " ".join([r["preset"], *(text.removeprefix("tasks.") for text in r["set"])])
        body.append([r["graph"], preset, f"**{r['seconds']:.2f}**", f"{r['memory']['process_gib']:.2f}", *cells, *ends])
    yield from table(["graph", "preset", "s a step", "GiB above the graph", *TASKS, "solver", "optimizer"], body)


def pyg(rows: list[Row]) -> Iterator[str]:
    body = [
        [
            f"{r['graph']}, {r['sub-graph']}",
            f"{r['nodes']:,}",
            f"{r['entries']:,}",
            f"{r['features']:,} {r['stored']}",
            *(f"{r['milliseconds'][name]:.0f}" for name in ("ours", "csr", "edge_index")),
            f"{r['times_slower']['csr']:.1f}",
            f"{r['times_slower']['edge_index']:.1f}",
        ]
        for r in rows
        if r["part"] == "encoder"
    ]
    yield from table(
        [
            "graph",
            "nodes",
            "entries",
            "features",
            "ours, ms",
            "PyG CSR",
            "PyG edge_index",
            "CSR / ours",
            "edge_index / ours",
        ],
        body,
    )
    body = [
        [f"{r['rows']:,}", *(f"{ms:.0f}" for ms in r["milliseconds"].values()), *r["times_slower"].values()]
        for r in rows
        if r["part"] == "contrast"
    ]
    yield from table(["contrast, nodes", "ours, ms", "dense, ms", "dense / ours"], body)


def roofline(rows: list[Row]) -> Iterator[str]:
    rates = rows[0]["rates"]
    yield f"Rates: {rates['gemm_gflops']} GFLOP/s, {rates['stream_gb_per_s']} GB/s."
    yield ""
    body = [
        [r["graph"], r["part"], r["needed_ms"], r["measured_ms"], r["times"], r.get("times_gathered", "")]
        for r in rows[1:]
    ]
    yield from table(["graph", "part", "needed, ms", "measured, ms", "times", "times, as a gather moves"], body)


def growth(rows: list[Row]) -> Iterator[str]:
    body = [
        [
            r["grows"],
            f"{r['nodes']:,}",
            f"{r['pairs']:,}",
            f"{r['features']:,}",
            "".join(r["set"]).partition("=")[2] or "[512, 256]",
            f"{r['seconds']:.2f}",
            f"{r['memory']['process_gib']:.2f}",
            f"{r['memory']['graph_gib']:.2f}",
        ]
        for r in rows
    ]
    head = ["grows", "nodes", "pairs", "features", "widths", "s a step", "GiB above the graph", "GiB with the graph"]
    yield from table(head, body)


def products(rows: list[Row]) -> Iterator[str]:
    names = list(dict.fromkeys(name for r in rows for name in r["milliseconds"]))
    body = [
        [
            r["matrix"],
            r["width"],
            *(
                f"{r['milliseconds'][n]['forward']:.0f} / {r['milliseconds'][n]['both']:.0f}"
                if n in r["milliseconds"]
                else ""
                for n in names
            ),
        ]
        for r in rows
    ]
    yield from table(["matrix", "width", *names], body)


def alone(steps: list[Row], row: Row) -> float:
    """Seconds of a step of a curve, which may have run beside others, as `step.py` measured it with the machine to
    itself."""
    return next(s["seconds"] for s in steps if all(s[key] == row[key] for key in ("graph", "preset", "set")))


def quality(rows: list[Row], steps: list[Row]) -> Iterator[str]:
    body = [
        [
            r["graph"],
            r["preset"],
            r["steps"],
            f"{r['steps'] * alone(steps, r):.0f}",
            *(f"{score:.1f}" for score in r["scores"].values()),
            f"**{r['average']:.1f}**",
        ]
        for r in rows
    ]
    yield from table(["graph", "preset", "steps", "seconds", "node", "NMI", "link", "partition", "average"], body)


def reached(rows: list[Row], long: list[Row], steps: list[Row]) -> Iterator[str]:
    """When a curve is first within 1 % of the average at the end of the long run of its graph."""
    ends = {r["graph"]: r for r in long}  # the last of each graph
    body = []
    for graph, end in ends.items():
        cells = []
        for preset in dict.fromkeys(r["preset"] for r in rows):
            curve = [r for r in rows if (r["graph"], r["preset"]) == (graph, preset)]
            first = next((r["steps"] for r in curve if r["average"] >= 0.99 * end["average"]), None)
            seconds = (first or 0) * alone(steps, curve[0])
            cells += [f"{first:,}", f"**{seconds:.0f}**"] if first else [f"not by {curve[-1]['steps']:,}", ""]
        stop = end["plateau"]
        there = [r for r in long if r["graph"] == graph and stop is not None and r["steps"] <= stop]
        stopped = [f"{stop:,}", f"{there[-1]['average']:.1f} at {there[-1]['steps']:,}"] if there else ["never", ""]
        body.append([graph, f"{end['steps']:,}", f"{end['average']:.1f}", *cells, *stopped])
    head = ["graph", "steps", "average there", "99 % of it: auto, steps", "seconds", "paper, steps", "seconds"]
    yield from table([*head, "plateau ends it at", "average by then"], body)


def knee(rows: list[Row]) -> Iterator[str]:
    body = [
        [
            r["graph"],
            r["topology"],
            r["others"],
            r["contrast"],
            r["learning_rate"],
            r["steps"],
            *(f"{score:.1f}" for score in r["scores"].values()),
            f"**{r['average']:.1f}**",
        ]
        for r in rows
    ]
    head = ["graph", "sub-graph for topology", "for the others", "contrast", "rate", "steps"]
    yield from table([*head, "node", "NMI", "link", "partition", "average"], body)


def one_setting(rows: list[Row]) -> Iterator[str]:
    """Trials that differ in one setting."""
    body = [
        [
            r["graph"],
            r["method"],
            r["steps"],
            "".join(r["set"]).partition("=")[2],
            *(f"{score:.1f}" for score in r["scores"].values()),
            f"**{r['average']:.1f}**",
            r["evaluation_seeds"],
        ]
        for r in rows
    ]
    name = rows[0]["set"][0].partition("=")[0].removeprefix("tasks.")
    head = ["graph", "method", "steps", name, "node", "NMI", "link", "partition", "average", "evaluation seeds"]
    yield from table(head, body)


def probes(rows: list[Row]) -> Iterator[str]:
    body = [
        [
            r["graph"],
            f"{r['tolerance']:g}",
            *(f"{score:.2f} ({r['seconds'][task]:.1f})" for task, score in r["scores"].items()),
        ]
        for r in rows
    ]
    yield from table(["graph", "tolerance", "node", "link", "partition"], body)


def evaluation(rows: list[Row]) -> Iterator[str]:
    body = [
        [
            f"{r['settings']['nodes']:,} x {r['settings']['width']}",
            f"{r['settings']['edges']:,}",
            r["settings"]["seeds"],
            *(f"{seconds:.1f}" for seconds in r["seconds"].values()),
            f"**{r['evaluation']['wall']:.0f}**",
            f"{r['gib']:.2f}",
        ]
        for r in rows
    ]
    head = ["embeddings", "edges", "seeds", "node", "clusters", "link", "partition", "all, s", "GiB above them"]
    yield from table(head, body)
    body = [
        [name, f"{r['wall']:.1f}", f"{r['disagreeing']:,} of {row['one_probe']['predictions']:,}"]
        for row in rows
        for name, r in row.get("one_probe", {}).items()
        if name != "predictions" and "disagreeing" in r
    ]
    yield from table(["one probe, 21 values of C", "s", "predictions unlike the converged ones"], body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    results = {path.stem: rows_of(path) for path in folder.glob("*.jsonl")}
    for make in (step, pyg, roofline, products, growth, knee, probes, evaluation):
        if make.__name__ in results:
            print(f"### {make.__name__}\n")
            print("\n".join(make(results[make.__name__])))
    if "precision_steps" in results:
        print("### precision_steps\n")
        print("\n".join(step(results["precision_steps"])))
    for trials in ("features", "forms", "rates", "contrast", "norms", "precision", "decorrelation"):
        if trials in results:
            print(f"### {trials}\n")
            print("\n".join(one_setting(results[trials])))
    if "quality" in results:
        print("### quality\n")
        print("\n".join(quality(results["quality"], results["step"])))
    if "horizon" in results:
        print("### horizon\n")
        print("\n".join(reached(results["quality"], results["horizon"], results["step"])))


if __name__ == "__main__":
    main()
