"""The tables of made stores: what is printed, in which order, with which ranks."""

import re

import pytest

from benchmark.printed import ALL, shown
from benchmark.stores import cell, config
from paretognn.benchmark.cells import CONTROL, EMBEDDINGS, FAILED, OUT_OF_MEMORY, TRAINED
from paretognn.benchmark.grid import method_names
from paretognn.benchmark.reference import CONTROLS, METRICS, VARIANTS, paper_scores, paper_settings
from paretognn.cli.tables import command
from paretognn.errors import InputError


def test_no_store_and_an_empty_one_are_one_line(tmp_path):
    for name in ("missing", "empty"):
        (tmp_path / "empty" / "cells").mkdir(parents=True, exist_ok=True)
        with pytest.raises(InputError, match="no cells in"):
            command(tmp_path / name, None, None, None)


def test_best_second_ties_and_what_did_not_finish(tables):
    found = tables(
        cell("paretognn", 80),
        cell("bgrl", 80),
        cell("dgi", 70),
        cell("grace", status=OUT_OF_MEMORY, error="x"),
        cell("mvgrl", status=FAILED, error="x"),
        cell("raw-features", 60, kind=CONTROL),
    )
    rows = shown(found[ALL])
    assert list(rows) == ["dgi", "grace", "mvgrl", "bgrl", "paretognn", "raw-features"]
    assert rows["paretognn"] == {"cora": "**80.00**<sub>±0.10</sub>", "rank": "**1.00**"}
    assert rows["bgrl"] == rows["paretognn"]
    assert rows["dgi"] == {"cora": "70.00<sub>±0.10</sub>", "rank": "3.00"}
    assert rows["grace"] == {"cora": "OOM", "rank": "5.00"}
    assert rows["mvgrl"] == {"cora": "failed", "rank": "5.00"}
    methods = shown(found["Average performance: published methods"])
    assert list(methods)[-1] == "raw-features"
    assert methods["raw-features"] == {"cora": "60.00<sub>±0.10</sub>", "rank": "-"}
    assert methods["grace"]["rank"] == "4.00"
    assert "Controls are below, without a rank." in found["Average performance: published methods"][2]


def test_controls_stand_below_each_group_where_its_data_sets_are(tables):
    controls = [cell("spectral", 85, name, kind=CONTROL) for name in ("pubmed", "cora")]
    cells = [cell(m, score, "pubmed") for m, score in (("paretognn", 80), ("bgrl", 70), ("dgi", 60))]
    found = tables(*cells, *controls, cell("weighted-sum", 50, "pubmed"), cell("paretomtl-mi-ng", 40, "pubmed"))
    for title, ranked in {
        "Average performance: published methods": ["dgi", "bgrl", "paretognn"],
        "Link prediction: pretext tasks and their combinations": ["weighted-sum", "paretognn"],
        "ParetoMTL, by the preferred task": ["weighted-sum", "paretomtl-mi-ng", "paretognn"],
    }.items():
        assert found[title][0] == ["method", "pubmed", "rank"]
        rows = shown(found[title])
        assert list(rows) == [*ranked, "spectral"]
        assert rows["spectral"] == {"pubmed": "**85.00**<sub>±0.10</sub>", "rank": "-"}
        assert rows["paretognn"] == {"pubmed": "<u>80.00</u><sub>±0.10</sub>", "rank": "**1.00**"}
    assert shown(found[ALL])["spectral"]["rank"] == "**1.00**"


def test_the_rank_table_has_every_method_and_control(tables):
    cells = [cell(name, 50, kind=CONTROL if name in CONTROLS else TRAINED) for name in method_names()]
    rows = shown(tables(*cells)[ALL])
    assert set(rows) == set(method_names())
    assert {row["rank"] for row in rows.values()} == {"**1.00**"}


def test_tables_are_those_that_have_cells(tables):
    found = tables(cell("paretognn", 80), cell("raw-features", 60, kind=CONTROL))
    assert [title for title in found if "all rows" not in title] == [
        "Cost: seconds for 1,000 steps",
        "Cost: peak memory in GiB",
        "Data sets",
        "Hyper-parameters",
    ]
    assert sum("all rows" in title for title in found) == len(METRICS)


