"""Features split over processes are, for training, the features."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from made import make_graph
from paretognn.errors import InputError
from paretognn.graph.mapped import node_parts, open_store
from paretognn.graph.table_options import TableOptions
from paretognn.training.prepare import prepare
from paretognn.training.ranks import Ranks
from paretognn.training.split_features import split_over
from training.test_ranks import TESTS, launched

pytest.importorskip("duckdb")
from paretognn.graph.importing import import_tables


def stored(folder, parts):
    graph = make_graph(150)
    pq.write_table(
        pa.table({"id": np.arange(150), **{f"x{j}": graph.features[:, j] for j in range(12)}}), folder / "n.parquet"
    )
    pq.write_table(pa.table(dict(zip(("source", "target"), graph.pairs().T, strict=True))), folder / "e.parquet")
    import_tables(folder / "n.parquet", folder / "e.parquet", folder / "store", TableOptions(), parts=parts)
    return folder / "store"


def test_ranks_with_a_share_of_the_features_hold_what_ranks_with_all_of_them_hold(tmp_path):
    store = stored(tmp_path, 4)
    assert sorted(set(node_parts(store).tolist())) == [0, 1, 2, 3]
    launched(2, [str(TESTS / "training" / "split_steps.py"), str(store), str(tmp_path)])
    first, second = (np.load(tmp_path / f"{index}.npz") for index in range(2))
    np.testing.assert_array_equal(first["split"], first["whole"])
    np.testing.assert_array_equal(first["split"], second["split"])
    np.testing.assert_array_equal(first["aligned"], second["aligned"])
    assert sorted([*first["own"], *second["own"]]) == list(range(150))
    assert np.isfinite(np.load(tmp_path / "embeddings.npy")).all()


def test_parts_are_no_part_of_what_training_sees(tmp_path):
    (tmp_path / "plain").mkdir()
    plain, divided = open_store(stored(tmp_path / "plain", None)), open_store(stored(tmp_path, 3))
    assert plain.digest() == divided.digest()


@pytest.mark.parametrize(("parts", "mapped", "said"), [
    (None, True, "was imported without parts; import the graph again with --parts N"),
    (3, True, "has 3 parts for 2 processes; import the graph with --parts 2, or start as many"),
    (2, False, "--split-features is for an imported graph that is mapped from disk"),
])  # fmt: skip
def test_what_cannot_be_split_is_one_line(tmp_path, parts, mapped, said):
    graph = open_store(stored(tmp_path, parts), mapped)
    with pytest.raises(InputError, match=said):
        split_over(Ranks(0, 2), graph, *prepare(graph, "none", "cpu"))
