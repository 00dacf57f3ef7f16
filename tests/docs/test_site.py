"""What the site is made with: sections included, docstrings as Markdown, the drawing's geometry."""

import importlib.util
import re

import numpy as np
import pytest

from docs.pages import ROOT
from paretognn.reconcile.min_norm import min_norm_weights

pytest.importorskip("griffe")


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


include, docstrings = load("include"), load("docstrings")


def test_a_section_ends_where_the_next_of_its_level_begins():
    text = "# T\na\n## One `x.py`\nb\n```sh\n# no heading\n```\n### Below\nc\n## Two\nd\n"
    found = include.sections(text)
    assert found["one-xpy"] == "b\n```sh\n# no heading\n```\n### Below\nc\n"
    assert found["two"] == "d\n"
    assert "no-heading" not in found


def test_every_include_finds_its_section():
    pages = {page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")}
    asked = sum(text.count("\n<!-- include: ") for text in pages.values())
    assert asked > 10
    for text in pages.values():
        assert "\n<!-- include: " not in include.on_page_markdown(text)
    with pytest.raises(KeyError):
        include.included("README.md", "no-such-section")


def test_links_of_an_included_text_hold_in_docs():
    link = include._LINK
    assert link.sub(include._link, "[docs/speed.md](docs/speed.md#growth)") == "[speed](speed.md#growth)"
    assert link.sub(include._link, "[here](ARCHITECTURE.md)") == "[here](how-it-works.md)"
    assert link.sub(include._link, "[a](https://b.org)") == "[a](https://b.org)"
    assert link.sub(include._link, "[LICENSE](LICENSE)") == "`LICENSE`"


def test_lists_and_tables_stand_apart():
    assert (
        include.spaced("text:\n- a\n  b\n- c\n\n```\nx\n- y\n```\n") == "text:\n\n- a\n  b\n- c\n\n```\nx\n- y\n```\n"
    )
    assert include.spaced("text\n| a |\n| - |\n") == "text\n\n| a |\n| - |\n"


def test_fields_of_a_docstring_are_a_list():
    text = "What.\n\nx : float [N],\n    of nodes. y, z : ids. Raises InputError.\n\n>>> f(1)\n2"
    assert docstrings.as_markdown(text) == (
        "What.\n\n- `x`: float [N], of nodes.\n- `y, z`: ids. Raises InputError.\n\n```pycon\n>>> f(1)\n2\n```"
    )


def test_the_drawing_shows_the_point_of_least_norm():
    drawing = (ROOT / "docs" / "method.svg").read_text(encoding="utf-8")
    ends = [
        tuple(float(found[1]) for found in re.finditer(r'[xy][12]="([\d.]+)"', line))
        for line in drawing.splitlines()
        if line.startswith("<line x1=")
    ]
    *gradients, drawn = [np.array([x2 - x1, y2 - y1]) for x1, y1, x2, y2 in ends]
    G = np.array(gradients)
    assert len(G) == 5
    np.testing.assert_allclose(np.linalg.norm(G, axis=1), 110, atol=0.1)
    np.testing.assert_allclose(min_norm_weights(G @ G.T) @ G, drawn, atol=0.1)
