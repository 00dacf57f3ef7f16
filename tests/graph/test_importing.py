"""An imported graph is the graph that is read from the same tables, whatever its size."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from made import make_graph
from paretognn.errors import InputError
from paretognn.graph import read_graph, summarise
from paretognn.graph.mapped import is_store, open_store, verify
from paretognn.graph.table_options import TableOptions
from paretognn.graph.write_table import write_table
from paretognn.lock import locked

pytest.importorskip("duckdb")
from paretognn.graph.importing import import_tables, scan, store


def tables(folder, weighted=True, labelled=True, n=120):
    """Repeats in both directions, a self-loop, an isolated node, ids of all kinds, unlabelled nodes."""
    graph = make_graph(n)
    ids = np.array(["007", "7", "NA", "null", "1e5", "a,b", 'q"q', " x ", "é"] + [f"n{i}" for i in range(9, n)])
    columns = {"id": ids, **{f"x{j}": graph.features[:, j] for j in range(4)}, "count": np.arange(n)}
    if labelled:
        columns["label"] = pa.array([None if i % 7 == 0 else "abc"[i % 3] for i in range(n)])
    pairs = graph.pairs()
    pairs = pairs[(pairs < n - 1).all(axis=1)]
    source = np.concatenate([pairs[:, 0], pairs[:40, 1], pairs[:20, 0], [3, 3]])
    target = np.concatenate([pairs[:, 1], pairs[:40, 0], pairs[:20, 1], [3, 4]])
    edges = {"source": ids[source], "target": ids[target]}
    if weighted:
        edges["weight"] = np.concatenate([np.linspace(0.5, 3, len(source) - 2), [1.0, 0.0]])
    return pa.table(columns), pa.table(edges)


def written(folder, kind, **options):
    nodes, edges = tables(folder, **options)
    if kind == "parts":
        for name, table in (("nodes", nodes), ("edges", edges)):
            (folder / name).mkdir()
            for place, start in enumerate(range(0, len(table), 50)):
                pq.write_table(table[start : start + 50], folder / name / f"{place}.parquet")
        return folder / "nodes", folder / "edges"
    for name, table in (("nodes", nodes), ("edges", edges)):
        write_table(folder / f"{name}.{kind}", table)
    return folder / f"nodes.{kind}", folder / f"edges.{kind}"


def same(a, b):
    for name in ("indptr", "indices", "weights", "features", "labels"):
        one, two = getattr(a, name), getattr(b, name)
        assert (one is None) == (two is None), name
        if one is not None:
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one, two)
    assert a.id_array().equals(b.id_array())
    assert (a.counts, a.label_names, a.feature_columns) == (b.counts, b.label_names, b.feature_columns)


@pytest.mark.parametrize("batch", [7, 1 << 16])
@pytest.mark.parametrize("kind", ["csv", "parquet", "parts"])
def test_an_import_is_what_is_read(tmp_path, monkeypatch, kind, batch):
    monkeypatch.setattr(scan, "ROWS", batch)
    nodes, edges = written(tmp_path, kind)
    whole_nodes, whole_edges = tables(tmp_path)
    pq.write_table(whole_nodes, tmp_path / "whole-nodes.parquet")
    pq.write_table(whole_edges, tmp_path / "whole-edges.parquet")
    facts = import_tables(nodes, edges, tmp_path / "store", TableOptions())
    graph = read_graph(tmp_path / "whole-nodes.parquet", tmp_path / "whole-edges.parquet")
    for mapped in (True, False):
        same(open_store(tmp_path / "store", mapped), graph)
    assert open_store(tmp_path / "store", False).stored is None
    summary = {**summarise(graph), "components": None, "largest_component": None, "name": facts["name"]}
    assert json.loads(json.dumps(summary)) == {**facts["summary"], "warnings": summary["warnings"]}
    assert set(facts["warnings"]) == set(graph.warnings)
    assert list((tmp_path).glob("store.importing*")) == []


@pytest.mark.parametrize("options", [{"weighted": False}, {"labelled": False}])
def test_weights_and_labels_may_be_missing(tmp_path, options):
    nodes, edges = written(tmp_path, "parquet", **options)
    import_tables(nodes, edges, tmp_path / "store", TableOptions())
    same(read_graph(graph=tmp_path / "store"), read_graph(nodes, edges))


def test_columns_are_chosen_as_for_tables(tmp_path):
    nodes, edges = written(tmp_path, "parquet")
    options = {
        "label_column": "count",
        "feature_columns": ("x1", "x3"),
        "source_column": "target",
        "target_column": "source",
    }
    import_tables(nodes, edges, tmp_path / "store", TableOptions(**options))
    same(read_graph(graph=tmp_path / "store"), read_graph(nodes, edges, **options))


def change(folder, name, how):
    file = folder / f"{name}.parquet"
    pq.write_table(how(pq.read_table(file)), file)


def column(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def replaced(table, name, row, value):
    values = table[name].to_pylist()
    values[row] = value
    return column(table, name, values)


FAULTS = [
    ("nodes", lambda t: replaced(t, "id", 5, "7"), "id '7' comes 2 times"),
    ("nodes", lambda t: replaced(t, "id", 5, None), "id column 'id' is blank in row 6"),
    ("nodes", lambda t: replaced(t, "x2", 5, float("nan")), "column 'x2' has no finite number for node 'a,b'"),
    ("nodes", lambda t: replaced(t, "x2", 5, None), "column 'x2' has no finite number for node 'a,b'"),
    (
        "nodes",
        lambda t: column(t, "x2", ["red"] * len(t)),
        "column 'x2' .* is not numeric; leave it out with --drop-columns",
    ),
    ("nodes", lambda t: t[:0], "has a header and no rows"),
    ("nodes", lambda t: column(t, "id", np.arange(len(t)) / 2), "column 'id' .* is no id"),
    (
        "edges",
        lambda t: replaced(t, "target", 5, "stranger"),
        "1 row.s. have ends that are not in nodes.parquet: stranger",
    ),
    ("edges", lambda t: replaced(t, "target", 5, None), "1 row.s. have a blank end"),
    ("edges", lambda t: replaced(t, "weight", 5, -1.0), "1 weight.s. in column 'weight' are negative"),
    ("edges", lambda t: t.select(["source"]), "needs two columns"),
]


@pytest.mark.parametrize(("name", "how", "said"), FAULTS)
def test_what_is_wrong_with_a_table_is_said(tmp_path, name, how, said):
    nodes, edges = written(tmp_path, "parquet")
    change(tmp_path, name, how)
    with pytest.raises(InputError, match=said):
        import_tables(nodes, edges, tmp_path / "store", TableOptions())
    assert not (tmp_path / "store").exists()


def test_what_is_wrong_with_a_request_is_said(tmp_path):
    nodes, edges = written(tmp_path, "parquet")
    for options, said in (
        ({"categorical": ("x1",)}, "--categorical is for graphs in memory"),
        ({"impute": "mean"}, "--impute is for graphs in memory"),
        ({"id_column": "idd"}, "no column 'idd' .--id-column. .did you mean 'id'"),
        ({"drop_columns": ("y",)}, "no column 'y' .--drop-columns"),
    ):
        with pytest.raises(InputError, match=said):
            import_tables(nodes, edges, tmp_path / "store", TableOptions(**options))
    with pytest.raises(InputError, match="no such file or folder"):
        import_tables(tmp_path / "nowhere.parquet", edges, tmp_path / "store", TableOptions())
    import_tables(nodes, edges, tmp_path / "store", TableOptions())
    with pytest.raises(InputError, match="already holds an imported graph"):
        import_tables(nodes, edges, tmp_path / "store", TableOptions())
    with pytest.raises(InputError, match="holds no imported graph"):
        open_store(tmp_path)


NODES = "id,f0,label\na,1,x\nb,2,y\nc,3,x\nd,4,y\n"
EDGES = "source,target\na,b\nb,c\nc,a\nd,a\n"
TEXTS = {
    "titles in capitals": ("ID,f0,Label\na,1,3\nb,2,4\nc,3,3\nd,4,4\n", "Source,Target,Weight\na,b,2\nb,c,1\nc,a,1\n"),
    "id in the middle": ("f0,ID,label\n1,7,x\n2,8,y\n3,9,x\n", "dst,src\n7,8\n9,8\n"),
    "no titles": ("7,0.5,2\n8,2,3\n9,3,4\n", "7,8\n8,9\n"),
    "no titles above text": (NODES, "a,b\nb,c\nc,a\nd,a\n"),
    "ends that come once": (NODES, "a,b\nc,d\n"),
    "a row index": (",id,f0\n0,a,1\n1,b,2\n2,c,3\n3,d,4\n", EDGES),
    "comments": ("# made by hand\n\n" + NODES, "# too\n" + EDGES),
    "semicolons": (NODES.replace(",", ";"), EDGES.replace(",", "\t")),
    "line ends": (NODES.replace("\n", "\r\n"), EDGES.replace("\n", "\r")),
    "byte-order mark": ("\ufeff" + NODES, "\ufeff" + EDGES),
    "quotes": ('id,f0,label\n"a,\n""b""",1,x\n b ,2,y\n', 'source,target\n"a,\n""b""", b \n'),
    "blank lines": (NODES.replace("b,2", "\nb,2"), EDGES + "\n\n"),
    "columns alike but for their case": ("id,f,F\na,1,2\nb,3,4\nc,5,6\nd,7,8\n", EDGES),
    "a sparse label": (NODES.replace(",x", ","), EDGES),
}


