"""Dialects, headers and damaged files: cases C17 and C18."""

import bz2
import gzip
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paretognn.errors import InputError
from paretognn.graph import read_graph

NODES = "id,x\na,1\nb,2\n"
EDGES = "source,target\na,b\n"


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff", "# made by hand\n#\n\n", "\ufeff# made by hand\r\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_c17_dialects(desk, delimiter, line_end, start, pack):
    def write(name, rows):
        text = start + line_end.join(delimiter.join(row) for row in rows) + line_end
        return desk.write(name, pack(text.encode()))

    nodes = write("nodes.csv", [("id", "x"), ("a#1", "1"), ("é☃", "2.5"), ("#c", "3")])
    edges = write("edges.csv", [("source", "target"), ("a#1", "é☃"), ("é☃", "#c")])
    graph = read_graph(nodes, edges)
    assert graph.ids.to_pylist() == ["a#1", "é☃", "#c"]
    assert graph.features.tolist() == [[1], [2.5], [3]]
    assert graph.pairs().tolist() == [[0, 1], [1, 2]]


def test_quotes_hold_delimiters_quotes_and_line_breaks(desk):
    nodes = 'id,x\n"a,b",1\n"say ""hi""",2\n"two\nlines",3\n5" disk,4\n'
    graph = desk.read(nodes, 'source,target\n"a,b","two\nlines"\n5" disk,"say ""hi"""\n')
    assert graph.ids.to_pylist() == ["a,b", 'say "hi"', "two\nlines", '5" disk']
    assert graph.num_edges == 2


def test_a_message_stays_on_one_line(desk):
    with pytest.raises(InputError, match=r"duplicate node id 'a\\nb'"):
        desk.read('id,x\n"a\nb",1\n"a\nb",2\n', EDGES)
    with pytest.raises(InputError, match=r"column 'amount \(EUR\)' is not numeric"):
        desk.read('id,"amount\n(EUR)"\na,x\n', EDGES)


def test_columns_without_a_title_are_numbered(desk):
    with pytest.raises(InputError, match=r"column 'column_3' has 2 value\(s\) that are blank"):
        desk.read("id,x,\na,1,\nb,2,\n", EDGES)
    assert desk.read("id,x,\na,1,\nb,2,\n", EDGES, drop_columns="column_3").num_features == 1


def test_spaces_cut_edge_lists_only(desk):
    assert desk.read(None, "# FromNodeId ToNodeId\n0 1\n1 2\n").num_edges == 2
    graph = desk.read("id\nNew York\nLos Angeles\n", "source,target\nNew York,Los Angeles\n")
    assert graph.ids.to_pylist() == ["New York", "Los Angeles"]


def test_semicolons_win_over_decimal_commas(desk):
    with pytest.raises(InputError, match=r"column 'x' is not numeric.*'0,5'"):
        desk.read("id;x\na;0,5\nb;0,7\n", EDGES)


@pytest.mark.parametrize("edges", ["1,2\n2,3\n", "a,b\nb,c\n", "1 2\n2 3\n", "x1,x2,0.5\nx2,x3,0.7\n"])
def test_c17_a_headerless_file_keeps_its_first_edge(desk, edges):
    graph = desk.read(None, edges)
    assert graph.num_edges == 2
    assert any("no header line" in note for note in graph.notes)


def test_c17_or_is_an_error(desk):
    with pytest.raises(InputError, match=r"cannot tell whether the first line 'a,b' .*--header yes or --header no"):
        desk.read(None, "a,b\nc,d\n")
    with pytest.raises(InputError, match="cannot tell"):
        desk.read("node,0,1,2\na,.1,.2,.3\nb,.4,.5,.6\n", EDGES)
    with pytest.raises(InputError, match="cannot tell"):
        desk.read("user,colour\nu1,red\nu2,blue\n", EDGES)


def test_c17_or_is_told(desk):
    assert desk.read(None, "a,b\nc,d\n", header="no").num_edges == 2
    assert desk.read(None, "a,b\nc,d\n", header="yes").num_edges == 1
    assert desk.read("x9,1\nx8,2\n", "x9,x8\n", header="no").ids.to_pylist() == ["x9", "x8"]


@pytest.mark.parametrize("title", ["from,to", "u,v", "Source,Target", "FromNodeId,ToNodeId", "person,movie"])
def test_c17_usual_titles_are_headers(desk, title):
    assert desk.read(None, f"{title}\n1,2\n2,3\n").ids.to_pylist() == ["1", "2", "3"]


