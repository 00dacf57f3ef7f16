"""The main job on real graphs: from a name to judged embeddings, through the command line."""

import json

from paretognn.cli.main import run


def scores(folder):
    result = json.loads((folder / "evaluation.json").read_text())
    return {task: score["mean"] for task, score in result["tasks"].items()}, result


def test_digits_in_a_few_steps_pass_their_raw_features(tmp_path):
    out = tmp_path / "digits"
    assert run(["train", "--dataset", "digits", "--preset", "quick", "--steps", "15", "--out", str(out)]) == 0
    tasks = "node_classification,node_clustering,partition_prediction"
    file = str(out / "evaluation.json")
    assert run(["evaluate", str(out), "--seeds", "2", "--tasks", tasks, "--out", file]) == 0
    own, result = scores(out)
    raw = result["controls"]["raw-features"]["tasks"]
    assert own["node_classification"] > raw["node_classification"]["mean"] + 0.02
    assert own["node_clustering"] > raw["node_clustering"]["mean"] + 0.04
    assert own["partition_prediction"] > raw["partition_prediction"]["mean"] + 0.02


def test_cora_reaches_the_scores_that_are_promised(tmp_path, data_root):
    out = tmp_path / "cora"
    source = ["--dataset", "cora", "--data-root", str(data_root)]
    assert run(["train", *source, "--preset", "quick", "--out", str(out)]) == 0
    assert run(["evaluate", str(out), "--seeds", "5", "--no-controls"]) == 0
    own, _ = scores(out)
    assert own["node_classification"] >= 0.82
    assert own["node_clustering"] >= 0.55
    assert own["link_prediction"] >= 0.88
    assert own["partition_prediction"] >= 0.73
