import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from downstream.graphs import complete, path
from paretognn.downstream import LinkSplit, load_link_split, save_link_split, split_links
from paretognn.errors import InputError

IDS = pa.array(["007", "7", "NA", "null"])


def write(tmp_path, source, target, sets, names=("source", "target", "set")):
    file = tmp_path / "split.parquet"
    pq.write_table(pa.table(dict(zip(names, (source, target, sets), strict=True))), file)
    return file


def test_there_and_back(tmp_path):
    graph = complete(9)
    split = split_links(graph, 3)
    save_link_split(tmp_path / "s.parquet", split, graph)
    assert load_link_split(tmp_path / "s.parquet", graph).digest() == split.digest()
    assert [file.name for file in tmp_path.iterdir()] == ["s.parquet"]


def test_ids_stay_text(tmp_path):
    graph = path(4, ids=IDS)
    split = LinkSplit(np.array([[0, 1]]), np.array([[1, 2]]), np.array([[2, 3]]))
    save_link_split(tmp_path / "s.parquet", split, graph)
    assert pq.read_table(tmp_path / "s.parquet").to_pydict() == {
        "source": ["007", "7", "NA"],
        "target": ["7", "NA", "null"],
        "set": ["train", "val", "test"],
    }
    assert load_link_split(tmp_path / "s.parquet", graph).digest() == split.digest()


def test_direction_and_row_order_do_not_matter(tmp_path):
    graph = path(4, ids=IDS)
    file = write(tmp_path, ["null", "7", "007"], ["NA", "NA", "7"], ["test", "val", "train"])
    assert load_link_split(file, graph).test.tolist() == [[2, 3]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((["007", "x"], ["7", "NA"], ["train", "test"]), r"1 id\(s\) of column 'source'.*'x'"),
        ((["007", "7"], ["7", "NA"], ["train", "tset"]), "unknown set 'tset'"),
        ((["007", "7"], ["7", None], ["train", "test"]), "column 'target'"),
        ((["007", "7"], ["7", "null"], ["train", "test"]), "not edges.*7 - null"),
    ],
)
def test_files_that_do_not_fit(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        load_link_split(write(tmp_path, *rows), path(4, ids=IDS))


def test_missing_column_and_file(tmp_path):
    with pytest.raises(InputError, match="no column 'set'"):
        load_link_split(write(tmp_path, ["0"], ["1"], ["train"], ("source", "target", "part")), path(4))
    with pytest.raises(InputError, match="cannot be read"):
        load_link_split(tmp_path / "absent.parquet", path(4))
    (tmp_path / "text.parquet").write_text("source,target,set\n")
    with pytest.raises(InputError, match="cannot be read"):
        load_link_split(tmp_path / "text.parquet", path(4))


def test_columns_that_are_no_text_are_one_line(tmp_path):
    with pytest.raises(InputError, match="must hold text"):
        load_link_split(write(tmp_path, [["0"]], ["1"], ["train"]), path(4))
