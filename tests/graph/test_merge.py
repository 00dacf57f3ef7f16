"""New nodes read by the training graph's columns and joined to it."""

import numpy as np
import pytest
import scipy.sparse as sp

from paretognn.errors import InputError
from paretognn.graph import FeatureColumn, TableOptions, as_graph, build_graph, merge_graphs, read_rows, read_tables

NODES = "id,x,colour,label\na,1,red,u\nb,2,blue,v\nc,3,red,\n"
EDGES = "source,target\na,b\nb,c\n"


@pytest.fixture
def base(desk):
    return desk.read(NODES, EDGES, categorical=["colour"])


@pytest.fixture
def new_rows(desk):
    def read(base, nodes, edges):
        path = None if nodes is None else desk.write("new.csv", nodes)
        return read_rows(path, desk.write("new_edges.csv", edges), schema=base.feature_columns)

    return read


def test_new_nodes_reach_the_training_graph(base, new_rows):
    rows = new_rows(base, "id,colour,extra,x\nz,blue,9,5\ny,green,9,6\n", "source,target\nz,a\ny,z\n")
    merged, at = merge_graphs(base, rows)
    assert merged.ids.to_pylist() == ["a", "b", "c", "z", "y"]
    assert at.tolist() == [3, 4]
    assert merged.pairs().tolist() == [[0, 1], [0, 3], [1, 2], [3, 4]]
    assert merged.feature_columns == base.feature_columns
    assert [c.name for c in merged.feature_columns] == ["x", "colour=blue", "colour=red"]
    assert merged.features[at].tolist() == [[5, 1, 0], [6, 0, 0]]
    assert (merged.features[:3] == base.features).all()
    assert "1 value(s) that the training graph does not have (green)" in merged.warnings[0]
    assert any("ignored: extra" in note for note in merged.notes)
    assert merged.labels.tolist() == [0, 1, -1, -1, -1]
    assert (merged.counts.rows, merged.counts.one_way) == (4, 4)


def test_a_known_id_takes_its_new_features(base, new_rows):
    rows = new_rows(base, "id,x,colour,label\nz,5,red,w\na,7,blue,v\n", "source,target\nz,a\n")
    merged, at = merge_graphs(base, rows)
    assert at.tolist() == [3, 0]
    assert merged.features[at].tolist() == [[5, 0, 1], [7, 1, 0]]
    assert [merged.label_names[k] for k in merged.labels[at]] == ["w", "v"]
    assert any("1 node(s) of the training graph are given again" in note for note in merged.notes)


def test_nothing_new_changes_nothing(base, new_rows):
    merged, at = merge_graphs(base, new_rows(base, NODES, EDGES))
    assert merged.digest() == base.digest()
    assert at.tolist() == [0, 1, 2]


def test_an_unknown_end_is_an_error(base, new_rows):
    rows = new_rows(base, "id,x,colour\nz,5,red\n", "source,target\nz,q\n")
    with pytest.raises(InputError, match=r"1 edge endpoint is not in new\.csv or the training graph: q"):
        merge_graphs(base, rows)


def test_a_missing_column_is_named(base, new_rows):
    with pytest.raises(InputError, match=r"no column 'colour', a feature .*did you mean 'color'\?"):
        new_rows(base, "id,x,color\nz,5,red\n", "source,target\nz,a\n")


def test_the_schema_sets_columns_and_their_order(desk):
    schema = (FeatureColumn("k", "b"), FeatureColumn("k", "a"), FeatureColumn("y"), FeatureColumn("x"))
    nodes = desk.write("n.csv", "id,x,y,k\np,1,2,a\nq,3,4,b\n")
    graph = read_tables(nodes, desk.write("e.csv", "source,target\np,q\n"), schema=schema)
    assert graph.feature_columns == schema
    assert graph.features.tolist() == [[0, 1, 2, 1], [1, 0, 4, 3]]


def test_edges_alone(base, new_rows, desk):
    merged, at = merge_graphs(base, new_rows(base, None, "source,target\nc,a\n"))
    assert (merged.num_edges, at.tolist()) == (3, [2, 0])
    with pytest.raises(InputError, match=r"1 node\(s\) are not in the training graph and need features: z"):
        merge_graphs(base, new_rows(base, None, "source,target\nz,a\n"))
    featureless = desk.read(None, EDGES)
    merged, at = merge_graphs(featureless, new_rows(featureless, None, "source,target\nz,a\n"))
    assert merged.ids.to_pylist() == ["a", "b", "c", "z"]
    assert at.tolist() == [3, 0]


def test_edges_alone_add_nodes_where_that_is_asked_for(base, desk):
    path = desk.write("new_edges.csv", "source,target\nz,a\n")
    rows = read_rows(None, path, TableOptions(add_missing_nodes=True), schema=base.feature_columns)
    merged, at = merge_graphs(base, rows)
    assert merged.ids.to_pylist() == ["a", "b", "c", "z"]
    assert at.tolist() == [3, 0]
    assert merged.features[3].tolist() == [0, 0, 0]
    assert merged.warnings == ("1 node(s) that only edges name were added: z; their features are zero",)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("convert_new", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_graphs_merge_by_id_with_their_weights(convert, convert_new):
    ends = np.array([0]), np.array([1])
    one = build_graph(2, *ends, np.array([2.0]), features=convert(np.eye(2)))
    new = as_graph((np.array([[1, 2], [0, 1]]), convert_new(np.ones((3, 2)))))
    merged, at = merge_graphs(one, new)
    assert at.tolist() == [0, 1, 2]
    assert merged.adjacency().toarray().tolist() == [[0, 1.5, 0], [1.5, 0, 1], [0, 1, 0]]
    dense = merged.features.toarray() if sp.issparse(merged.features) else merged.features
    assert (dense == 1).all()
    assert sp.issparse(merged.features) == sp.issparse(one.features)


def test_widths_must_agree(base):
    with pytest.raises(InputError, match="2 feature columns, where the training graph has 3"):
        merge_graphs(base, as_graph((np.array([[0], [1]]), np.eye(2))))
