import csv

import pyarrow as pa
import pytest

from paretognn.errors import InputError
from paretognn.graph.write_table import write_table


@pytest.mark.parametrize("ids", [["a", "b"], ['a"b', "c,d"], ["line\nbreak", "b"]])
def test_csv_is_read_back_as_it_was_and_quotes_only_what_needs_it(tmp_path, ids):
    table = pa.table({"id": ids, "p(x,y)": [0.5, 1.0], "known": ["", "z"]})
    path = tmp_path / "out.csv"
    write_table(path, table)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ids
    assert [float(row["p(x,y)"]) for row in rows] == [0.5, 1.0]
    assert [row["known"] for row in rows] == ["", "z"]
    if ids == ["a", "b"]:
        assert '"a"' not in path.read_text()


def test_another_ending_is_refused_and_writes_nothing(tmp_path):
    with pytest.raises(InputError, match=r"one of \.parquet, \.csv"):
        write_table(tmp_path / "x.xlsx", pa.table({"id": ["a"]}))
    assert not list(tmp_path.iterdir())
