"""What each part of the recipe adds, on graphs that are in none of the paper's tables: a JSON line for each variant.

    python benchmarks/ablation.py --work FOLDER --out benchmarks/results/recipe/ablation.jsonl [--graphs citeseer]

The encoder of a graph is trained once, and its link model, in run folders that are kept and gone on with; the variants
put its output together in other ways, so they differ by nothing else. Lines that are in the file already are not made
again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from hardware import described
from shapes import graph_named

from paretognn.downstream import evaluate_embeddings, metis_partition, split_links
from paretognn.graph import Graph
from paretognn.graph.own_features import own_features_tell
from paretognn.methods import control_embeddings, method_config
from paretognn.methods.controls import CONTROLS
from paretognn.methods.recipe import POSITION, POSITIONS, SMOOTHING, SMOOTHINGS, candidates, recipe, said_of
from paretognn.training import RunFolder, TrainConfig, TrainedEncoder, train, untrained
from paretognn.training.assembly import Assembly, AssemblySettings
from paretognn.training.frozen import reassembled
from paretognn.training.inference import embed
from paretognn.training.prepare import prepare

TUNING = ("citeseer", "digits", "texas", "wisconsin", "minesweeper", "airports-usa", "airports-europe")
TUNING += ("airports-brazil", "reed98", "amherst41", "facebook")
OWN_EVERYWHERE = ("own features, encoder alone", "own features, the recipe")
OWN_EVERYWHERE += ("own features, smoothing 2, positions of 0.5",)
"""Tried on every graph; the others of `auto`'s candidates with own features where their rule holds."""
OWN_TRIED = ((8, 1.5), (32, 1.5), (16, 0.75), (16, 3.0))
"""Columns of own features, and the length of their rows, beside those of the recipe."""


def judged(own: bool) -> list[str]:
    """The names here of what `auto` chooses among, in the order of `candidates`."""
    alone = ["encoder alone" + (f", smoothing {k}" if k else "") for k in SMOOTHINGS]
    beside = [
        "the recipe" if (k, w) == (SMOOTHING, POSITION) else f"smoothing {k}, positions of {w:g}"
        for w in POSITIONS
        for k in SMOOTHINGS
    ]
    return [f"{'own features, ' if own else ''}{name}" for name in (*alone, *beside)]


def variants(config: TrainConfig, own_tell: bool) -> dict[str, tuple[str, dict[str, Any]]]:
    """Of the recipe by name: whose output stands beside the blocks, and the settings. ``own_tell``: whether the rule
    of own features holds, so that `auto` chooses among candidates with them."""
    plain = config.model_dump()
    best, with_own = recipe(plain, False), recipe(plain, True)
    blocks, own = best["blocks"], with_own["blocks"]["own"]
    made = {name: ("trained", settings) for name, settings in zip(judged(False), candidates(plain, False), strict=True)}
    for name in blocks:
        made[f"without {name}"] = "trained", {**best, "blocks": {k: v for k, v in blocks.items() if k != name}}
    for hops, name, width in ((2, "the neighbours'", 64), (0, "the node's own", 32)):
        position = {**blocks["position"], "width": blocks["position"]["width"] - width}
        features = {"source": own["source"], "hops": hops, "width": width}
        other = {**best, "blocks": {**blocks, "position": position, "features": features}}
        made[f"{width} columns of {name} features in place of positions"] = "trained", other
    for name, settings in zip(judged(True), candidates(plain, True), strict=True):
        if own_tell or name in OWN_EVERYWHERE:
            made[name] = "trained", settings
    for width, length in OWN_TRIED:
        components = with_own["components"] + own["width"] - width
        tried = {**with_own["blocks"], "own": {**own, "width": width, "weight": length}}
        settings = {**with_own, "components": components, "blocks": tried}
        made[f"own features, the recipe with {width} of length {length:g}"] = "trained", settings
    made["untrained"] = "untrained", {}
    made["the recipe, untrained encoder"] = "untrained", best
    made["the recipe, no encoder"] = "none", {"blocks": blocks}
    return made


class Encoded:
    """A graph with the outputs of a trained and an untrained encoder, ready to be put together."""

    def __init__(self, graph: Graph, config: TrainConfig, folder: RunFolder) -> None:
        self.graph, self.config = graph, config
        self.placed, _ = prepare(graph, config.features, "cpu")
        if not folder.exists():
            folder.write_config(config)
        if not folder.model_file.exists():
            train(graph, config, folder=folder, resume=True)
        self.trained = TrainedEncoder.load(folder)
        if self.trained.config != config:  # another recipe is judged since
            assert self.trained.config.of_training() == config.of_training()
            folder.write_config(config)
            self.trained, _ = reassembled(self.trained, graph, config, folder)
        raw = untrained(graph, config, "cpu")
        self.outputs = {
            kind: embed(made.encoder, self.placed) for kind, made in (("trained", self.trained), ("untrained", raw))
        }
        self.outputs["none"] = self.outputs["trained"][:, :0]

    def together(self, kind: str, settings: dict[str, Any]) -> np.ndarray:
        chosen, encoded = AssemblySettings.model_validate(settings), self.outputs[kind]
        fitted = Assembly.fit(chosen, encoded, self.graph, self.placed, self.config.seed)
        return fitted(encoded, self.graph, self.placed).numpy()


def study(name: str, steps: int, seeds: int, done: set[str], out: Path, work: Path) -> None:
    """Add the lines of a graph that are not ``done``."""
    graph = graph_named(name)
    config, _ = method_config(graph, "auto", overrides={"steps": steps})
    left = {k: v for k, v in variants(config, own_features_tell(graph)).items() if k not in done}
    controls = [control for control in CONTROLS if control not in done and control != "untrained"]
    split, partition = split_links(graph, config.seed), metis_partition(graph)
    seen = split.train_graph(graph)

    def add(variant: str, points: np.ndarray, linked: np.ndarray, **more: Any) -> None:
        found = evaluate_embeddings(points, graph, seeds=seeds, link=(linked, split), partition=partition)
        line = {
            "graph": name,
            "variant": variant,
            "scores": {task: round(100 * (one.mean or 0.0), 2) for task, one in found.tasks.items()},
            "average": round(100 * (found.average or 0.0), 2),
            **more,
            "steps": steps,
            "evaluation_seeds": seeds,
            "hardware": described(),
        }
        with out.open("a") as file:
            file.write(json.dumps(line) + "\n")

    for control in controls:
        add(control, control_embeddings(control, graph, config), control_embeddings(control, seen, config))
    if not left and "auto" in done:
        return
    home = RunFolder(work / f"{name}-{steps}")
    whole, linked = Encoded(graph, config, home), Encoded(seen, config, RunFolder(home.link_folder))
    if "auto" not in done:
        chosen = whole.trained.assembly.settings, linked.trained.assembly.settings
        add("auto", whole.trained.embed(graph), linked.trained.embed(seen), judged=[said_of(each) for each in chosen])
    for variant, (kind, settings) in left.items():
        add(variant, whole.together(kind, settings), linked.together(kind, settings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", default=list(TUNING))
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--seeds", type=int, default=5, help="evaluation seeds")
    parser.add_argument("--work", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    kept = [json.loads(line) for line in asked.out.read_text().splitlines()] if asked.out.exists() else []
    for name in asked.graphs:
        done = {line["variant"] for line in kept if line["graph"] == name and line["steps"] == asked.steps}
        study(name, asked.steps, asked.seeds, done, asked.out, asked.work)


if __name__ == "__main__":
    main()
