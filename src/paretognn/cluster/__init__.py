"""Work spread over the machines of a Ray cluster (extra ``ray``): cells of a benchmark, training, embedding.

What is made lies in folders that every machine sees under the same path, as on a network file system; so does the data.
"""

from paretognn.cluster.connection import cluster_device, connected

__all__ = ["cluster_device", "connected"]
