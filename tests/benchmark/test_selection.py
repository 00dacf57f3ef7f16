"""Which cells of a made store `paretognn tables` shows, marks and refuses."""

import shutil

import pytest

from benchmark.printed import ALL, shown
from benchmark.stores import cell, config
from paretognn.benchmark.cells import CONTROL, EMBEDDINGS
from paretognn.benchmark.reference import CONTROLS
from paretognn.errors import InputError


def test_another_budget_is_marked_at_the_row_or_the_cell(tables):
    found = tables(
        *(cell(m, 50, d) for m in ("dgi", "bgrl") for d in ("cora", "actor")),
        *(cell("grace", 50, d, steps=700) for d in ("cora", "actor")),
        cell("mvgrl", 40, "cora"),
        cell("mvgrl", 40, "actor", preset="paper"),
        cell("raw-features", 30, kind=CONTROL),
    )
    rows, below = shown(found[ALL]), found[ALL][2]
    assert list(rows) == ["dgi", "grace<sup>†</sup>", "mvgrl", "bgrl", "raw-features"]
    assert rows["mvgrl"]["actor"] == "40.00<sub>±0.10</sub><sup>†2</sup>"
    assert rows["mvgrl"]["cora"] == "40.00<sub>±0.10</sub>"
    assert "Budget: 500 steps, preset auto." in below
    assert "- <sup>†</sup> another budget: 700 steps, preset auto" in below
    assert "- <sup>†2</sup> another budget: 500 steps, preset paper" in below


def test_of_several_budgets_one_is_chosen(tables):
    cells = [cell("bgrl", 50, steps=30), cell("bgrl", 60), cell("bgrl", 70, preset="quick", steps=150)]
    control = cell("raw-features", 40, kind=CONTROL)
    by_default = tables(*cells, control)[ALL]
    assert shown(by_default)["bgrl"]["cora"] == "**60.00**<sub>±0.10</sub>"
    assert "the commonest is shown (left out: 30 steps, preset auto; 150 steps, preset quick)" in by_default[2]
    for options, expected, controls in (
        ({"steps": 30}, "50.00", ["raw-features"]),
        ({"preset": "auto", "steps": 500}, "60.00", ["raw-features"]),
        ({"preset": "quick"}, "70.00", []),
    ):
        chosen = tables(**options)[ALL]
        assert expected in shown(chosen)["bgrl"]["cora"]
        assert "left out" not in chosen[2]
        assert list(shown(chosen)) == ["bgrl", *controls]
    with pytest.raises(InputError, match="no cells with --preset any --steps 31; the store has: 30 steps, preset auto"):
        tables(steps=31)
    with pytest.raises(InputError, match="no cells with --preset any --steps 0; "):
        tables(steps=0)


def test_controls_are_those_of_the_preset_and_rows_from_files_have_none(tables):
    cells = [cell("bgrl", 60), cell("dgi", 50), cell("grace", 55, preset="quick", steps=150)]
    controls = [cell("raw-features", score, kind=CONTROL, preset=p) for p, score in (("auto", 40), ("quick", 30))]
    alone = cell("spectral", 20, kind=CONTROL, preset="quick")
    found = tables(*cells, *controls, alone, cell("mine", 10, kind=EMBEDDINGS, preset="paper"))[ALL]
    rows = shown(found)
    assert rows["raw-features"]["cora"] == "40.00<sub>±0.10</sub>"
    (marked,) = [label for label in rows if label.startswith("spectral")]
    assert f"- {marked.removeprefix('spectral')} another preset: quick" in found[2]
    assert "another preset: paper" not in found[2]
    for preset, shown_there in (("auto", ["raw-features"]), ("quick", ["raw-features", "spectral"])):
        rows = shown(tables(preset=preset)[ALL])
        assert [label for label in rows if label in CONTROLS] == shown_there
        assert any(label.startswith("mine") for label in rows)
    assert rows["raw-features"]["cora"].startswith("<u>30.00")


def test_a_budget_that_one_method_has_alone_is_in_no_table_of_the_common_one(tables):
    """As its authors' schedule, which stands beside the paper's figure."""
    cells = [cell(method, 50, "amazon-photo") for method in ("bgrl", "dgi", "grace")]
    found = tables(*cells, cell("grace", 90, "amazon-photo", steps=1000))
    assert shown(found[ALL])["grace"]["amazon-photo"] == "**50.00**<sub>±0.10</sub>"
    assert "another budget" not in found[ALL][2]
    assert "left out: 1,000 steps, preset auto" in found[ALL][2]
    beside = [row for row in found["Here beside the paper"][1] if row[1:3] == ["grace", "node classification"]]
    assert [(row[3][:5], row[6]) for row in beside] == [("50.00", "500"), ("90.00", "1000")]


def test_settings_name_a_row_of_their_own(tables):
    settings = {"reconciler": {"normalise": "none"}}
    found = tables(
        cell("paretognn", 60), cell("paretognn", 50, settings=settings), cell("weighted-sum", 70, settings=settings)
    )
    expected = {"weighted-sum [reconciler.normalise=none]", "paretognn", "paretognn [reconciler.normalise=none]"}
    assert set(shown(found[ALL])) == expected
    assert "Average performance: pretext tasks and their combinations" not in found


