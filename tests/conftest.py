import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does; before torch is loaded

from pathlib import Path

import pytest

from made import make_graph
from paretognn.graph import Graph


@pytest.fixture(autouse=True)
def _sparse_stays_sparse(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small made graphs are dense enough to be stored dense; the sparse path is what is to be tested."""
    if "density_rule" not in request.keywords:
        monkeypatch.setattr("paretognn.nn.features.DENSE_FROM", 2.0)


@pytest.fixture(params=["dense", "sparse"])
def graph(request: pytest.FixtureRequest) -> Graph:
    return make_graph(sparse=request.param == "sparse")


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The public data sets, where the environment names them."""
    root = os.environ.get("PARETOGNN_DATA")
    if not root or not Path(root).is_dir():
        pytest.skip("PARETOGNN_DATA names no folder: tests on the public data sets are left out")
    return Path(root)
