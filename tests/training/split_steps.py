"""One process of several, with a share of the features: what it holds after some steps, and as it would with all of
them, into FOLDER/RANK.npz; and a whole training, whose embeddings the first one keeps."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from paretognn.graph.mapped import node_parts, open_store
from paretognn.training import MultiTaskModel, MultiTaskStepper, make_config, train
from paretognn.training.frozen import build_encoder
from paretognn.training.prepare import prepare
from paretognn.training.ranks import joined
from paretognn.training.split_features import split_over
from paretognn.training.trainer import follow
from training.rank_steps import STEPS, held
from training.test_mapped import SETTINGS

CONFIG = make_config({**SETTINGS, "steps": STEPS, "features": "standardise"})
LEARNT = {"name": "pseudo-homophily", "settings": {"every": 1, "sampler": {"name": "saint-walk", "seeds": 10}}}
ALIGNED = make_config({**SETTINGS, "steps": STEPS, "reconciler": LEARNT})
"""Its weights come from a sub-graph that each process draws."""


def stepped(placed, ranks, config=CONFIG):
    model = MultiTaskModel(config, placed.features.width, build_encoder(config, placed.features.width))
    own = MultiTaskStepper(model, placed, config, ranks=ranks)
    return [held(own, own.step())[2] for _ in range(STEPS)]


def main(store, folder):
    graph = open_store(store, mapped=True)
    with joined("cpu") as ranks:
        whole, scaling = prepare(graph, CONFIG.features, "cpu")
        split = split_over(ranks, graph, whole, scaling)
        assert (node_parts(store)[split.own.numpy()] % ranks.count == ranks.index).all()
        assert len(split.features._rows) == len(split.own) < graph.num_nodes
        np.savez(
            folder / f"{ranks.index}.npz",
            split=stepped(split, ranks),
            whole=stepped(replace(split, features=whole.features), ranks),
            aligned=stepped(split, ranks, ALIGNED),
            own=split.own.numpy(),
        )
        if ranks.leads:
            _, embeddings = train(graph, CONFIG, ranks=ranks, split_features=True)
            np.save(folder / "embeddings.npy", embeddings)
        else:
            follow(graph, "cpu", ranks)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