def test_settings_that_are_lists_and_near_numbers_are_rows_of_their_own(tables):
    near = [{"optimizer": {"weight_decay": value}} for value in (0.12345678, 0.12345679)]
    lists = [{"alternatives": [{"smoothing": value}]} for value in (1, 2)]
    found = tables(*(cell("auto", 50 + i, settings=settings) for i, settings in enumerate([*near, *lists])))
    assert [row.partition("<")[0] for row in shown(found[ALL])] == [
        "auto [alternatives=[(smoothing=1)]]", "auto [alternatives=[(smoothing=2)]]",
        "auto [optimizer.weight_decay=0.12345678]", "auto [optimizer.weight_decay=0.12345679]",
    ]  # fmt: skip


def test_two_cells_of_a_row_and_training_seed_are_not_averaged(tables):
    # The whole graph has no hops.
    samplers = [{"sampler": {"name": "full", **more}} for more in ({}, {"hops": 2})]
    with pytest.raises(InputError, match=r"are one row, 'bgrl \[sampler=full\]'; remove one"):
        tables(*(cell("bgrl", 50, settings=settings) for settings in samplers))


def test_a_copy_of_a_cell_is_no_further_training_seed(tables, tmp_path):
    tables(cell("bgrl", 50))
    (file,) = (tmp_path / "store" / "cells").iterdir()
    shutil.copy(file, file.with_name("copy.json"))
    with pytest.raises(InputError, match=f"copy.json: is the cell '{file.stem}' under another name"):
        tables()


def width(method, size, score, **more):
    settings = {"encoder": {"hidden_dims": [512, size]}}
    return cell(method, score, "actor", settings=settings, config=config(method, width=size), **more)


def test_widths_are_a_figure_and_no_rows(tables, tmp_path):
    out = tmp_path / "out"
    cells = [
        cell("paretognn", 60, "actor"),
        *(width("paretognn", size, 50 + i) for i, size in enumerate((1024, 64))),
        *(width("bgrl", size, 40 + i) for i, size in enumerate((128, 64))),
        width("dgi", 64, 99),
        width("paretognn", 256, 99),  # the plain cell stands for this width
    ]
    found = tables(*cells, out=out)
    assert {row[0] for row in found[ALL][1]} == {"paretognn", "dgi [encoder.hidden_dims=[512, 64]]"}
    header, rows, _ = found["Width of the encoder"]
    assert header == ["data set", "method", "64", "128", "256", "1024"]
    assert [row[1] for row in rows] == ["bgrl", "paretognn"]
    assert [text.partition("<")[0] for text in rows[1][2:]] == ["51.00", "-", "60.00", "50.00"]
    assert (out / "hidden-dimension.png").read_bytes().startswith(b"\x89PNG")
    first = (out / "hidden-dimension.svg").read_bytes()
    tables(out=out)
    assert (out / "hidden-dimension.svg").read_bytes() == first


def test_a_line_of_the_figure_is_of_one_budget(tables):
    short = [width("paretognn", size, 50, steps=3) for size in (64, 128)]
    plain = cell("paretognn", 60, "actor")
    _, rows, _ = tables(*short, plain)["Width of the encoder"]
    assert [[text.partition("<")[0] for text in row[1:]] for row in rows] == [["paretognn", "50.00", "50.00"]]
    _, rows, _ = tables(*short, plain, width("paretognn", 512, 70))["Width of the encoder"]
    labels = ["paretognn (3 steps, preset auto)", "paretognn (500 steps, preset auto)"]
    assert [row[1].partition("<sup>")[0] for row in rows] == labels


def test_a_width_that_a_row_has_alone_stands_in_the_tables_and_is_said(tables):
    """As where a whole grid is made with one --widths."""
    cells = [width(method, 64, score) for method, score in (("paretognn", 60), ("bgrl", 50))]
    found = tables(*cells, cell("paretognn", 70, "cora"))
    wide = ["bgrl [encoder.hidden_dims=[512, 64]]", "paretognn [encoder.hidden_dims=[512, 64]]"]
    rows = shown(found[ALL])
    assert list(rows) == [wide[0], "paretognn", wide[1]]
    assert [row["actor"].partition("<sub>")[0] for row in rows.values()] == ["<u>50.00</u>", "-", "**60.00**"]
    for title in ("Cost: seconds for 1,000 steps", "Hyper-parameters"):
        assert {*wide, "paretognn"} <= {row[0] for row in found[title][1]}
    assert {row[1] for row in found["Here beside the paper"][1]} == set(wide)
    assert "Width of the encoder" not in found
    found = tables(width("bgrl", 64, 40, steps=700))
    assert {row[1] for row in found["Here beside the paper"][1]} == set(wide)


PROTOCOL = {
    "kind of split": {"split": "public"},
    "evaluation seeds": {"evaluation_seeds": [0, 1, 2]},
    "split digests": {"split_digests": ["x", "y"]},
    "partition digest": {"partition": {"digest": "x"}},
    "link split digest": {"link_split_digest": "x"},
}


@pytest.mark.parametrize("what", PROTOCOL)
def test_mixed_protocols_are_refused(tables, what):
    with pytest.raises(InputError, match=what) as raised:
        tables(cell("bgrl", 50), cell("dgi", 50, evaluation=PROTOCOL[what]))
    assert "bgrl__auto-500__seed0" in str(raised.value)
    assert "dgi__auto-500__seed0" in str(raised.value)


def test_other_data_sets_and_training_seeds_have_their_own_splits(tables):
    assert tables(cell("bgrl", 50), cell("bgrl", 50, seed=1), cell("dgi", 50, "actor"), cell("dgi", 40))
