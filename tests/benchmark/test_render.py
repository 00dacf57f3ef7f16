"""Tables as files: Markdown, LaTeX and CSV."""

import csv
import re

import pytest

from benchmark.printed import ALL
from benchmark.stores import cell
from paretognn.benchmark.render import Entry, Table, latex

HOSTILE = "a|b_c & d*e*\\ [x](y) $1% <u>#~^{}"


def test_hostile_names_keep_every_format_whole(tables, tmp_path):
    out = tmp_path / "out"
    found = tables(
        cell(HOSTILE, 50, HOSTILE), cell("line\nbreak", 40, HOSTILE), cell("bgrl", 30, HOSTILE, steps=700), out=out
    )
    header, rows, _ = found[ALL]
    assert header[1] == r"a\|b_c & d\*e\*\\ \[x](y) \$1% \<u>#\~^{}"
    assert {row[0] for row in rows} >= {header[1], "line break"}
    for path in out.glob("*.csv"):
        lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        assert len({len(line) for line in lines}) == 1
    with (out / "average-performance-all.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["method"] for line in lines} == {HOSTILE, "line\nbreak", "bgrl"}
    assert {line[HOSTILE] for line in lines} == {"50.00", "40.00", "30.00"}
    for path in out.glob("*.tex"):
        body = path.read_text(encoding="utf-8").partition(r"\toprule")[2].partition(r"\bottomrule")[0]
        counts = {len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines() if line.endswith(r"\\")}
        assert len(counts) == 1
        assert not re.search(r"(?<!\\)[#%]|(?<!\\)_(?!\{)", body)


def test_every_table_is_written_in_three_formats(tables, tmp_path):
    out = tmp_path / "out"
    found = tables(cell("paretognn", 50, "pubmed"), cell("bgrl", 40, "pubmed"), out=out)
    names = {path.stem for path in out.iterdir()}
    assert len(names) == len(found)
    assert {path.name for path in out.iterdir()} == {f"{name}.{s}" for name in names for s in ("md", "tex", "csv")}
    tex = (out / "average-performance-methods.tex").read_text(encoding="utf-8")
    assert r"\textbf{50.00}$_{\pm 0.10}$" in tex
    assert r"\underline{40.00}$_{\pm 0.10}$" in tex
    assert "cora" not in tex


@pytest.mark.parametrize("name", ["[mine]", "*mine"])
def test_a_row_of_latex_takes_nothing_for_an_option_of_the_line_before(name):
    text = latex(Table("name", "Title", ("method", "score"), ((Entry(name), Entry("1.00")),), "Caption.", {}))
    (line,) = (line for line in text.splitlines() if "mine" in line)
    assert line.startswith("{}")


@pytest.mark.parametrize("rows", [40, 41])
def test_a_table_longer_than_a_page_goes_over_several(rows):
    lines = tuple((Entry(f"row {i}"), Entry("1.00", marks=("†",))) for i in range(rows))
    table = Table("name", "Title", ("method", "score"), lines, "Caption.", {"†": "a note"})
    text = latex(table)
    head, first = r"method & score \\", text.splitlines()[0]
    long = rows > 40
    assert first.endswith("longtable" if long else "graphicx")
    assert text.count(head) == 1 + long
    assert (r"\endhead" in text, r"\begin{table}" in text) == (long, not long)
    assert text.count(r"\caption") == text.count(r"\label{tab:name}") == text.count("a note") == 1
