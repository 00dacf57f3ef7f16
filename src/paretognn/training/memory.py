"""What a run will take, before it starts: peak memory from the shapes, seconds a step from two steps."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import torch

from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.graph.region import REGION
from paretognn.graph.structural import RANDOM_DIMS
from paretognn.nn.off_device import feature_bytes, fits
from paretognn.pretext.info_nce import KEEP_BYTES
from paretognn.pretext.mi_nsg import MINSGSettings
from paretognn.pretext.topo_rec import SEEN, TopoRecSettings, hidden_rows
from paretognn.sampling import Sampler, SamplerSettings
from paretognn.training.config import TrainConfig
from paretognn.training.frozen import build_encoder
from paretognn.training.inference import FEWER, ROWS
from paretognn.training.multitask import MultiTaskModel, MultiTaskStepper
from paretognn.training.prepare import prepare

try:
    import resource
except ImportError:  # Windows has none, and says the peak elsewhere.
    resource = None  # type: ignore[assignment]

PROCESS = 450 << 20
"""The interpreter with its libraries."""
_KEPT = {"batch": 5.0, "layer": 4.0, "none": 3.0}
"""Matrices [M, width] alive for one layer of one view at the height of a step, by the encoder's norm: those kept
for the backward pass and its temporaries. Set from measured peaks (benchmarks/memory.py)."""
_VIEWS = {"feat_rec": 1, "topo_rec": 1, "clu": 1, "par": 1, "pair_sim": 1, "pair_dis": 2, "mvgrl": 4, "bgrl": 3}
"""Encodings of a step, where they are not two; the pairs of `pair_dis` and the target of `bgrl` count as one."""
_K_MEANS, _K_MEANS_ROWS = 100 << 20, 4 * 4096
"""scikit-learn where a run clusters, and the rows of features that are dense at once, with their copies."""
_FITTED = 6
"""Matrices [N, width] alive while a block is fitted."""
_JUDGED = 8
"""Matrices [M, width] of the judged region that come on top where there is something to choose from."""
_DIFFUSION = 1000
"""Entries of a row of a diffusion: on amazon-photo, where it is dense."""


def estimate(graph: Graph, config: TrainConfig, device: str = "cpu") -> int:
    """Peak bytes of training in the memory of ``device``: process, graph, parameters, and the heavier of the costliest
    task's step and the embedding of all nodes. Of a GPU without what does not fit there, and so stays on the host."""
    n, entries = graph.num_nodes, 2 * graph.num_edges
    width_in = graph.num_features or RANDOM_DIMS + 2
    widths = config.encoder.hidden_dims
    sparse, stored = False, n * width_in * 8
    if graph.features is not None and not isinstance(graph.features, np.ndarray):
        sparse, stored = True, graph.features.nnz * 8 * 3
    structure = entries * (4 + 8) + n * 16
    if graph.stored is not None:  # structure and features stay on disk
        stored, structure = 0, n * 32
    on_gpu = device == "cuda"
    if on_gpu:
        held = n * width_in * 4 if graph.features is None else feature_bytes(graph.features)
        stored, structure = held if fits(held, torch.device(device)) else 0, entries * 8 + n * 32
    pairs = zip([width_in, *widths], widths, strict=False)
    shared = sum(a * b for a, b in pairs) * 4
    heads = (width_in * widths[-1] + 6 * widths[-1] ** 2) * 4
    parameters = shared * (len(config.tasks) + 6) + heads * 4
    heaviest = max(_task_bytes(name, graph, config, width_in, sparse) for name in config.tasks)
    # Embedding all nodes holds a layer's input, its image and its output, beside freed memory that is kept; the
    # features are stored already. The factor is from measured peaks (benchmarks/memory.py).
    embedding = 1.5 * n * 4 * max(2 * b + a for a, b in zip([0, *widths], widths, strict=False))
    if graph.stored is not None or (on_gpu and not fits(int(embedding), torch.device(device))):
        near = min(n, min(n, ROWS // FEWER) * (1 + entries / n))  # distinct neighbours of a batch
        embedding = 4 * (near * 6 * width_in + ROWS * (4 * entries / n + 3 * max(widths)))
    blocks = [block for each in (config.assembly, *config.alternatives) for block in each.blocks.values()]
    # A block's basis, its image and what orthogonalising them takes; then all that is put together, twice.
    fitted = max((_FITTED * n * block.width * 4 for block in blocks if block.source != "degree"), default=0)
    embedding = max(embedding, fitted, 3 * n * config.width * 4 if blocks else 0)
    if config.alternatives:
        embedding += _JUDGED * min(n, REGION) * config.width * 4
    if any(block.source == "raw-features" for block in blocks):
        stored *= 2
    if "diffusion" in config.encoder.operators:
        stored += n * min(n, _DIFFUSION) * 24
    if "clu" in config.tasks:
        stored += min(4 * n, _K_MEANS_ROWS) * width_in * 4
    if "clu" in config.tasks or config.reconciler.name == "pseudo-homophily" or config.search.name != "none":
        stored += _K_MEANS
    return int(PROCESS + stored + structure + parameters + max(heaviest, embedding))


def _task_bytes(name: str, graph: Graph, config: TrainConfig, width_in: int, sparse: bool) -> float:
    settings = config.tasks[name]
    widths = config.encoder.hidden_dims
    rows = graph.num_nodes
    sampler = getattr(settings, "sampler", SamplerSettings())
    if isinstance(sampler, Sampler):
        rows = sampler.expected_nodes(graph.num_nodes, 2 * graph.num_edges / graph.num_nodes)
    elif isinstance(settings, TopoRecSettings):
        rows = min(rows, hidden_rows(settings, len(widths), graph.num_nodes), SEEN)
    views = _VIEWS.get(name, 2)
    entries = 2 * graph.num_edges * rows / graph.num_nodes
    layer_in = 0 if sparse else 2 * width_in
    bytes_ = views * (rows * (sum(_KEPT[config.encoder.norm] * w for w in widths) + layer_in) * 4 + entries * 20)
    if isinstance(settings, MINSGSettings):
        contrast = rows if isinstance(settings.contrast, str) else min(rows, settings.contrast)
        if settings.contrast == "seeds" and settings.sampler.seeds:
            contrast = min(rows, settings.sampler.seeds)
        bytes_ += min(KEEP_BYTES, 2 * contrast * 2 * contrast * 2) + contrast * widths[-1] * 4 * 12
    return float(bytes_)


def free_memory(device: str) -> int:
    """Bytes that a run could still take on ``device``, and on a CPU within its container's limit."""
    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    left = [limit for folder in _CONTROL_GROUPS if (limit := _left_in(folder)) is not None]
    return int(min([psutil.virtual_memory().available, *left]))


_CONTROL_GROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory"))
"""Where Linux keeps a container's limits, in its second and its first version."""


def _left_in(folder: Path) -> int | None:
    """Of the limit on memory that a control group sets; None where it sets none. File cache gives way, and counts as
    free."""
    for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        try:
            most, taken = int((folder / limit).read_text()), int((folder / used).read_text())
            cache = re.search(r"^(?:total_)?inactive_file (\d+)$", (folder / "memory.stat").read_text(), re.MULTILINE)
        except (OSError, ValueError):  # no such group, or "max"
            continue
        return max(0, most - taken + (int(cache[1]) if cache else 0))
    return None


def require_memory(needed: int, device: str) -> None:
    """InputError where the device has less memory free than ``needed``."""
    free = free_memory(device)
    if needed > free:
        raise InputError(
            f"training needs about {needed / 2**30:.1f} GiB, {free / 2**30:.1f} GiB are free; use --preset auto, "
            "smaller sub-graphs (--sampler saint-node --budget N) or --set encoder.hidden_dims=[128,64]"
        )


def peak_memory() -> int:
    """Peak resident bytes of this process so far; 0 where the system does not say."""
    usage = getattr(psutil.Process().memory_info(), "peak_wset", None)
    if usage is not None:
        return int(usage)
    with suppress(OSError):
        # Of this program alone: what `resource` says begins, on Linux, with the memory of whoever started it.
        found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
        if found:
            return int(found[1]) * 1024
    if resource is None:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def probe_seconds(graph: Graph, config: TrainConfig, device: str = "cpu") -> float:
    """Seconds of the second of two steps on this machine; nothing is kept."""
    prepared, _ = prepare(graph, config.features, device)
    model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width)).to(device)
    stepper = MultiTaskStepper(model, prepared, config)
    stepper.step()
    return stepper.step().seconds
