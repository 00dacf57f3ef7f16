"""What the benchmarks measure on, and that the documents print what was measured."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
RECIPE = ("benchmarks/results/recipe",)
FIGURE = ROOT / "docs" / "does-training-pay.svg"


@pytest.mark.parametrize("per_row", [None, 5])
def test_a_synthetic_shape_has_its_sizes_and_is_the_same_every_time(per_row):
    shape = runpy.run_path(str(ROOT / "benchmarks" / "shapes.py"))["Shape"](400, 1500, 60, per_row)
    graph = shape.make()
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (400, 1500, 60)
    assert graph.digest() == shape.make().digest() != shape.make(seed=1).digest()
    degrees = np.diff(graph.indptr)
    assert degrees.max() > 5 * degrees.mean()
    if per_row:
        assert set(graph.features.data) == {1.0}
        assert graph.features.nnz <= 400 * per_row


def test_the_tables_of_speed_and_trials_are_those_of_the_stored_results():
    command = [sys.executable, "benchmarks/speed_tables.py", "benchmarks/results/speed"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows = [line for line in made.splitlines() if line.startswith("|")]
    assert len(rows) > 100
    pages = "".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("speed", "trials"))
    assert not [line for line in rows if line not in pages]
    tables = [table.splitlines() for table in re.findall(r"(?:^\|.*\n)+", pages, re.MULTILINE)]
    stale = [line for table in tables if table[0] in rows for line in table if line not in rows]
    assert not stale


def test_the_page_on_whether_training_pays_is_made_of_stored_results(tmp_path):
    drawn = tmp_path / "pay.svg"
    command = [sys.executable, "benchmarks/recipe_tables.py", "benchmarks/store", *RECIPE, "--figure", str(drawn)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "does-training-pay.md").read_text(encoding="utf-8")
    rows = [line for line in made.splitlines() if line.startswith(("|", "## "))]
    assert len(rows) > 30
    missing = [line for line in rows if line not in page]
    assert not missing
    texts = [re.findall(r"<text[^>]*>([^<]*)<", path.read_text(encoding="utf-8")) for path in (drawn, FIGURE)]
    assert texts[0] == texts[1]
    assert any("+" in text for text in texts[0])
