from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paretognn.graph import read_graph


class Desk:
    """Writes tables into a folder of its own and reads them as a graph."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, content) -> Path:
        """Text, bytes, or for Parquet a dict of columns."""
        path = self.folder / name
        if isinstance(content, dict):
            pq.write_table(pa.table(content), path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, nodes, edges, **options):
        """Contents of the two tables (None for no node table)."""
        node_file = None if nodes is None else self.write("nodes" + self._suffix(nodes), nodes)
        return read_graph(node_file, self.write("edges" + self._suffix(edges), edges), **options)

    @staticmethod
    def _suffix(content) -> str:
        return ".parquet" if isinstance(content, dict) else ".csv"


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)
