import pyarrow as pa
import pytest

from paretognn.errors import InputError
from paretognn.graph.label_table import read_labels
from paretognn.graph.table_options import TableOptions

IDS = pa.array(["007", "7", "a", "b"])


def read(tmp_path, text, **options):
    path = tmp_path / "known.csv"
    path.write_text(text)
    return read_labels(path, IDS, TableOptions(**options))


def test_labels_are_joined_by_the_text_of_the_id(tmp_path):
    codes, names = read(tmp_path, "id,fraud\nb,yes\n7,no\n007,yes\na,\n")
    assert [names[code] if code >= 0 else None for code in codes] == ["yes", "no", None, "yes"]


def test_a_column_named_label_or_asked_for_is_taken_among_others(tmp_path):
    text = "id,when,label,other\na,mon,x,p\nb,tue,y,q\n"
    assert read(tmp_path, text)[1] == ("x", "y")
    assert read(tmp_path, text, label_column="other")[1] == ("p", "q")
    assert read(tmp_path, "who,label\na,x\nb,y\n", id_column="who")[0].tolist() == [-1, -1, 0, 1]


def test_a_header_of_other_names_is_told_by_its_option(tmp_path):
    text = "who,kind\na,x\nb,y\n"
    with pytest.raises(InputError, match="say --header yes or --header no"):
        read(tmp_path, text)
    assert read(tmp_path, text, header="yes")[1] == ("x", "y")
    assert read(tmp_path, "a,x\nb,y\n", header="no")[0].tolist() == [-1, -1, 0, 1]
    assert read(tmp_path, "who,label\na,x\nb,y\n")[1] == ("x", "y")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("id,when,what\na,mon,x\n", {}, "--label-column"),
        ("id\na\n", {}, "--label-column"),
        ("id,label\na,x\na,y\n", {}, "duplicate node id 'a'"),
        ("id,label\nzz,x\n", {}, r"1 id\(s\) are not in the run: zz"),
        ("id,label\n,x\n", {}, "blank in line 2"),
        ("id,label\na,x\n", {"label_column": "lable"}, "no column 'lable'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, options, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, **options)
