import json

import numpy as np
import scipy.sparse as sp

from paretognn.graph import as_graph, format_summary, summarise


def test_c09_counts(desk):
    summary = summarise(desk.read(None, "source,target\na,b\nb,a\na,b\nb,c\nc,b\nc,c\n"))
    names = ("rows_read", "edges", "self_loops", "duplicates", "one_way")
    assert [summary[name] for name in names] == [6, 2, 1, 3, 0]
    text = "\n".join(format_summary(summary))
    assert "3 nodes, 2 undirected edges" in text
    assert "read: 6 rows, 1 self-loops, 3 duplicates" in text
    assert "features: none" in text


def test_direction_is_told(desk):
    summary = summarise(desk.read(None, "source,target\na,b\nb,a\nb,c\n"))
    assert "1 of 2 pairs are given in one direction only; read as undirected" in summary["notes"]


def test_structure_features_and_labels():
    dense = np.array([[1, 0, 5], [1, 0, 0], [1, 0, 1], [1, 0, 0], [1, 0, 0]])
    edges = np.array([[0, 1, 2], [1, 2, 3]])
    labels = ["u", "u", "v", None, "v"]
    for features in (dense, sp.csr_array(dense)):
        summary = json.loads(json.dumps(summarise(as_graph((edges, features, labels)))))
        assert (summary["nodes"], summary["edges"], summary["isolated_nodes"], summary["components"]) == (
            5,
            3,
            1,
            2,
        )
        assert (summary["mean_degree"], summary["max_degree"]) == (1.2, 2)
        found = summary["features"]
        assert (found["count"], found["kind"], found["constant_columns"], found["zero_rows"]) == (
            3,
            "numeric",
            2,
            0,
        )
        assert found["density"] == 7 / 15
        assert found["stored"] == ("dense" if features is dense else "sparse")
        assert summary["labels"] == {
            "classes": 2,
            "labelled": 4,
            "unlabelled": 1,
            "class_sizes": {"u": 2, "v": 2},
            "edge_homophily": 0.5,
            "edge_homophily_by_chance": 0.625,
        }
        assert (summary["largest_component"], summary["density"], summary["median_degree"]) == (4, 0.3, 1.0)
        assert summary["hub_share"] == 2 / 6


def test_kinds_of_features(desk):
    def kind(nodes, **options):
        return summarise(desk.read(nodes, "source,target\na,b\n", **options))["features"]["kind"]

    assert kind("id,x\na,1\nb,0\n") == "binary"
    assert kind("id,x\na,1\nb,2\n") == "numeric"
    assert kind("id,x\na,p\nb,q\n", categorical=["x"]) == "one-hot"
    assert kind("id,label\na,p\nb,q\n") == "none"


def test_a_graph_of_one_node_has_a_summary():
    summary = summarise(as_graph((np.zeros((2, 0), int), np.zeros((1, 1)), [0])))
    assert summary["components"] == 1
    assert summary["labels"]["edge_homophily"] is None
    assert any("no edges" in line for line in format_summary(summary))
