import json
import re
from dataclasses import replace

import pytest

from paretognn.errors import InputError
from paretognn.methods import method_config
from paretognn.report import read_run, write_report
from paretognn.report.page import render, training_facts
from paretognn.report.run import ReportRun
from paretognn.training import RunFolder
from paretognn.training.cost import read_cost
from report.conftest import HOSTILE


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def without_plotly(page):
    """The page's own markup: plotly.js brings tags and addresses in its texts."""
    return re.sub(r"<script>/\*\*\s*\* plotly.*?</script>", "", page, flags=re.S)


@pytest.fixture(scope="module")
def page(hostile_run):
    return render([read_run(hostile_run)])


def test_what_a_user_named_is_escaped_everywhere(page):
    own = without_plotly(page)
    assert len(own) < len(page) / 3
    for text in (*HOSTILE[:2], "<b>bold</b>", "<i>graph</i>", "<u>run"):
        assert text not in own
    assert "&lt;i&gt;graph&lt;/i&gt;" in own
    assert "{{ 7 * 7 }}" in own or "{{ 7 * 7 }}" in json.dumps(data_of(page))
    ids = next(trace["text"] for c in data_of(page) if c["name"] == "map-0" for trace in c["traces"])
    assert not any("<" in text for text in ids)


def test_the_page_asks_for_nothing_from_elsewhere(page):
    own = without_plotly(page)
    assert not re.search(r"""(src|href|url)\s*[=(]\s*["']?(https?:)?//""", own)
    assert not re.search(r"@import|fetch\(|XMLHttpRequest", own)


def test_scores_of_the_run_and_of_every_control_stand_in_the_table(hostile_run, page):
    judged = json.loads(hostile_run.evaluation_file.read_text())
    own = without_plotly(page)
    for scores in (judged, *judged["controls"].values()):
        for score in scores["tasks"].values():
            assert f"{100 * score['mean']:.1f} ±{100 * score['std']:.1f}" in own
    assert all(name in own for name in judged["controls"])
    assert judged["verdict"] in own


def test_what_an_embedding_is_put_together_of_is_said(plain_run):
    run = read_run(plain_run)
    facts = {}
    for method in ("paretognn", "best", "auto"):
        config, _ = method_config(run.graph, method)
        facts[method] = dict(training_facts(replace(run, config=config))).get("put together")
    assert facts["paretognn"] is None
    assert (
        facts["best"] == "of 120 components of the encoder's output; beside it 128 of position (0.5), 8 of degree (0.3)"
    )
    assert "a judge without labels" in facts["auto"]


def test_every_chart_has_a_place_and_every_place_a_chart(page):
    places = re.findall(r'<div class="plot" id="([^"]+)"', page)
    assert places == [*dict.fromkeys(places)]
    assert set(places) == {chart["name"] for chart in data_of(page)}
    assert {"score-average", "loss-feat_rec", "weights-0", "conflict-0-2", "map-0", "degree-label", "stages"} <= set(
        places
    )


def test_runs_side_by_side_share_the_charts_of_losses(hostile_run, plain_run):
    page = render([read_run(hostile_run), read_run(plain_run), read_run(plain_run)])
    losses = next(chart for chart in data_of(page) if chart["name"] == "loss-mi_ng")
    assert [trace["name"] for trace in losses["traces"]] == ["&lt;u&gt;run", "plain", "plain (2)"]
    assert "not judged yet" in page
    assert {"map-0", "map-1", "map-2"} <= {chart["name"] for chart in data_of(page)}


def test_the_cost_of_evaluation_is_kept_by_stage(hostile_run):
    cost = read_cost(hostile_run)
    assert set(cost) == {"link model", "scoring"}
    assert all(stage.seconds > 0 and stage.peak_bytes >= 0 for stage in cost.values())


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("evaluation.json", "{}"),
        ("evaluation.json", "[" * 50_000),
        ("evaluation.json", '{"tasks": {"a": 1}, "average": "x"}'),
        ("metrics.jsonl", '{"step": 1, "seconds": 0.1}\n'),
        ("metrics.jsonl", '{"step": 1, "seconds": 0.1, "losses": 3, "cosines": 4}\n'),
        ("cost.json", '{"scoring": {"seconds": "x"}}'),
        ("graph.json", '{"digest": "", "copy": true}'),
        ("embeddings.parquet", "PAR1"),
    ],
)
def test_a_damaged_file_of_the_run_is_named(hostile_run, tmp_path, file, content):
    import shutil

    copy = RunFolder(tmp_path / "copy")
    shutil.copytree(hostile_run.path, copy.path)
    (copy.path / file).write_text(content)
    with pytest.raises(InputError, match=re.escape(file)):
        read_run(copy)


def test_a_page_that_cannot_be_written_leaves_the_old_one(plain_run, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("paretognn.report.page.render", lambda runs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report([read_run(plain_run)], path)
    assert path.read_text() == "old"
    assert isinstance(read_run(plain_run), ReportRun)


def test_seconds_of_training_are_drawn_by_task_and_listed_by_stage(page):
    stages = next(chart for chart in data_of(page) if chart["name"] == "stages")
    names = [trace["name"] for trace in stages["traces"]]
    assert "feat_rec" in names
    assert "solver" in names
    assert not any("/" in name for name in names)
    assert "feat_rec/forward" in page


def test_the_command_says_what_to_do_for_a_run_that_is_not_judged(plain_run, tmp_path, capsys):
    from paretognn.cli.main import run

    assert run(["report", str(plain_run.path), "--out", str(tmp_path / "page.html")]) == 0
    said = capsys.readouterr().err
    assert f"until: paretognn evaluate {plain_run.path}" in said
    assert "EvaluationWarning" not in said


def test_the_command_names_the_page_for_programs(hostile_run, tmp_path, capsys):
    from paretognn.cli.main import run

    assert run(["report", str(hostile_run.path), "--out", str(tmp_path / "page.html"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["bytes"] == (tmp_path / "page.html").stat().st_size
    assert list(answer["runs"].values()) == [True]
