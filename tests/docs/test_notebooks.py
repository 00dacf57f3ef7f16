"""The notebooks run from top to bottom, and are stored without outputs."""

import nbformat
import pytest
from nbclient import NotebookClient

from docs.pages import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} == {"rare_labels", "recommend_links"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    tables = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs if "data" in out]
    assert any("text/html" in out["data"] for out in tables)
    assert not list(tmp_path.iterdir())