@pytest.mark.parametrize("what", TEXTS)
def test_text_is_read_as_the_graphs_in_memory_are(tmp_path, what):
    nodes, edges = tmp_path / "n.csv", tmp_path / "e.csv"
    for file, text in zip((nodes, edges), TEXTS[what], strict=True):
        file.write_bytes(text.encode())
    import_tables(nodes, edges, tmp_path / "store", TableOptions())
    same(open_store(tmp_path / "store"), read_graph(nodes, edges))


BAD_TEXTS = {
    "n.csv: line 3 has 2 column.s., where 3 are expected": (NODES.replace("b,2,y", "b,2"), EDGES),
    "e.csv: line 3 has 3 column.s., where 2 are expected": (NODES, EDGES.replace("b,c", "b,c,d")),
    "n.csv: line 3: is a quote left open": (NODES.replace("b,2", '"b,2'), EDGES),
    "column 'f0' has no finite number for node 'b'": (NODES.replace("b,2", "b,red"), EDGES),
    "column 'f0' appears twice": (NODES.replace("label", "f0"), EDGES),
    "cannot tell whether the first line": (NODES, "p,q\nr,s\n"),
    "column 'label' is the id or the label": (NODES, EDGES, {"feature_columns": ("label",)}),
}


@pytest.mark.parametrize("said", BAD_TEXTS)
def test_what_is_wrong_with_text_is_said_with_its_line(tmp_path, said):
    texts, options = BAD_TEXTS[said][:2], dict(*BAD_TEXTS[said][2:])
    for name, text in zip("ne", texts, strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        import_tables(tmp_path / "n.csv", tmp_path / "e.csv", tmp_path / "store", TableOptions(**options))


def test_a_name_is_no_pattern(tmp_path):
    others = {"g1": NODES.replace("a,1", "WRONG,1"), "ee": "source,target\n"}
    for name, text in {"g[1]": NODES, "e*": EDGES, **others}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    import_tables(tmp_path / "g[1].csv", tmp_path / "e*.csv", tmp_path / "store", TableOptions())
    same(open_store(tmp_path / "store"), read_graph(tmp_path / "g[1].csv", tmp_path / "e*.csv"))


@pytest.mark.parametrize("name", ["nodes", "edges", "out"])
def test_a_name_that_is_no_text_is_said_to_be(tmp_path, name):
    nodes, edges = written(tmp_path, "csv")
    given = {"nodes": nodes, "edges": edges, "out": tmp_path / "store"}
    given[name] = tmp_path / "x\udcff.csv"
    with pytest.raises(InputError, match=r"x\\udcff\.csv': the name is not UTF-8 text"):
        import_tables(**given, options=TableOptions())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_of_folders_are_no_columns(tmp_path, kind):
    nodes, edges = tables(tmp_path)
    for name, table in (("nodes", nodes), ("edges", edges)):
        write_table(tmp_path / name / "day=1" / f"0.{kind}", table[:60])
        write_table(tmp_path / name / "day=2" / f"0.{kind}", table[60:])
        write_table(tmp_path / f"{name}.{kind}", table)
    import_tables(tmp_path / "nodes", tmp_path / "edges", tmp_path / "store", TableOptions())
    same(open_store(tmp_path / "store"), read_graph(tmp_path / f"nodes.{kind}", tmp_path / f"edges.{kind}"))


@pytest.mark.parametrize("other", ["f0,id,label\n9,e,x\n", "e,9,x\n", "# a comment\nid,f0,label\ne,9,x\n"])
def test_files_of_a_table_begin_alike(tmp_path, other):
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "0.csv").write_text(NODES + "k,1,y\nl,1,y\n")
    (tmp_path / "nodes" / "1.csv").write_text(other)
    (tmp_path / "e.csv").write_text(EDGES)
    with pytest.raises(InputError, match=r"1\.csv: its first lines are not those of 0\.csv"):
        import_tables(tmp_path / "nodes", tmp_path / "e.csv", tmp_path / "store", TableOptions())


