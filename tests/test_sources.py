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


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (GraphSource(edges="e.csv", options={"impute": "mean"}), "--impute is for a table of nodes"),
        (GraphSource(edges="e.csv", options={"id_column": "x"}), "--id-column is for a table of nodes"),
        (GraphSource(nodes="n.csv", edges="e.csv", data_root="d"), "--data-root is for a public data set"),
        (GraphSource(dataset="digits", options={"id_column": "x"}), "--id-column is for tables"),
    ],
)
def test_an_option_that_nothing_heeds_is_refused(source, message):
    with pytest.raises(InputError, match=message):
        source.load()


@pytest.mark.parametrize("unused", [{"options": {"label_column": "foo"}}, {"data_root": "d"}])
def test_an_option_for_a_graph_that_is_not_read_is_refused(tmp_path, unused):
    with pytest.raises(InputError, match="is for a graph that is read, and none is named; leave it out"):
        run_graph(RunFolder(tmp_path), GraphSource(**unused))