def test_data_sets_stand_in_the_papers_order(tables):
    names = ["zachary", "actor", "cora", "wiki-cs", "chameleon", "ogbn-arxiv"]
    found = tables(*(cell("paretognn", 50, name) for name in names))
    assert found[ALL][0] == ["method", "wiki-cs", "chameleon", "actor", "cora", "zachary", "rank"]
    assert found["Large graphs: average performance"][0] == ["method", "ogbn-arxiv", "rank"]
    assert [row[0] for row in found["Large graphs: individual tasks"][1]] == ["ogbn-arxiv"]


def test_all_of_a_group_in_order(tables):
    found = tables(*(cell(method, 50 + i) for i, method in enumerate(reversed(VARIANTS))))
    assert list(shown(found["Node clustering: pretext tasks and their combinations"])) == list(VARIANTS)


def test_ranks_of_incomplete_rows_are_marked_and_never_best(tables):
    cells = [cell(m, 50 + i, d) for i, m in enumerate(("dgi", "grace", "bgrl")) for d in ("cora", "actor")]
    found = tables(*cells, cell("paretognn", 90, "cora"), cell("paretognn", 90, "pubmed"))
    rows, below = shown(found[ALL]), found[ALL][2]
    assert rows["paretognn"]["actor"] == "-"
    assert rows["paretognn"]["rank"] == "1.00<sup>*</sup>"
    assert rows["bgrl"]["rank"] == "**1.50**"
    assert rows["grace"]["rank"] == "<u>2.50</u>"
    assert "that most rows have (actor, cora)" in below
    assert "- <sup>*</sup> rank over fewer data sets" in below


def test_a_task_without_a_score_is_not_an_average(tables):
    scores = {"node_classification": 50, "node_clustering": 40, "link_prediction": None, "partition_prediction": 30}
    found = tables(cell("mine", scores, kind=EMBEDDINGS), cell("bgrl", 60))
    assert list(shown(found[ALL])) == ["bgrl"]
    assert list(shown(found["Link prediction: all rows"])) == ["bgrl"]
    assert shown(found["Node clustering: all rows"])["mine<sup>§</sup>"]["cora"] == "<u>40.00</u><sub>±0.10</sub>"


def test_several_training_seeds_are_averaged_and_their_deviation_shown(tables):
    cells = [cell("bgrl", score, seed=seed) for seed, score in enumerate((60, 62, 64))]
    found = tables(*cells, cell("paretognn", 63), cell("paretognn", status=FAILED, seed=1, error="x"))
    rows, below = shown(found[ALL]), found[ALL][2]
    assert rows["bgrl"]["cora"] == "<u>62.00</u><sub>±1.63</sub>"
    assert rows["paretognn<sup>‡</sup>"]["cora"] == "**63.00**<sub>±0.10</sub>"
    assert "over training seeds 0, 1, 2, each the mean of 2 evaluation seeds" in below
    assert "over the evaluation seeds of training seed 0; 1 more did not finish" in below


def test_one_evaluation_seed_has_no_deviation(tables):
    found = tables(cell("bgrl", 60, evaluation={"seeds": 1}))
    assert shown(found[ALL])["bgrl"]["cora"] == "60.10"
    assert "One evaluation seed of one training seed (0): no deviations." in found[ALL][2]


def test_paretomtl_beside_the_two_it_is_compared_with(tables):
    cells = [cell(m, 50, "pubmed") for m in ("weighted-sum", "paretognn", "paretomtl-mi-ng", "dgi")]
    found = tables(*cells, cell("paretognn", 50))["ParetoMTL, by the preferred task"]
    assert found[0] == ["method", "pubmed", "rank"]
    assert list(shown(found)) == ["weighted-sum", "paretomtl-mi-ng", "paretognn"]


