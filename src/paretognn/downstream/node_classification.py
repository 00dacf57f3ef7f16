"""Node classification: accuracy of the linear probe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretognn.downstream.notices import notify
from paretognn.downstream.parallel import map_seeds
from paretognn.downstream.probe import probe_accuracy, probe_bytes
from paretognn.downstream.scores import TaskScore
from paretognn.graph.graph import Split


def classify(
    embeddings: np.ndarray, codes: np.ndarray, splits: Sequence[Split], names: Sequence[str] | None = None
) -> TaskScore:
    """Accuracy for each split; a split that comes again is not computed again (the probe has no randomness).

    embeddings : float32 [N, d]. codes : int64 [N], -1 where unknown. names : of the classes, for messages.

    Warns where a split leaves a class without training nodes, whose nodes then count as errors.
    """
    distinct = list({id(split): split for split in splits}.values())
    classes = int(codes.max()) + 1
    needed = max((probe_bytes(split, embeddings.shape[1], classes) for split in distinct), default=0)
    found = map_seeds(lambda split: probe_accuracy(embeddings, codes, split), distinct, needed)
    known = {id(split): probe for split, probe in zip(distinct, found, strict=True)}
    probes = [known[id(split)] for split in splits]
    lacking = [probe for probe in probes if probe.absent]
    if lacking:
        absent = sorted({code for probe in lacking for code in probe.absent})
        shown = ", ".join(repr(names[code] if names else str(code)) for code in absent[:5])
        nodes = max(probe.absent_nodes for probe in lacking)
        notify(
            f"{len(lacking)} of {len(probes)} splits have no training node of some class ({shown}): "
            f"its test nodes count as errors, up to {nodes} in a split"
        )
    return TaskScore.of("accuracy", [probe.accuracy for probe in probes], C=[probe.C for probe in probes])
