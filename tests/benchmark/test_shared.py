import numpy as np
import pytest

from made import make_graph
from paretognn.benchmark.cells import Store
from paretognn.benchmark.shared import shared_partition, write_link_split
from paretognn.downstream import metis_partition
from paretognn.errors import InputError
from paretognn.graph import Graph, build_graph


def with_an_edge_more(graph: Graph) -> Graph:
    low, high = np.argwhere(np.triu(graph.adjacency().toarray() == 0, 1))[0]
    source, target = np.append(graph.pairs(), [[low, high]], axis=0).T
    return build_graph(graph.num_nodes, source, target, features=graph.features, labels=graph.labels, name=graph.name)


def test_c48_after_an_edge_is_added_the_partition_is_made_anew_and_the_old_link_split_refused(tmp_path):
    store, graph = Store(tmp_path), make_graph()
    more = with_an_edge_more(graph)
    first = shared_partition(store, graph)
    (kept,) = (tmp_path / "partitions").glob("*.npy")
    np.save(kept, first[::-1])
    assert (shared_partition(store, graph) == first[::-1]).all()
    assert (shared_partition(store, more) == metis_partition(more)).all()
    write_link_split(store, graph)
    write_link_split(store, graph)
    with pytest.raises(InputError, match="is not the link split of this graph"):
        write_link_split(store, more)