def test_paretomtl_without_a_preference_stands_beside_those_with_one(tables):
    cells = [cell(m, 50, "pubmed") for m in ("weighted-sum", "paretognn", "paretomtl-mi-ng", "paretomtl")]
    found = tables(*cells, cell("paretomtl", 50))["ParetoMTL, by the preferred task"]
    assert found[0] == ["method", "pubmed", "cora", "rank"]
    assert list(shown(found)) == ["weighted-sum", "paretomtl", "paretomtl-mi-ng", "paretognn"]


def test_large_graphs_rank_the_published_methods_alone(tables):
    scores = {"best": 90, "raw-features": 85, "paretognn": 80, "auto": 75, "dgi": 70, "mi-ng": 65}
    cells = [cell(m, s, "ogbn-arxiv", kind=CONTROL if m in CONTROLS else TRAINED) for m, s in scores.items()]
    found = tables(*cells, cell("spectral", 10, "ogbn-products", kind=CONTROL))["Large graphs: average performance"]
    rows = shown(found)
    assert list(rows) == ["dgi", "paretognn", "mi-ng", "auto", "best", "raw-features", "spectral"]
    assert [row["rank"] for row in rows.values()] == ["<u>2.00</u>", "**1.00**", *5 * ["-"]]
    assert rows["best"]["ogbn-arxiv"].startswith("**90.00**")
    assert rows["spectral"]["ogbn-products"].startswith("10.00")
    assert "Others are below, without a rank." in found[2]


def test_a_row_alone_has_no_rank(tables):
    assert shown(tables(cell("paretognn", 80))[ALL])["paretognn"]["rank"] == "-"


def test_cost_beside_the_papers(tables):
    other = {"device": "a card", "threads": 1, "cells_at_once": 2, "peak_device_memory": 2 << 30}
    found = tables(
        cell("bgrl", 50, "wiki-cs"),
        cell("dgi", 50, "wiki-cs"),
        cell("grace", 50, "wiki-cs", hardware=other, step_seconds=0.0015),
        cell("raw-features", 50, "wiki-cs", kind=CONTROL),
        cell("autossl", dataset="wiki-cs", status=OUT_OF_MEMORY, error="x"),
    )
    _, rows, below = found["Cost: seconds for 1,000 steps"]
    seconds = {re.sub("<sup>.*", "", row[0]): row[1] for row in rows}
    assert seconds == {
        "dgi": "250.0", "grace": "1.50", "autossl": "OOM", "bgrl": "250.0",
        "grace (paper)": "197.0", "autossl (paper)": "7319.0", "bgrl (paper)": "34.00",
    }  # fmt: skip
    assert "on a card, 1 thread\n" in below
    assert "cells made at once: 2" in below
    memory = {re.sub("<sup>.*", "", row[0]): row[1] for row in found["Cost: peak memory in GiB"][1]}
    assert memory["raw-features"] == "1.50"
    assert memory["grace"] == "2.00"
    assert memory["bgrl (paper)"] == "1.90"


def test_all_that_a_row_was_made_on_and_with_is_said(tables):
    other = {"device": "a card", "threads": 1, "cells_at_once": 2}
    versions = [{"paretognn": "0.1.0", "torch": f"2.1{i}", "numpy": "2.0"} for i in range(2)]
    found = tables(
        cell("bgrl", 50, versions=versions[0]),
        cell("bgrl", 50, seed=1, hardware=other, versions=versions[1]),
        cell("dgi", 50, versions=versions[0]),
    )
    _, _, below = found[ALL]
    assert "Hardware: a card, 1 thread; a processor, 2 threads." in below
    assert "Software: paretognn 0.1.0, torch 2.10; paretognn 0.1.0, torch 2.11." in below
    _, _, below = found["Cost: seconds for 1,000 steps"]
    assert "on a card, 1 thread; a processor, 2 threads" in below


