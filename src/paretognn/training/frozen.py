"""A frozen encoder, and what it takes to embed with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from paretognn.errors import InputError
from paretognn.graph import Graph
from paretognn.nn import ENCODERS, GCN, BranchedGCN, FeatureScaling, PyGEncoder
from paretognn.sampling import DeviceGraph
from paretognn.training.assembly import Assembly
from paretognn.training.checkpoint import load_tensors, save_tensors
from paretognn.training.choice import judge, least
from paretognn.training.config import TrainConfig
from paretognn.training.device import require_device
from paretognn.training.inference import ROWS, embed
from paretognn.training.multitask import seeded
from paretognn.training.prepare import beside, prepare
from paretognn.training.run_folder import RunFolder
from paretognn.training.seeds import stream_seed


@dataclass(eq=False)
class TrainedEncoder:
    """A frozen encoder with what it needs to embed: the scaling of features, batch-norm statistics, and the blocks
    beside it.

    steps : how many it was trained for; fewer than the settings' where early stopping ended the run.
    """

    config: TrainConfig
    encoder: nn.Module
    scaling: FeatureScaling
    device: str
    assembly: Assembly
    steps: int = 0

    @property
    def width(self) -> int:
        """The number d of embedding dimensions."""
        return self.assembly.width(int(self.encoder.out_dim))  # type: ignore[arg-type]

    def embed(self, graph: Graph, encode: Callable[[nn.Module, DeviceGraph], Tensor] = embed) -> np.ndarray:
        """float32 [N, d] for any graph with the training graph's feature columns; ``encode`` runs the encoder.

        InputError where features are so far from those of training that the numbers overflow.
        """
        prepared, _ = prepare(graph, self.config.features, self.device, self.scaling)
        encoded = encode(self.encoder, prepared)
        rows = self.assembly(encoded, graph, beside(encoded, graph, prepared, self.scaling))
        return checked(rows, graph, "features of it or its neighbours are too far from those of training")

    def save(self, folder: RunFolder) -> None:
        tensors = {f"encoder.{k}": v for k, v in self.encoder.state_dict().items()}
        tensors["features.mean"] = torch.tensor(self.scaling.mean)
        tensors["features.scale"] = torch.tensor(self.scaling.scale)
        tensors |= {f"assembly.{k}": v for k, v in self.assembly.maps.items()}
        candidates = [self.config.assembly, *self.config.alternatives]
        tensors["assembled"] = torch.tensor(candidates.index(self.assembly.settings))
        tensors["steps"] = torch.tensor(self.steps)
        save_tensors(folder.model_file, tensors)

    @classmethod
    def load(cls, folder: RunFolder, device: str = "cpu", encoder: nn.Module | None = None) -> TrainedEncoder:
        """InputError where the run is not finished, as it was started or extended, its model is damaged, or the device
        is not there."""
        require_device(device)
        config = folder.require_finished().config()
        tensors = load_tensors(folder.model_file)
        try:
            if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values()):
                raise InputError(f"{folder.model_file}: corrupt (it holds NaN or infinite numbers)")
            mean, scale = (tensors.pop(f"features.{part}").float().numpy() for part in ("mean", "scale"))
            if mean.ndim != 1 or mean.shape != scale.shape:
                raise ValueError("one mean and one scale a feature are needed")
            scaling, steps = FeatureScaling(config.features, mean, scale), int(tensors.pop("steps"))
            maps = {k: tensors.pop(k) for k in list(tensors) if k.startswith("assembly.")}
            settings = [config.assembly, *config.alternatives][int(tensors.pop("assembled", torch.tensor(0)))]
            assembly = Assembly.of(settings, {k.removeprefix("assembly."): v for k, v in maps.items()}, device)
            built = build_encoder(config, len(mean), encoder)
            built.load_state_dict({k.removeprefix("encoder."): v for k, v in tensors.items()})
            assembly.check(int(built.out_dim))  # type: ignore[arg-type]
        except InputError:
            raise
        except (IndexError, KeyError, RuntimeError, TypeError, ValueError):
            raise InputError(f"{folder.model_file}: corrupt (it does not match config.yaml)") from None
        if steps < config.steps and config.stopping.name == "never":
            raise InputError(
                f"{folder.path}: was extended from {steps} to {config.steps} steps, which was not finished; "
                f"continue it with: paretognn train --resume --out {folder.path}"
            )
        return cls(config, built.to(device), scaling, device, assembly, steps)


def checked(rows: Tensor, graph: Graph, cause: str) -> np.ndarray:
    """The embeddings float32 [N, d]; InputError naming the first node whose row is not finite."""
    embeddings = rows.float().cpu().numpy()
    lost = np.concatenate(
        [~np.isfinite(part).all(axis=1) for part in np.array_split(embeddings, len(rows) // ROWS + 1)]
    )
    if lost.any():
        first = graph.id_array()[int(lost.argmax())].as_py()
        raise InputError(f"embeddings of {int(lost.sum())} node(s) are not finite, the first '{first}': {cause}")
    return embeddings


def build_encoder(config: TrainConfig, in_dim: int, module: nn.Module | None = None) -> nn.Module:
    """The encoder of ``config`` with weights from its seed, or ``module`` (any PyG encoder) as it is."""
    settings = config.encoder
    if module is not None:
        if settings.operators != ["adjacency"] or settings.name != GCN.name:
            raise InputError(f"the method '{config.method}' has an encoder of its own and takes no other")
        if settings.settings != GCN.Settings():
            raise InputError(f"encoder.settings are those of '{GCN.name}', and an encoder of your own is given")
        return PyGEncoder(module, in_dim)
    with seeded(stream_seed(config.seed, 0, "init/encoder")):
        if settings.operators != ["adjacency"]:
            return BranchedGCN(in_dim, settings)
        built = ENCODERS.find(settings.name)(in_dim, settings)
    if getattr(built, "out_dim", None) != settings.hidden_dims[-1]:
        raise InputError(
            f"the encoder '{settings.name}' is at fault: its out_dim is {getattr(built, 'out_dim', 'not set')}, where "
            f"the last of encoder.hidden_dims is {settings.hidden_dims[-1]}"
        )
    return built


def untrained(graph: Graph, config: TrainConfig, device: str) -> TrainedEncoder:
    """The encoder as `train` would start it, its batch-norm statistics taken from ``graph``."""
    prepared, scaling = prepare(graph, config.features, device)
    encoder = build_encoder(config, prepared.features.width).to(device)
    return freeze(graph, config, device, prepared, scaling, encoder)[0]


def freeze(
    graph: Graph,
    config: TrainConfig,
    device: str,
    prepared: DeviceGraph,
    scaling: FeatureScaling,
    encoder: nn.Module,
    steps: int = 0,
) -> tuple[TrainedEncoder, Tensor]:
    """What embeds from now on, its statistics and blocks those of the training graph; and the embeddings [N, d]."""
    encoded = embed(encoder, prepared, calibrate=True)
    home = beside(encoded, graph, prepared, scaling)
    settings = config.assembly
    if config.alternatives:

        def encode(other: Graph) -> tuple[Tensor, DeviceGraph]:
            if other is graph:
                return encoded, home
            placed, _ = prepare(other, config.features, device, scaling)
            rows = embed(encoder, placed)
            return rows, beside(rows, other, placed, scaling)

        settings = least(judge(graph, encode, (config.assembly, *config.alternatives), config.seed)).assembly
    assembly = Assembly.fit(settings, encoded, graph, home, config.seed)
    return TrainedEncoder(config, encoder, scaling, device, assembly, steps), assembly(encoded, graph, home)


def reassembled(
    trained: TrainedEncoder, graph: Graph, config: TrainConfig, folder: RunFolder
) -> tuple[TrainedEncoder, np.ndarray]:
    """What `train` returns and keeps in ``folder``, of an encoder that was trained on ``graph`` with settings that
    differ from ``config`` in nothing but what is put beside it."""
    prepared, _ = prepare(graph, config.features, trained.device, trained.scaling)
    made, rows = freeze(graph, config, trained.device, prepared, trained.scaling, trained.encoder, trained.steps)
    embeddings = checked(rows, graph, "the run that it was trained in is damaged")
    made.save(folder)
    return made, embeddings
