"""The training loop, checkpoints, the run folder and the metrics stream."""

from paretognn.training.config import TrainConfig, make_config, merge, parse_assignments, read_config_file
from paretognn.training.embeddings import read_embeddings, write_embeddings
from paretognn.training.frozen import TrainedEncoder, reassembled, untrained
from paretognn.training.multitask import MultiTaskModel, MultiTaskStepper, StepRecord
from paretognn.training.run_folder import RunFolder
from paretognn.training.tracking import EachStep, Tracker
from paretognn.training.trainer import Interrupted, train

__all__ = [
    "EachStep",
    "Interrupted",
    "MultiTaskModel",
    "MultiTaskStepper",
    "RunFolder",
    "StepRecord",
    "Tracker",
    "TrainConfig",
    "TrainedEncoder",
    "make_config",
    "merge",
    "parse_assignments",
    "read_config_file",
    "read_embeddings",
    "reassembled",
    "train",
    "untrained",
    "write_embeddings",
]
