"""What is said of tables that cannot be read as they are, and that its advice can be followed: case C16."""

import os
import re
import shlex

import pandas as pd
import pyarrow as pa
import pytest

from paretognn.cli.options import listed
from paretognn.errors import InputError
from paretognn.graph import read_graph


def test_c16_a_text_column_names_itself_and_its_first_value(desk):
    nodes = "id,x,city,name\na,1,3,Ann\nb,2,Rome,Bob\n"
    with pytest.raises(InputError, match=r"column 'city' is not numeric: 1 of 2 values are text, the first 'Rome'"):
        desk.read(nodes, "source,target\na,b\n")
    with pytest.raises(InputError, match=r"1 more such column\(s\): name"):
        desk.read(nodes, "source,target\na,b\n")
    with pytest.raises(InputError, match=r"column 't' is not numeric: it holds timestamp"):
        desk.read({"id": ["a"], "t": pa.array([0], pa.timestamp("s"))}, {"source": ["a"], "target": ["a"]})


def test_c16_a_text_column_may_be_the_label(desk):
    with pytest.raises(InputError, match="--label-column city where it is the label"):
        desk.read("id,x,city\na,1,Rome\nb,2,Oslo\n", "source,target\na,b\n")
    with pytest.raises(InputError, match="is not numeric") as error:
        desk.read("id,x,city,label\na,1,Rome,0\nb,2,Oslo,1\n", "source,target\na,b\n")
    assert "--label-column" not in str(error.value)


def test_what_is_advised_for_a_column_can_be_done(desk):
    """Lists are neither categories nor labels, and days are."""
    edges = {"source": ["a"], "target": ["a"]}
    with pytest.raises(InputError, match=r"it holds list.*use --drop-columns l$"):
        desk.read({"id": ["a"], "l": pa.array([[1]])}, edges)
    days = {"id": ["a"], "d": pa.array([0], pa.date32())}
    with pytest.raises(InputError, match="use --drop-columns d, or --categorical d for one column a value, or --label"):
        desk.read(days, edges)
    assert desk.read(days, edges, categorical=["d"]).num_features == 1


def test_a_number_too_large_for_single_precision_is_said_to_be(desk):
    with pytest.raises(
        InputError, match=r"has 1 value\(s\) that are blank, NaN, infinite or above 3.4e38, the first at"
    ):
        desk.read("id,x\na,1e308\nb,1\n", "source,target\na,b\n")
    with pytest.raises(InputError, match=r"negative, blank, NaN, infinite or above 3.4e38"):
        desk.read("id,x\na,1\nb,1\n", "source,target,weight\na,b,1e308\n")


def test_a_categorical_column_of_hardly_any_equal_values_is_warned_of(desk):
    def warnings(distinct):
        rows = "".join(f"n{i},day {i % distinct}\n" for i in range(240))
        return desk.read("id,seen\n" + rows, "source,target\nn1,n2\n", categorical=["seen"]).warnings

    assert "column 'seen' has 121 values in 240 rows" in warnings(121)[0]
    assert not any("seen" in line for line in warnings(120))


def test_columns_in_advice_are_as_the_command_line_takes_them(desk):
    with pytest.raises(InputError) as error:
        desk.read("id,x,'city, state'\na,1,Rome\nb,2,Oslo\n".replace("'", '"'), "source,target\na,b\n")
    advised = re.search(r"--drop-columns (\S+ \S+),", str(error.value))[1]
    assert listed(shlex.split(advised)[0]) == ["city, state"]


def test_spaces_of_ids_are_said_on_either_side(desk):
    for nodes, edges in (("a", " a"), (" a", "a")):
        with pytest.raises(InputError, match="ids keep their spaces, and these differ by them"):
            desk.read(f"id,x\n{nodes},1\nb,2\n", f"source,target\n{edges},b\n")


def test_a_pipe_is_said_to_be_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    with pytest.raises(InputError, match="is a pipe or a device"):
        read_graph(tmp_path / "pipe", tmp_path / "e.csv")


def test_what_is_no_path_is_refused():
    with pytest.raises(InputError, match="nodes must be the path of a file, not a DataFrame"):
        read_graph(pd.DataFrame({"id": ["a"]}), "e.csv")
