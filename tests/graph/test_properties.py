"""Laws that hold for any table, and any bytes at all."""

import csv
import gzip
import io
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paretognn.errors import InputError
from paretognn.graph import Graph, load_graph, read_graph, read_npz, save_graph

slow = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
id_lists = st.lists(texts, min_size=2, max_size=12, unique=True)


def csv_bytes(rows, delimiter):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    return out.getvalue().encode()


@slow
@given(ids=id_lists, delimiter=st.sampled_from(",;\t|"), packed=st.booleans())
def test_any_text_comes_back_exactly_through_csv(desk, ids, delimiter, packed):
    pack = gzip.compress if packed else bytes
    nodes = pack(csv_bytes([("id", "x"), *((name, k) for k, name in enumerate(ids))], delimiter))
    ends = list(pairwise(ids))
    graph = desk.read(nodes, pack(csv_bytes([("source", "target"), *ends], delimiter)))
    assert graph.ids.to_pylist() == ids
    assert graph.features.ravel().tolist() == list(range(len(ids)))
    assert graph.pairs().tolist() == [[k, k + 1] for k in range(len(ids) - 1)]
    alone = desk.read(None, csv_bytes([("source", "target"), *ends], delimiter))
    assert alone.ids.to_pylist() == ids


@slow
@given(ids=id_lists)
def test_any_text_comes_back_exactly_through_parquet_and_the_store(desk, ids):
    nodes = {"id": pa.array(ids), "x": pa.array(range(len(ids)), pa.int64())}
    graph = desk.read(nodes, {"source": pa.array(ids[1:]), "target": pa.array(ids[:-1])})
    assert graph.ids.to_pylist() == ids
    save_graph(graph, desk.folder / "kept")
    assert load_graph(desk.folder / "kept").digest() == graph.digest()


@slow
@given(data=st.data())
def test_the_order_of_rows_does_not_matter(desk, data):
    n = data.draw(st.integers(2, 8))
    weight = st.integers(0, 3)
    edge = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), weight)
    edges = data.draw(st.lists(edge, min_size=1, max_size=20))
    nodes = [(f"n{k}", 10 * k) for k in range(n)]

    def read(node_rows, edge_rows):
        graph = desk.read(
            csv_bytes([("id", "x"), *node_rows], ","),
            csv_bytes([("source", "target", "weight"), *((f"n{a}", f"n{b}", w) for a, b, w in edge_rows)], ","),
        )
        order = np.argsort([int(name[1:]) for name in graph.ids.to_pylist()])
        return graph, graph.adjacency().toarray()[np.ix_(order, order)], graph.features[order]

    one, matrix, features = read(nodes, edges)
    other, other_matrix, other_features = read(data.draw(st.permutations(nodes)), data.draw(st.permutations(edges)))
    assert np.allclose(matrix, other_matrix)
    assert (features == other_features).all()
    assert one.counts == other.counts
    assert (matrix == matrix.T).all()
    assert not matrix.diagonal().any()
    dense = np.zeros((n, n, 2))
    for a, b, w in edges:
        if a != b and w:
            for i, j in ((a, b), (b, a)):
                dense[i, j] += (w, 1)
    assert np.allclose(matrix, dense[..., 0] / np.maximum(dense[..., 1], 1))


junk = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
    st.text('ab1,;\t|"#\n\r .-e', max_size=60).map(str.encode),
    st.binary(max_size=60).map(lambda tail: b"PAR1" + tail),
    st.binary(max_size=60).map(lambda tail: b"PK\x03\x04" + tail),
    st.binary(max_size=60).map(lambda tail: b"\x1f\x8b" + tail),
)


def graph_or_input_error(read):
    try:
        outcome = read()
    except InputError as error:
        outcome = error
    assert isinstance(outcome, Graph) or len(str(outcome).splitlines()) == 1


@settings(slow, max_examples=400)
@given(junk=junk)
def test_any_bytes_give_a_graph_or_one_line(desk, junk):
    path = desk.write("junk.csv", junk)
    edges = desk.write("edges.csv", "source,target\na,b\n")
    for read in (
        lambda: read_graph(edges=path),
        lambda: read_graph(path, edges),
        lambda: read_graph(path, path, add_missing_nodes=True, impute="zero"),
        lambda: read_npz(path),
    ):
        graph_or_input_error(read)


@settings(slow, max_examples=150)
@given(data=st.data())
@pytest.mark.parametrize("kind", ["parquet", "npz", "gz", "store"])
def test_any_damage_to_a_good_file_gives_a_graph_or_one_line(desk, kind, data):
    graph = desk.read("id,x\na,1\nb,2\n", "source,target\na,b\n")
    if kind == "parquet":
        path = desk.write("edges.parquet", {"source": ["a", "b"], "target": ["b", "c"]})
        read = lambda: read_graph(edges=path)  # noqa: E731
    elif kind == "gz":
        path = desk.write("edges.csv.gz", gzip.compress(b"source,target\na,b\nb,c\n", mtime=0))
        read = lambda: read_graph(edges=path)  # noqa: E731
    elif kind == "npz":
        path = desk.folder / "g.npz"
        np.savez(path, adj_data=[1.0], adj_indices=[1], adj_indptr=[0, 1, 1], adj_shape=[2, 2], labels=[0, 1])
        read = lambda: read_npz(path)  # noqa: E731
    else:
        save_graph(graph, desk.folder / "kept")
        path = desk.folder / "kept" / data.draw(st.sampled_from(["arrays.npz", "graph.json", "ids.parquet"]))
        read = lambda: load_graph(desk.folder / "kept")  # noqa: E731
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]) if data.draw(st.booleans()) else content)
    graph_or_input_error(read)
