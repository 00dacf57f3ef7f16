"""The page of tables is what the command makes of the stored cells."""

import json
from pathlib import Path

import pytest

from paretognn.benchmark.cells import DONE, Store
from paretognn.cli.main import run

ROOT = Path(__file__).parents[2]
STORE = ROOT / "benchmarks" / "store"


def test_the_tables_in_the_docs_are_those_of_the_stored_cells(capsys):
    assert run(["tables", str(STORE)]) == 0
    made = capsys.readouterr().out
    assert made.count("\n## ") > 10
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert made == page[page.index("\n## ") + 1 :]


def test_the_scores_in_the_readme_are_those_of_the_stored_cells():
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Results\n")[2].partition("\n## ")[0]
    rows = [[part.strip(" *") for part in line.split("|")[1:-1]] for line in section.splitlines() if line[:3] == "| `"]
    cells = {cell.key.method: cell for cell in Store(STORE) if cell.key.dataset == "cora" and not cell.key.settings}
    assert len(rows) >= 8
    for name, *scores, average in rows:
        judged = cells[name.split("`")[1]].evaluation
        tasks = judged["tasks"].values()
        assert scores == [f"{100 * task['mean']:.1f} ±{100 * task['std']:.1f}" for task in tasks], name
        assert average == f"{100 * judged['average']:.1f}"


def test_the_same_tables_as_json(capsys):
    assert run(["tables", str(STORE), "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert [table["title"] for table in tables] == [line[3:] for line in page.splitlines() if line.startswith("## ")]
    (paretognn,) = [row for row in tables[0]["rows"] if row["method"]["text"] == "paretognn"]
    assert paretognn["cora"]["text"] == "79.18"


@pytest.mark.parametrize("cell", list(Store(STORE)), ids=lambda cell: cell.key.name)
def test_a_stored_cell_says_how_it_was_made(cell):
    assert cell.status == DONE
    assert cell.command.startswith("paretognn benchmark --datasets ")
    assert "/" not in cell.command
    assert cell.hardware["device"]
    assert cell.versions["torch"]
    assert cell.evaluation["average"] > 0