def test_empty_parts_beside_full_ones_are_no_matter(tmp_path):
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "0.csv").write_text("id,f0,label\n")
    (tmp_path / "nodes" / "1.csv").write_text(NODES)
    (tmp_path / "n.csv").write_text(NODES)
    (tmp_path / "e.csv").write_text(EDGES)
    import_tables(tmp_path / "nodes", tmp_path / "e.csv", tmp_path / "store", TableOptions())
    same(open_store(tmp_path / "store"), read_graph(tmp_path / "n.csv", tmp_path / "e.csv"))


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    nodes, edges = written(tmp_path, "parquet")
    (tmp_path / "store.importing").mkdir()
    (tmp_path / "store.importing" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already, and not from an import"):
        import_tables(nodes, edges, tmp_path / "store", TableOptions())
    assert (tmp_path / "store.importing" / "thesis.txt").read_text() == "mine"


def test_one_process_imports_into_a_store(tmp_path):
    nodes, edges = written(tmp_path, "parquet")
    with locked(tmp_path / "store.importing.lock"), pytest.raises(InputError, match="another process is importing"):
        import_tables(nodes, edges, tmp_path / "store", TableOptions())
    import_tables(nodes, edges, tmp_path / "store", TableOptions())


def test_an_import_goes_on_where_it_was_and_begins_anew_with_other_tables(tmp_path, monkeypatch):
    nodes, edges = written(tmp_path, "parquet")
    whole = store.write_edges

    def broken(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "write_edges", broken)
    with pytest.raises(KeyboardInterrupt):
        import_tables(nodes, edges, tmp_path / "store", TableOptions())
    assert not is_store(tmp_path / "store")
    monkeypatch.setattr(store, "write_edges", whole)
    lines = []
    import_tables(nodes, edges, tmp_path / "store", TableOptions(), say=lines.append)
    assert "nodes: done before" in lines
    same(read_graph(graph=tmp_path / "store"), read_graph(nodes, edges))

    monkeypatch.setattr(store, "write_edges", broken)
    with pytest.raises(KeyboardInterrupt):
        import_tables(nodes, edges, tmp_path / "other", TableOptions())
    change(tmp_path, "nodes", lambda t: column(t, "x0", np.ones(len(t))))
    monkeypatch.setattr(store, "write_edges", whole)
    lines.clear()
    import_tables(nodes, edges, tmp_path / "other", TableOptions(), say=lines.append)
    assert "reading nodes" in lines
    same(read_graph(graph=tmp_path / "other"), read_graph(nodes, edges))


def test_a_damaged_store_is_noticed(tmp_path):
    nodes, edges = written(tmp_path, "parquet")
    store = tmp_path / "store"
    import_tables(nodes, edges, store, TableOptions())
    verify(store)
    content = bytearray((store / "features.bin").read_bytes())
    content[100] ^= 1
    (store / "features.bin").write_bytes(content)
    for read in (verify, lambda path: open_store(path, False)):
        with pytest.raises(InputError, match=r"features.bin: corrupt \(its content does not match"):
            read(store)
    (store / "features.bin").write_bytes(content[:-4])
    with pytest.raises(InputError, match=r"features.bin: corrupt \(\d+ bytes, where \d+ are needed"):
        open_store(store, True)
    (store / "features.bin").write_bytes(content)
    (store / "ids.arrow").write_bytes(b"no")
    with pytest.raises(InputError, match=r"ids.arrow: corrupt"):
        open_store(store, True)
    (store / "store.json").write_text("{}")
    with pytest.raises(InputError, match="is of another version"):
        open_store(store)


def test_text_is_a_number_where_it_is_one_in_memory(tmp_path):
    edges = tmp_path / "e.csv"
    edges.write_text("source,target,weight\na,b,true\nb,c,True\n")
    nodes = tmp_path / "n.csv"
    nodes.write_text("id,x,y\na,true,1\nb,False, 2e1\nc,TRUE,3\n")
    import_tables(nodes, edges, tmp_path / "store", TableOptions())
    same(open_store(tmp_path / "store"), read_graph(nodes, edges))
    nodes.write_text("id,x\na,1_000\nb,2\nc,3\n")
    with pytest.raises(InputError, match="column 'x' has no finite number for node 'a'"):
        import_tables(nodes, edges, tmp_path / "other", TableOptions())


def test_a_column_of_lists_is_not_numeric(tmp_path):
    (tmp_path / "e.csv").write_text(EDGES)
    pq.write_table(pa.table({"id": ["a", "b"], "l": [[1.0], [2.0]]}), tmp_path / "n.parquet")
    with pytest.raises(InputError, match=r"column 'l' .* is not numeric"):
        import_tables(tmp_path / "n.parquet", tmp_path / "e.csv", tmp_path / "store", TableOptions())
