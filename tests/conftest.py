import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does; before torch is loaded

import pytest

from made import make_graph
from paretognn.graph import Graph


@pytest.fixture(params=["dense", "sparse"])
def graph(request: pytest.FixtureRequest) -> Graph:
    return make_graph(sparse=request.param == "sparse")