def test_c17_the_node_table_tells_edges_from_titles(desk):
    nodes = "id,x\na,1\nb,2\nc,3\nd,4\n"
    assert desk.read(nodes, "a,b\nc,d\n").num_edges == 2
    assert desk.read(nodes, "from,to\nc,d\n").num_edges == 1


def test_c17_a_headerless_node_table_keeps_its_first_node(desk):
    graph = desk.read("a,1,5\nb,2,6\n", EDGES)
    assert graph.ids.to_pylist() == ["a", "b"]
    assert [column.name for column in graph.feature_columns] == ["column_2", "column_3"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "edges.csv is empty"),
        ("\n\n", "edges.csv is empty"),
        ("# nothing\n", "edges.csv is empty"),
        ("source,target\n", "edges.csv has a header and no rows"),
        ("source,target\n\n", "edges.csv has a header and no rows"),
        ("source,target\na,b,c\n", r"line 2 has 3 column\(s\), where 2 are expected"),
        ("source,target\na,b\n\na\n", r"line 4 has 1 column\(s\), where 2 are expected"),
        ('source,target\na,b\n"a,b\n', r"line 3 has 1 column\(s\)"),
        ("source\na\n", "line 1 has 1 column, where 2 are needed"),
        ("source,source\na,b\n", "column 'source' appears twice"),
        (b"source,target\na,b\n\xff\xfe,b\n", "line 3 is not UTF-8 text"),
        ("source,target\na,b\n".encode("utf-16"), "UTF-16"),
        (gzip.compress(b"source,target\na,b\n" * 99, mtime=0)[:-9], "not a whole gzip file"),
        ("source,target\na," + "b" * 200_000, "not a table of delimited text: field larger"),
        (b"PK\x03\x04\x14\x00\x06\x00xl/workbook.xml", "is a spreadsheet .or other binary file.: save it as CSV or"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "is a spreadsheet"),
        (bz2.compress(b"id,x\na,1\n"), "is packed otherwise than by gzip"),
        (lzma.compress(b"id,x\na,1\n"), "is packed otherwise than by gzip"),
        (
            "who,whom\n",
            "edges.csv has no rows below its first line 'who,whom'; if that is a row itself, say --header no",
        ),
        (b"PAR1 and then nothing", "not a whole Parquet file"),
    ],
)
def test_a_damaged_file_is_one_line(desk, content, message):
    with pytest.raises(InputError, match=message) as error:
        desk.read(None, content)
    assert "\n" not in str(error.value)


def test_a_truncated_parquet_file(desk):
    path = desk.write("edges.parquet", {"source": ["a"] * 99, "target": ["b"] * 99})
    whole = path.read_bytes()
    for end in (10, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match="not a whole Parquet file"):
            read_graph(edges=path)


def test_parquet_with_invalid_text_or_no_rows(desk):
    bad = pa.array([b"\xff"], pa.binary()).view(pa.string())
    with pytest.raises(InputError, match=r"edges.parquet"):
        desk.read(None, {"source": bad, "target": ["b"]})
    pq.write_table(pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())}),
                   desk.folder / "e.parquet")  # fmt: skip
    with pytest.raises(InputError, match="no rows"):
        read_graph(edges=desk.folder / "e.parquet")


def test_a_path_that_is_not_a_file(desk):
    desk.write("edges.csv", EDGES)
    with pytest.raises(InputError, match=r"does not exist \(did you mean 'edges.csv'\?\)"):
        read_graph(edges=desk.folder / "edgs.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_graph(edges=desk.folder)
    with pytest.raises(InputError, match="does not exist"):
        read_graph(graph=desk.folder / "x.npz")


def test_c18_small_graphs_have_a_defined_result(desk):
    graph = desk.read("id,x\na,1\n", "source,target\na,a\n")
    assert (graph.num_nodes, graph.num_edges, graph.counts.self_loops) == (1, 0, 1)
    assert "the graph has no edges" in graph.warnings
    with pytest.raises(InputError, match=r"nodes.csv has a header and no rows"):
        desk.read("id,x\n", EDGES)


def test_folders_and_files_with_spaces_and_accents(tmp_path):
    folder = tmp_path / "dossier à moi"
    folder.mkdir()
    (folder / "arêtes 1.csv").write_text(EDGES)
    assert read_graph(edges=folder / "arêtes 1.csv").num_edges == 1
