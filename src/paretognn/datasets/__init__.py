"""Public data sets by name, read from their raw files."""

from paretognn.datasets.entry import DataSet, Published, RawFile
from paretognn.datasets.load import describe_datasets, load_dataset
from paretognn.datasets.registry import dataset_entry, dataset_names

__all__ = ["DataSet", "Published", "RawFile", "dataset_entry", "dataset_names", "describe_datasets", "load_dataset"]