def test_sizes_beside_the_papers(tables):
    header, rows, _ = tables(cell("bgrl", 50, "pubmed"), cell("bgrl", 50, "cora"))["Data sets"]
    sizes = [dict(zip(header, row, strict=True)) for row in rows]
    assert sizes[0]["nodes"] == "2708"
    assert sizes[0]["nodes (paper)"] == "19717"
    assert sizes[0]["classes"] == "7"
    assert sizes[1]["nodes (paper)"] == "-"
    assert "edges" not in header


def test_settings_that_differ_are_columns_and_others_the_caption(tables):
    found = tables(
        cell("paretognn", 50, "pubmed"),
        cell("paretognn", 50, "cora"),
        cell("bgrl", 50, config=config("bgrl", rate=0.01)),
    )
    header, rows, below = found["Hyper-parameters"]
    lines = [dict(zip(header, row, strict=True)) for row in rows]
    assert [(line["method"], line["data sets"], line["learning rate"]) for line in lines] == [
        ("bgrl", "cora", "0.01"),
        ("paretognn", "pubmed, cora", "0.003"),
        ("paretognn (paper)", "pubmed", "0.001"),
    ]
    assert lines[2]["steps"] == "10000"
    assert "mi_nsg (sampler k-hop" not in lines[1]["pretext tasks"]
    assert "mi_ng (sampler saint-walk(seeds=320, hops=4))" in lines[0]["pretext tasks"]
    assert "optimizer.weight_decay 1e-05" in below
    assert "seed 0" not in below


def test_measured_beside_the_paper(tables):
    _, rows, _ = tables(
        cell("paretognn", {"node_classification": 87.53, "node_clustering": 0}, "pubmed"),
        cell("grace", dataset="coauthor-physics", status=FAILED, error="x"),
        cell("paretognn", 50, "cora"),
        cell("grace", 50, "pubmed", settings={"sampler": {"name": "saint-node"}}),
    )["Here beside the paper"]
    lines = {tuple(row[:3]): row[3:] for row in rows}
    accuracy = lines["pubmed", "paretognn", "node classification"]
    assert accuracy == ["87.53<sub>±0.10</sub>", "87.03", "+0.50", "500", "auto", "1 x 2"]
    assert lines["pubmed", "paretognn", "node clustering"][2] == "-34.74"
    assert ("pubmed", "paretognn", "average performance") not in lines
    assert lines["coauthor-physics", "grace", "link prediction"][:3] == ["failed", "OOM", "-"]
    (starred,) = [row for key, row in lines.items() if key[1].startswith("grace [sampler=") and "classif" in key[2]]
    assert starred[0].startswith("50.00")
    assert not any(dataset == "cora" for dataset, *_ in lines)


def test_what_deviations_are_over_is_said_beside_the_paper(tables):
    seeds = [cell("paretognn", score, "pubmed", seed=seed) for seed, score in enumerate((70, 80))]
    _, rows, below = tables(cell("grace", 50, "pubmed"), cell("dgi", 50, "pubmed"), *seeds)["Here beside the paper"]
    by_method = {row[1]: row[3] for row in rows}
    assert by_method["grace"] == "50.00<sub>±0.10</sub>"
    assert by_method["paretognn"] == "75.00<sub>±5.00</sub><sup>‡</sup>"
    assert "mean and deviation over training seeds 0, 1" in below


def test_where_nothing_was_finished_nothing_is_ranked(tables):
    broken = [cell(method, status=FAILED, error="x") for method in ("grace", "dgi")]
    _, rows, _ = tables(*broken)[ALL]
    assert {tuple(row[1:]) for row in rows} == {("failed", "-")}


def test_reference_figures_bear_command_line_names():
    scores = paper_scores()
    assert scores["wiki-cs", "paretomtl-mi-nsg", "average_performance"] == 75.89
    assert scores["wiki-cs", "rep-decor", "node_classification"] == 78.11
    assert scores["ogbn-arxiv", "cca-ssg", "link_prediction"] == 96.63
    assert {metric for *_, metric in scores} == set(METRICS)
    assert paper_settings("cora") is None
    assert paper_settings("pubmed")["tasks"]["mi_nsg"]["sampler"] == {"name": "k-hop", "hops": 3, "seeds": 5120}
