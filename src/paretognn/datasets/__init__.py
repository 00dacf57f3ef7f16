"""Public data sets by name, read from their raw files."""

from paretognn.datasets.load import describe_datasets, load_dataset
from paretognn.datasets.registry import dataset_entry, dataset_names

__all__ = ["dataset_entry", "dataset_names", "describe_datasets", "load_dataset"]
