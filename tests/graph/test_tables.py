"""Nodes and edges joined by id: cases C01 to C11 and C15, in CSV and Parquet."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paretognn.errors import InputError
from paretognn.graph import TableOptions, read_graph

NODES = "id,x\na,1\nb,2\nc,3\n"


def named_pairs(graph):
    ids = graph.id_array().to_pylist()
    return [(ids[i], ids[j]) for i, j in graph.pairs()]


def test_every_row_is_a_node_in_table_order_isolated_ones_included(desk):
    graph = desk.read("id,x\nz,1\nb,2\na,3\n", "source,target\na,b\n")
    assert graph.ids.to_pylist() == ["z", "b", "a"]
    assert graph.degrees.tolist() == [0, 1, 1]
    assert graph.features.tolist() == [[1], [2], [3]]
    assert graph.features.dtype == np.float32


def test_ids_are_text_exactly_as_written(desk):
    ids = ["007", "7", "NA", "null", "1e5", "nan", "", " x ", "True", "0x1F", "é☃", "a#b"]
    rows = "".join(f"{name},1\n" for name in ids if name)
    graph = desk.read(f"id,x\n{rows}", "source,target\n007,7\nNA,null\n1e5,nan\n")
    assert graph.ids.to_pylist() == [name for name in ids if name]
    assert named_pairs(graph) == [("007", "7"), ("NA", "null"), ("1e5", "nan")]


def test_columns_are_found_by_name_wherever_they_stand(desk):
    graph = desk.read("x,label,node_id\n1,u,a\n2,v,b\n", "when,dst,weight,src\n9,b,3,a\n")
    assert graph.ids.to_pylist() == ["a", "b"]
    assert graph.label_names == ("u", "v")
    assert graph.weights.tolist() == [3, 3]
    assert [column.name for column in graph.feature_columns] == ["x"]
    assert any("when" in note for note in graph.notes)


def test_columns_are_found_by_flag(desk):
    graph = desk.read(
        "kind,user,x,y,z\nu,a,1,2,3\nv,b,4,5,6\n",
        "w,to_user,from_user\n3,b,a\n",
        id_column="user",
        label_column="kind",
        drop_columns="y",
        source_column="from_user",
        target_column="to_user",
        weight_column="w",
    )
    assert graph.ids.to_pylist() == ["a", "b"]
    assert graph.features.tolist() == [[1, 3], [4, 6]]
    assert graph.weights.tolist() == [3, 3]
    assert desk.read(NODES, "source,target\na,b\n", feature_columns=["x"]).num_features == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id_column": "idd"}, r"no column 'idd' \(--id-column\) \(did you mean 'id'\?\)"),
        ({"weight_column": "w"}, "no column 'w'"),
        ({"feature_columns": ["xx"]}, "no column 'xx'"),
        ({"feature_columns": ["id"]}, "'id' is the id or the label"),
        ({"drop_columns": ["x"], "feature_columns": ["x"]}, "both dropped and asked for"),
        ({"idcolumn": "id"}, "unknown option 'idcolumn'.*'id_column'"),
        ({"impute": "median"}, "impute must be"),
        ({"header": "maybe"}, "header must be"),
        ({"source_column": "target"}, "cannot be both ends"),
    ],
)
def test_settings_that_do_not_fit_are_named(desk, options, message):
    with pytest.raises(InputError, match=message):
        desk.read(NODES, "source,target\na,b\n", **options)


@pytest.mark.parametrize("make", [str, lambda text: table_of(text)], ids=["csv", "parquet"])
class TestC01:
    """An edge names a node that the node table lacks."""

    def test_it_is_an_error_that_names_file_count_and_ids(self, desk, make):
        with pytest.raises(InputError, match=r"edges\.\w+: 1 edge endpoint is not in nodes\.\w+: c"):
            desk.read(make("id,x\na,1\nb,2\n"), make("source,target\na,b\nb,c\n"))

    def test_the_flag_adds_it(self, desk, make):
        graph = desk.read(make("id,x\na,1\nb,2\n"), make("source,target\na,b\nb,c\n"), add_missing_nodes=True)
        assert graph.ids.to_pylist() == ["a", "b", "c"]
        assert graph.features.tolist() == [[1], [2], [0]]
        assert "1 node(s) that only edges name were added: c" in graph.warnings[0]


def table_of(text):
    header, *rows = [line.split(",") for line in text.strip().split("\n")]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(header)}
    return {k: pa.array(v if k in ("id", "source", "target") else map(float, v)) for k, v in columns.items()}


def test_c01_spaces_are_pointed_out(desk):
    with pytest.raises(InputError, match="differ by them"):
        desk.read(NODES, "source,target\na, b\n")


def test_c02_a_blank_end_names_its_line(desk):
    with pytest.raises(InputError, match=r"edges.csv: column 'target' is blank in line 4"):
        desk.read(None, "source,target\n1,2\n2,3\n3,\n")
    with pytest.raises(InputError, match=r"blank in line 3"):
        desk.read(None, "1,2\n2,3\n3,\n")
    with pytest.raises(InputError, match=r"blank in line 2"):
        desk.read("id,x\n  ,2\n", "source,target\na,b\n")
    with pytest.raises(InputError, match=r"blank in line 6 \(2 blank in all\)"):
        desk.read(None, '# c\n\nsource,target\n"a\nb",c\n,b\n,c\n')


def test_c02_three_never_becomes_three_point_zero(desk):
    with pytest.raises(InputError, match=r"edges.parquet: column 'target' is blank in row 3"):
        desk.read(None, {"source": pa.array([1, 2, 3]), "target": pa.array([2.0, 3.0, None])})
    with pytest.raises(InputError, match=r"ids must be text or integers; column 'target' holds double"):
        desk.read(None, {"source": pa.array([1, 2]), "target": pa.array([2.0, 3.0])})


HUGE = ["9007199254740993", "9007199254740992", "123456789012345678901", "-1"]


def test_c03_huge_ids_stay_distinct_and_exact(desk, tmp_path):
    edges = f"source,target\n{HUGE[0]},{HUGE[1]}\n{HUGE[2]},{HUGE[3]}\n"
    graph = desk.read(None, edges)
    assert graph.ids.to_pylist() == HUGE
    assert graph.num_edges == 2
    graph = desk.read(None, {"source": pa.array([2**53 + 1, -1]), "target": pa.array([2**53, 2**63 - 1])})
    assert graph.ids.to_pylist() == ["9007199254740993", "9007199254740992", "-1", "9223372036854775807"]


def test_c04_pair_keys_do_not_overflow(desk):
    n = 50_000
    lines = "\n".join(f"{i},{i + 1}" for i in range(n - 1))
    graph = desk.read(None, f"source,target\n{lines}\n")
    assert graph.num_edges == n - 1
    assert graph.pairs()[-1].tolist() == [49_998, 49_999]
    assert graph.indices.min() == 0


def test_c05_nodes_without_features_are_an_error_with_the_count(desk):
    nodes, edges = "id,x,y\na,1,2\nb,3,4\nc,,\n", "source,target\na,b\nb,c\n"
    with pytest.raises(InputError, match=r"column 'x' has 1 value.* blank.* first at node 'c'"):
        desk.read(nodes, edges)
    graph = desk.read(nodes, edges, impute="zero")
    assert graph.features.tolist() == [[1, 2], [3, 4], [0, 0]]
    assert "column 'x' has 1 value(s) that are blank" in graph.warnings[0]
    assert "nodes c" in graph.warnings[0]
    assert desk.read(nodes, edges, impute="mean").features[2].tolist() == [2, 3]


def test_c06_shuffled_rows_leave_the_matrix_per_id_the_same(desk):
    one = desk.read("id,x\na,1\nb,2\nc,3\n", "source,target\na,b\nb,c\n")
    other = desk.read("id,x\nc,3\na,1\nb,2\n", "source,target\nc,b\nb,a\n")
    order = [other.ids.to_pylist().index(name) for name in one.ids.to_pylist()]
    assert (one.adjacency().toarray() == other.adjacency().toarray()[np.ix_(order, order)]).all()
    assert (one.features == other.features[order]).all()


def test_c07_no_phantom_nodes(desk):
    graph = desk.read("id,x\n1000,1\n2000,2\n3000,3\n", "source,target\n1000,2000\n2000,3000\n")
    assert (graph.num_nodes, graph.num_edges) == (3, 2)
    graph = desk.read(None, {"source": pa.array([1000, 2000]), "target": pa.array([2000, 3000])})
    assert graph.ids.to_pylist() == ["1000", "2000", "3000"]


def test_c08_duplicate_ids_name_their_rows(desk):
    edges = "source,target\na,b\n"
    with pytest.raises(InputError, match=r"duplicate node id 'a' \(rows 2 and 4\)$"):
        desk.read("id,x\na,1\nb,2\na,9\n", edges)
    with pytest.raises(InputError, match=r"duplicate node id 'a' \(rows 1 and 3\)"):
        desk.read({"id": ["a", "b", "a"], "x": [1, 2, 9]}, edges)
    with pytest.raises(InputError, match=r"'a' \(rows 2 and 5\); 2 ids are repeated"):
        desk.read("id,x\na,1\nb,2\nb,9\na,3\n", edges)


def test_c09_counts_follow_one_convention(desk):
    counts = desk.read(None, "source,target\na,b\nb,a\na,b\nb,c\nc,b\nc,c\n").counts
    assert (counts.rows, counts.self_loops, counts.duplicates, counts.one_way) == (6, 1, 3, 0)


def test_c10_both_directions_mean_one_weight_and_conflicts_are_told(desk):
    graph = desk.read(None, "source,target,weight\na,b,2\nb,a,2\nb,c,1\nc,b,3\n")
    assert graph.adjacency().toarray().tolist() == [[0, 2, 0], [2, 0, 2], [0, 2, 0]]
    assert graph.warnings == ("1 edge(s) were given different weights; their mean is used",)


@pytest.mark.parametrize(("weight", "shown"), [("-1", "-1.0"), ("nan", "nan"), ("", "nan"), ("inf", "inf")])
def test_c11_bad_weights_name_count_and_first_line(desk, weight, shown):
    edges = f"source,target,weight\na,b,2\nb,c,{weight}\nc,d,-3\n"
    with pytest.raises(InputError, match=rf"edges.csv: 2 weight\(s\).*first is {shown} in line 3"):
        desk.read(None, edges)


def test_c11_in_parquet_and_as_text(desk):
    ends = {"source": ["a", "b"], "target": ["b", "c"]}
    with pytest.raises(InputError, match=r"1 weight\(s\).*row 2"):
        desk.read(None, {**ends, "weight": [1.0, float("nan")]})
    with pytest.raises(InputError, match=r"weight column 'weight' is not numeric.*'heavy' in line 3"):
        desk.read(None, "source,target,weight\na,b,2\nb,c,heavy\n")


@pytest.mark.parametrize("value", ["", "NaN", "nan", "NA", "null", "inf", "-Infinity", "1e39"])
def test_c15_gaps_name_column_count_and_first_node(desk, value):
    nodes, edges = f"id,x,y\na,1,1\nb,1,{value}\nc,1,{value}\n", "source,target\na,b\n"
    with pytest.raises(InputError, match=r"nodes.csv: column 'y' has 2 .*first at node 'b'"):
        desk.read(nodes, edges)
    assert desk.read(nodes, edges, impute="mean").features[:, 1].tolist() == [1, 1, 1]


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), 1e300])
def test_c15_in_parquet(desk, value):
    nodes = {"id": ["a", "b"], "x": pa.array([1.0, value], pa.float64())}
    with pytest.raises(InputError, match=r"nodes.parquet: column 'x' has 1 .*first at node 'b'"):
        desk.read(nodes, "source,target\na,b\n")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 1], pa.int8()),
        pa.array([0, 1], pa.uint64()),
        pa.array([0, 1], pa.float64()),
        pa.array([0, 1], pa.float32()),
        pa.array([False, True]),
        pa.array(["0", " 1.0"]),
        pa.array(["false", "TRUE"]),
        pa.array(["0", "1"]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_c16_numbers_of_every_kind_become_float32(desk, column):
    graph = desk.read({"id": ["a", "b"], "x": column}, "source,target\na,b\n")
    assert graph.features.dtype == np.float32
    assert graph.features.tolist() == [[0], [1]]


def test_c16_booleans_and_large_integers_in_csv(desk):
    graph = desk.read("id,x,y\na,True,16777217\nb,false,-3\n", "source,target\na,b\n")
    assert graph.features.tolist() == [[1, 16777216], [0, -3]]


@pytest.mark.parametrize(
    "ids",
    [pa.array([7, 8]), pa.array(["7", "8"]), pa.array(["7", "8"]).dictionary_encode(),
     pa.array(["7", "8"], pa.large_string()), pa.array([7, 8], pa.int32()).dictionary_encode()],
    ids=lambda ids: str(ids.type),
)  # fmt: skip
def test_parquet_ids_join_with_csv_ids(desk, ids):
    graph = desk.read({"id": ids, "x": [0.5, 1.5]}, "source,target\n7,8\n")
    assert graph.ids.to_pylist() == ["7", "8"]
    assert graph.num_edges == 1


def test_a_data_frame_index_is_not_a_feature(desk):
    graph = desk.read(",id,x\n0,a,1\n1,b,2\n", ",source,target\n0,a,b\n")
    assert graph.ids.to_pylist() == ["a", "b"]
    assert graph.features.tolist() == [[1], [2]]
    graph = desk.read(",x\na,1\nb,2\n", "source,target\na,b\n", header="yes")
    assert graph.ids.to_pylist() == ["a", "b"]


def test_pandas_index_in_parquet(desk):
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "b"]).to_parquet(desk.folder / "nodes.parquet")
    desk.write("edges.csv", "source,target\na,b\n")
    graph = read_graph(desk.folder / "nodes.parquet", desk.folder / "edges.csv")
    assert graph.ids.to_pylist() == ["a", "b"]
    assert graph.features.tolist() == [[1], [2]]


def test_categories_become_columns_in_natural_order(desk):
    nodes = "id,size,x\na,10,1\nb,9,2\nc,,3\n"
    graph = desk.read(nodes, "source,target\na,b\n", categorical=["size"])
    assert [column.name for column in graph.feature_columns] == ["size=9", "size=10", "x"]
    assert graph.features.tolist() == [[0, 1, 1], [1, 0, 2], [0, 0, 3]]
    assert "blank 1 time" in graph.warnings[0]


def test_labels_keep_their_text_in_natural_order(desk):
    nodes = "id,label\na,10\nb,9\nc,\nd,nan\ne,NaN\nf,-1\n"
    graph = desk.read(nodes, "source,target\na,b\n")
    assert graph.label_names == ("9", "10")
    assert graph.labels.tolist() == [1, 0, -1, -1, -1, -1]
    assert graph.features is None
    nodes = {"id": ["a", "b", "c"], "label": pa.array([1.0, None, 0.0])}
    assert desk.read(nodes, "source,target\na,b\n").labels.tolist() == [1, -1, 0]
    assert desk.read("id,label\na,-1\nb,1\n", "source,target\na,b\n").label_names == ("-1", "1")


def test_edges_alone_take_nodes_in_order_of_first_appearance(desk):
    graph = desk.read(None, "source,target\nz,b\na,z\nb,c\n")
    assert graph.ids.to_pylist() == ["z", "b", "a", "c"]
    assert graph.features is None
    assert any("structural features" in note for note in graph.notes)


def test_mostly_zero_columns_are_kept_sparse(desk):
    rng = np.random.default_rng(0)
    dense = (rng.random((600, 500)) < 0.05).astype(int)
    lines = [",".join(["id", *(f"f{k}" for k in range(500))])]
    lines += [",".join([f"n{i}", *map(str, row)]) for i, row in enumerate(dense)]
    graph = desk.read("\n".join(lines), "source,target\nn0,n1\n")
    assert not isinstance(graph.features, np.ndarray)
    assert graph.features.dtype == np.float32
    assert (graph.features.toarray() == dense).all()


def test_options_are_values():
    assert TableOptions(drop_columns=["a"]) == TableOptions(drop_columns="a")
    with pytest.raises(InputError, match="alone"):
        read_graph("nodes.csv", graph="x.npz")
    with pytest.raises(InputError, match="needs an edge table"):
        read_graph("nodes.csv")


def test_the_index_of_a_data_frame_is_the_id_where_it_has_a_name(tmp_path):
    frame = pd.DataFrame({"age": [30.0, 40.0], "user": ["a", "b"]})
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    frame.set_index("user").to_parquet(tmp_path / "n.parquet")
    graph = read_graph(tmp_path / "n.parquet", tmp_path / "e.csv")
    assert graph.ids.to_pylist() == ["a", "b"]
    assert [column.name for column in graph.feature_columns] == ["age"]
    other = read_graph(tmp_path / "n.parquet", tmp_path / "e.csv", id_column="user")
    assert other.digest() == graph.digest()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_of_edges_may_have_none(tmp_path, kind):
    (tmp_path / "n.csv").write_text("id,x\na,1\nb,2\n")
    edges = tmp_path / f"e.{kind}"
    if kind == "csv":
        edges.write_text("source,target,weight\n")
    else:
        pq.write_table(pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())}), edges)
    graph = read_graph(tmp_path / "n.csv", edges)
    assert (graph.num_nodes, graph.num_edges) == (2, 0)
    assert "the graph has no edges" in graph.warnings
