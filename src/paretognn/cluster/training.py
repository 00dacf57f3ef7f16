"""Training by several processes on a Ray cluster: Ray Train starts them, and starts them again where one is lost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import ray
from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
from ray.train.torch import TorchConfig, TorchTrainer

from paretognn.atomic import PARTIAL
from paretognn.cluster.connection import RETRIES, said
from paretognn.errors import InputError, NonFiniteError
from paretognn.methods import searched_in
from paretognn.sources import GraphSource, run_graph
from paretognn.training import RunFolder, train, write_embeddings
from paretognn.training.checkpoint import newest_checkpoint
from paretognn.training.cost import CostLog
from paretognn.training.ranks import RankLost, joined
from paretognn.training.tensorboard import TensorBoard
from paretognn.training.trainer import follow


def train_on_cluster(
    folder: RunFolder,
    source: GraphSource,
    workers: int,
    device: str,
    tensorboard: bool = False,
    split_features: bool = False,
) -> None:
    """Train the run of ``folder``, whose config.yaml and graph.json are there, by ``workers`` processes, and write its
    model and embeddings.

    A worker that is lost ends the others; all begin again at the newest checkpoint, up to three times. InputError and
    NonFiniteError as `train`; RankLost where workers are lost more often. Its cost is recorded as that of the worker
    that leads.
    """
    path = folder.path.resolve()
    has = ray.cluster_resources()
    name = "GPU" if device == "cuda" else "CPU"
    if has.get(name, 0) < workers:
        raise InputError(f"--ray-workers {workers}: the cluster has {int(has.get(name, 0))} {name}s, one a worker")
    own = f"{PARTIAL}ray"  # what Ray Train keeps beside the run
    trainer = TorchTrainer(
        _train,
        train_loop_config={
            "folder": str(path),
            "source": source.to_json(),
            "device": device,
            "tensorboard": tensorboard,
            "split_features": split_features,
        },
        torch_config=TorchConfig(backend="nccl" if device == "cuda" else "gloo"),
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=device == "cuda", resources_per_worker={"CPU": 1}),
        run_config=RunConfig(
            name=own,
            storage_path=str(path),
            failure_config=FailureConfig(max_failures=RETRIES),
        ),
    )
    try:
        trainer.fit()
    except TrainingFailedError as error:
        raise _reason(error, folder) from None
    finally:
        shutil.rmtree(path / own, ignore_errors=True)


def _train(asked: dict[str, Any]) -> None:
    """In each worker."""
    folder, device = RunFolder(Path(asked["folder"])), asked["device"]
    if not folder.exists():
        raise InputError(
            f"{folder.path}: machine {ray.util.get_node_ip_address()} does not see it; --out must be on storage that "
            "all machines of the cluster share"
        )
    source = GraphSource.from_json(asked["source"], folder.graph_json)
    with joined(device) as ranks:
        graph = run_graph(folder, source)
        if not ranks.leads:
            follow(graph, device, ranks)
            return
        trackers = [TensorBoard(folder.path / "tensorboard")] if asked["tensorboard"] else []
        config, split = searched_in(folder, graph, folder.config(), device), asked["split_features"]
        costs = CostLog()
        with costs.stage("training and embedding", sessions=True):
            _, embeddings = train(graph, config, device, folder, True, trackers, ranks=ranks, split_features=split)
            write_embeddings(folder.embeddings_file, graph.id_array(), embeddings)
        costs.write(folder)


def _reason(error: TrainingFailedError, folder: RunFolder) -> Exception:
    """What a worker said, where it is for the user; else that workers were lost."""
    failures = list(getattr(error, "worker_failures", {}).values())
    for each in [cause for failure in failures for cause in (getattr(failure, "cause", None), failure)]:
        if isinstance(each, InputError | NonFiniteError):
            return each
    why = said(failures[0] if failures else error)
    lost = RankLost(f"workers of the Ray cluster were lost {RETRIES + 1} times, the last: {why}")
    kept = newest_checkpoint(folder.checkpoints)
    lost.step = 0 if kept is None else int(kept[1]["step"])
    return lost
