"""Presets: settings for a graph by name. ``paper``: the published table; ``auto`` and ``quick``: by size."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretognn.errors import InputError, suggest
from paretognn.graph import Features, Graph
from paretognn.training import make_config
from paretognn.training.memory import estimate, free_memory

PRESETS = ("auto", "quick", "paper")
_PUBMED = "pubmed"


def preset_settings(name: str, graph: Graph, steps: int | None = None) -> tuple[dict[str, Any], str]:
    """A tree of settings (all but method and seed) and one sentence that says which and why.

    steps : those of the run, where they are not the preset's; a schedule is laid out over them.
    """
    check_preset(name)
    if name == "paper":
        return _paper(graph.name, steps)
    return _by_size(graph, STEPS[name] if steps is None else steps)


def check_preset(name: object) -> None:
    """InputError for a preset that there is not."""
    if name not in PRESETS:
        raise InputError(f"unknown preset '{name}'{suggest(name, PRESETS)}; known: {', '.join(PRESETS)}")


def paper_table() -> dict[str, Any]:
    """The paper's hyper-parameter table by data set."""
    text = files("paretognn.methods").joinpath("paper_hyperparameters.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def widest_sampler(settings: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """The largest sub-graph that a preset's settings let one task see."""
    topology = settings["tasks"]["topo_rec"]["sampler"]
    if isinstance(topology, dict):
        return topology
    if graph.num_nodes <= PAPER_WHOLE_UP_TO:
        return {"name": "full"}
    return {"name": "saint-node", "seeds": PAPER_BUDGET}


def _paper(dataset: str, steps: int | None) -> tuple[dict[str, Any], str]:
    table = paper_table()
    column = dataset if dataset in table else _PUBMED
    row = table[column]
    tasks = {
        "feat_rec": {
            "sampler": _sampler(row["feat_rec"]),
            "node_mask": row["feat_rec"]["node_mask_ratio"],
            "edge_drop": row["feat_rec"]["edge_drop_ratio"],
        },
        "topo_rec": {"sampler": "sage", "batch_size": row["topo_rec"]["batch_size"], "fanouts": [15, 10, 5]},
        "rep_decor": {
            "sampler": _sampler(row["rep_decor"]),
            "edge_drop": row["rep_decor"]["edge_drop_ratio"],
            "feature_mask": row["rep_decor"]["feature_mask_ratio"],
            "alpha": row["rep_decor"]["alpha"],
        },
        "mi_ng": {"sampler": _sampler(row["mi_ng"])},
        "mi_nsg": {
            "sampler": _sampler(row["mi_nsg"]),
            "edge_drop": row["mi_nsg"]["edge_drop_ratio"],
            "feature_mask": row["mi_nsg"]["feature_mask_ratio"],
            "temperature": row["mi_nsg"]["temperature"],
            "contrast": "all",
        },
    }
    settings = {
        "steps": row["train"]["steps"] if steps is None else steps,
        "encoder": {k: row["encoder"][k] for k in ("hidden_dims", "norm", "activation")},
        "tasks": tasks,
        "optimizer": {k: row["optimizer"][k] for k in ("learning_rate", "weight_decay")},
    }
    why = f"the paper's settings for {column}"
    return settings, why if column == dataset else f"{why}, since the paper has none for this graph"


def _sampler(row: dict[str, Any]) -> dict[str, Any]:
    """One of the table's samplers in our terms."""
    if row["sampler"] == "full" or row["seed_nodes"] == "full":
        return {"name": "full"}
    sampler = {"name": row["sampler"], "seeds": row["seed_nodes"]}
    if row["sampler"] == "k-hop":
        sampler["hops"] = row["k"]
    return sampler


PAPER_WHOLE_UP_TO, PAPER_BUDGET = 50_000, 10_000
"""Where `paper` samples pairs: nodes up to which one task alone sees the whole graph, and GraphSAINT draws above. The
paper's starred rows, on its two OGB graphs, are trained on GraphSAINT's sub-graphs."""
WHOLE_UP_TO = (8_000, 250_000)
"""Nodes and edges up to which `auto` and `quick` reconstruct the topology of the whole graph. That task alone gains
from it: on actor, all five tasks on the whole graph scored no more than this one (docs/trials.md)."""
WORDS = (0.5, 10.0)
"""What makes features a bag of words: none is negative, at most this share is not zero, and no column's mean (of what
is not zero) is more than so many times the median one's."""
_LOOKED_AT = 50_000
"""Rows of features that are looked at, evenly spread."""
WALKS = (320, 160, 80)
"""Random walks of `WALK_STEPS` steps that make a sub-graph: the most that memory allows."""
WALK_STEPS = 4
TOPOLOGY_WALKS = 4
"""Times as many for topology reconstruction, where it does not see the whole graph."""
CONTRAST = 512
"""Nodes of a sub-graph that are anchors and negatives of the contrast."""
STEPS = {"auto": 500, "quick": 150}


def _by_size(graph: Graph, steps: int) -> tuple[dict[str, Any], str]:
    n, edges = graph.num_nodes, graph.num_edges
    small = n <= WHOLE_UP_TO[0] and edges <= WHOLE_UP_TO[1]
    features = "row" if looks_like_words(graph.features) else "standardise"
    for walks in WALKS:
        topology = {"name": "full"} if small else _walks(TOPOLOGY_WALKS * walks)
        settings = {"features": features, **_sampled(steps, _walks(walks), topology)}
        if _fits(graph, settings):
            break
        small = False
    seen = "the edges of the whole graph" if small else f"edges of {TOPOLOGY_WALKS * walks:,} random walks"
    scaled = "; rows of features divided by their sum" if features == "row" else ""
    less = "" if walks == WALKS[0] else ", as memory allows no more"
    return settings, f"{n:,} nodes and {edges:,} edges: {seen}, other tasks on {walks} random walks{less}{scaled}"


def looks_like_words(features: Features | None) -> bool:
    """Whether the features [N, D] are a bag of words, or of other things that a node has or has not. Their rows are
    divided by their sum: on citeseer and texas that is better than standardising, which makes the rarest words the
    loudest (docs/trials.md)."""
    if features is None or not min(features.shape):
        return False
    rows = features[:: -(-features.shape[0] // _LOOKED_AT)]
    entries = rows if isinstance(rows, np.ndarray) else rows.data
    if not entries.any() or entries.min() < 0 or np.count_nonzero(entries) > WORDS[0] * np.prod(rows.shape):
        return False
    stored = sp.csc_array(rows)
    stored.eliminate_zeros()
    counts, sums = np.diff(stored.indptr), np.asarray(stored.sum(axis=0), dtype=np.float64).ravel()
    means = sums[counts > 0] / counts[counts > 0]
    return bool(means.max() <= WORDS[1] * np.median(means))


def _walks(roots: int) -> dict[str, Any]:
    return {"name": "saint-walk", "seeds": roots, "hops": WALK_STEPS}


def _sampled(steps: int, sampler: dict[str, Any], topology: dict[str, Any]) -> dict[str, Any]:
    return {
        "steps": steps,
        "encoder": {"hidden_dims": [512, 256], "norm": "batch", "activation": "prelu"},
        "tasks": {
            "feat_rec": {"sampler": sampler},
            "topo_rec": {"sampler": topology, "batch_size": 5120},
            "rep_decor": {"sampler": sampler},
            "mi_ng": {"sampler": sampler},
            "mi_nsg": {"sampler": sampler, "contrast": CONTRAST},
        },
        "optimizer": {"learning_rate": 3e-3, "weight_decay": 1e-5},
        "schedule": {"name": "cosine", "warmup_steps": 10, "horizon_steps": steps, "final_fraction": 0.05},
    }


def _fits(graph: Graph, settings: dict[str, Any]) -> bool:
    return estimate(graph, make_config(settings)) < free_memory("cpu")
