import json

import pytest

from paretognn.errors import InputError
from paretognn.sources import GraphSource, run_graph
from paretognn.training import RunFolder


@pytest.mark.parametrize(
    "source",
    [{"evil": 1}, {"nodes": 3, "edges": 4}, [1], "x", {"edges": None}, {"edges": "e.csv", "options": [1]}],
)
def test_a_damaged_origin_is_one_line_that_names_the_file(tmp_path, source):
    folder = RunFolder(tmp_path)
    folder.graph_json.write_text(json.dumps({"copy": False, "source": source}))
    with pytest.raises(InputError, match=r"graph\.json: corrupt"):
        run_graph(folder)


def test_a_source_comes_back_from_json(tmp_path):
    source = GraphSource(edges=str(tmp_path / "e.csv"), options={"label_column": "y"})
    assert GraphSource.from_json(source.to_json(), tmp_path) == source
