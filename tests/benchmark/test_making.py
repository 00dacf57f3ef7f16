import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from benchmark.small_cells import NARROW, jobs_of, made
from paretognn.benchmark import making
from paretognn.benchmark.cells import DONE, FAILED, OUT_OF_MEMORY, Store
from paretognn.benchmark.concat_pca import PARTS, concat_pca
from paretognn.benchmark.grid import EmbeddingsFile
from paretognn.benchmark.job import Job
from paretognn.benchmark.making import make_cell
from paretognn.benchmark.shared import StoreError, link_split_file
from paretognn.datasets import load_dataset
from paretognn.downstream import load_link_split, save_link_split, split_links
from paretognn.methods.judge import judge_run
from paretognn.training import Interrupted, RunFolder, read_embeddings


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with the five single tasks, what is made of them, and two controls."""
    path = tmp_path_factory.mktemp("store")
    made(path, "concat-pca", "raw-features", "untrained")
    return Store(path)


@pytest.fixture(scope="module")
def graph():
    return load_dataset("digits")


def cell(store, method):
    (found,) = [one for one in store if one.key.method == method]
    return found


def test_every_row_is_judged_on_the_same_splits(store):
    cells = list(store)
    assert {one.key.method for one in cells} == {*PARTS, "concat-pca", "raw-features", "untrained"}
    assert {one.status for one in cells} == {DONE}
    for fact in ("split_digests", "link_split_digest", "partition"):
        assert len({json.dumps(one.evaluation[fact]) for one in cells}) == 1
    assert len(list((store.path / "partitions").glob("*.npy"))) == 1


def test_a_trained_cell_says_all_that_is_to_be_known(store, graph):
    found = cell(store, "mi-ng")
    assert found.config["steps"] == 2
    assert found.width == 4
    assert set(found.seconds) == {"training", "link_training", "evaluation"}
    assert min(found.seconds.values()) > 0
    assert found.seconds["training"] >= found.step_seconds > 0
    assert found.peak_memory > 100 << 20
    assert found.hardware["cells_at_once"] == 1
    assert {"paretognn", "torch", "numpy"} <= set(found.versions)
    assert "--methods mi-ng --preset auto --steps 2" in found.command
    assert "'encoder.hidden_dims=[8, 4]'" in found.command


def test_a_trained_cell_is_the_run_that_train_and_evaluate_make(store, graph, tmp_path):
    found = cell(store, "mi-ng")
    folder = RunFolder(shutil.copytree(store.runs / found.key.name, tmp_path / "run"))
    judged = judge_run(folder, graph, seeds=1, controls=False)
    assert judged["tasks"] == found.evaluation["tasks"]


def test_checkpoints_and_graph_are_not_kept(store):
    folder = RunFolder(store.runs / cell(store, "mi-ng").key.name)
    kept = {path.relative_to(folder.path).as_posix() for path in folder.path.rglob("*") if path.is_file()}
    own = {"config.yaml", "metrics.jsonl", "model.safetensors", "embeddings.parquet"}
    assert kept == own | {f"link/{name}" for name in own} | {"graph.json", "peak.json", "link/split.parquet"}


def test_concat_pca_is_made_of_the_embeddings_that_the_five_keep(store, graph, monkeypatch):
    """The cell equals its definition on both graphs' embeddings, each judged where it belongs."""
    judged = {}

    def look(embeddings, graph, *, link, **rest):
        judged.update(own=embeddings, link=link[0])
        return {**cell(store, "concat-pca").evaluation}

    monkeypatch.setattr(making, "judge", look)
    *_, job = jobs_of(store.path, "concat-pca")
    make_cell(job)
    folders = [RunFolder(store.runs / cell(store, part).key.name) for part in PARTS]
    own = [read_embeddings(folder.embeddings_file, graph) for folder in folders]
    link = [read_embeddings(RunFolder(folder.link_folder).embeddings_file, graph) for folder in folders]
    assert np.array_equal(judged["own"], concat_pca(own, 4))
    assert np.array_equal(judged["link"], concat_pca(link, 4))
    assert not np.array_equal(judged["own"], judged["link"])


def test_concat_pca_fails_where_one_of_the_five_has(tmp_path):
    *parts, last = jobs_of(tmp_path, "concat-pca")
    making.unmade(parts[0], FAILED, "no luck")
    found = make_cell(last)
    assert found.status == FAILED
    assert found.error == "it needs feat-rec, which is recorded as failed: no luck"


def test_concat_pca_says_what_to_remove_where_embeddings_are_gone(tmp_path):
    """As in a store that was copied without its runs."""
    *_, last = jobs_of(tmp_path, "concat-pca")
    made(tmp_path, "concat-pca")
    shutil.rmtree(tmp_path / "runs")
    found = make_cell(last)
    assert found.status == FAILED
    assert str(Store(tmp_path).file(last.cell.needs[0])) in found.error
    assert "is not there; remove" in found.error


def test_a_job_arrives_as_it_was_sent(tmp_path):
    file = EmbeddingsFile("mine", tmp_path / "mine.npy")
    for job in jobs_of(tmp_path, "concat-pca"):
        sent = Job(**{**vars(job), "cell": type(job.cell)(**{**vars(job.cell), "file": file})})
        arrived = Job.from_json(json.loads(json.dumps(sent.to_json())))
        assert vars(arrived.cell) == vars(sent.cell)
        assert arrived.store.path == sent.store.path
        assert arrived.command() == sent.command()


def test_a_cell_that_fails_is_recorded_with_the_reason(tmp_path):
    settings = {**NARROW, "optimizer": {"learning_rate": 1e30}}
    found = made(tmp_path, "feat-rec", settings=settings, steps=5)["feat-rec"]
    assert found.status == FAILED
    assert "is not finite" in found.error
    assert "\n" not in found.error
    assert Store(tmp_path).get(found.key) == found


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (MemoryError("needs about 9 GiB"), OUT_OF_MEMORY, "needs about 9 GiB"),
        (MemoryError(), OUT_OF_MEMORY, "MemoryError"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), OUT_OF_MEMORY, "can't allocate"),
        (RuntimeError("size mismatch\nat a place"), FAILED, "RuntimeError: size mismatch at a place"),
        (ValueError(), FAILED, "ValueError"),
    ],
)
def test_errors_by_kind(tmp_path, monkeypatch, error, status, said):
    def fail(*arguments, **more):
        raise error

    monkeypatch.setattr(making, "train", fail)
    found = made(tmp_path, "mi-ng")["mi-ng"]
    assert found.status == status
    assert said in found.error
    assert "\n" not in found.error


def test_memory_that_is_refused_is_out_of_memory_before_a_step(tmp_path, monkeypatch):
    monkeypatch.setattr("paretognn.training.memory.free_memory", lambda device: 1 << 20)
    found = made(tmp_path, "mi-ng")["mi-ng"]
    assert found.status == OUT_OF_MEMORY
    assert found.error.startswith("training needs about")
    assert not (Store(tmp_path).runs / found.key.name).exists()


def test_a_stopped_cell_goes_on_from_its_checkpoint_and_ends_alike(tmp_path, store, monkeypatch):
    (job,) = jobs_of(tmp_path, "mi-ng")
    folder = RunFolder(job.store.runs / job.cell.key.name)
    real = making.train

    def stop_after_one(graph, config, device, folder, resume):
        real(graph, config.model_copy(update={"steps": 1}), device, folder, resume=resume)
        folder.model_file.unlink()
        raise Interrupted(1)

    monkeypatch.setattr(making, "train", stop_after_one)
    with pytest.raises(Interrupted):
        make_cell(job)
    assert job.store.get(job.cell.key) is None
    first = folder.metrics_file.read_text().splitlines()
    monkeypatch.setattr(making, "train", real)
    found = make_cell(job)
    rows = folder.metrics_file.read_text().splitlines()
    assert rows[0] == first[0]
    assert len(rows) == 2
    assert found.evaluation["tasks"] == cell(store, "mi-ng").evaluation["tasks"]


def test_a_run_of_other_settings_in_its_place_is_started_anew(tmp_path, store):
    (job,) = jobs_of(tmp_path, "mi-ng")
    (other,) = jobs_of(tmp_path, "mi-nsg")
    make_cell(other)
    shutil.copytree(job.store.runs / other.cell.key.name, job.store.runs / job.cell.key.name)
    assert make_cell(job).evaluation["tasks"] == cell(store, "mi-ng").evaluation["tasks"]


def test_a_row_from_files_and_the_split_to_train_on(tmp_path, store, graph):
    folder = RunFolder(store.runs / cell(store, "mi-ng").key.name)
    files = {
        "whole": EmbeddingsFile("whole", folder.embeddings_file, RunFolder(folder.link_folder).embeddings_file),
        "half": EmbeddingsFile("half", folder.embeddings_file),
    }
    found = made(tmp_path, files=tuple(files.values()), steps=None, settings={})
    wanted = cell(store, "mi-ng").evaluation
    assert found["whole"].evaluation["tasks"] == wanted["tasks"]
    assert found["half"].evaluation["tasks"]["link_prediction"]["mean"] is None
    assert found["half"].evaluation["tasks"]["node_clustering"] == wanted["tasks"]["node_clustering"]
    assert found["half"].config is None
    assert found["whole"].evaluation["files"] == files["whole"].digests()
    split = load_link_split(link_split_file(Store(tmp_path), "digits"), graph)
    assert split.digest() == split_links(graph, 0).digest() == wanted["link_split_digest"]


def test_another_split_in_the_store_is_refused(tmp_path, store, graph):
    shutil.copytree(store.path / "splits", tmp_path / "splits")
    save_link_split(link_split_file(Store(tmp_path), "digits"), split_links(graph, 1), graph)
    with pytest.raises(StoreError, match="is not the link split of this graph"):
        made(tmp_path, "raw-features")
    assert not list(Store(tmp_path))


def test_methods_that_differ_beside_the_encoder_are_trained_once(tmp_path, monkeypatch):
    """`auto` ends as if it had been trained alone, and says what training took."""
    alone = made(tmp_path / "alone", "auto")["auto"]
    first = made(tmp_path / "both", "paretognn")["paretognn"]
    Store(tmp_path / "both").put(replace(first, peak_memory=1 << 50))
    monkeypatch.setattr(making, "train", _never)
    monkeypatch.setattr("paretognn.methods.judge.train", _never)
    *_, job = jobs_of(tmp_path / "both", "paretognn", "auto")
    assert job.cell.needs == (first.key,)
    found = make_cell(job)
    assert found.status == DONE, found.error
    assert found.evaluation["tasks"] == alone.evaluation["tasks"] != first.evaluation["tasks"]
    assert found.step_seconds == first.step_seconds
    assert found.seconds["training"] > 2 * first.step_seconds
    assert found.peak_memory == 1 << 50
    kept = [sorted((tmp_path / where / "runs" / job.cell.key.name).rglob("*")) for where in ("alone", "both")]
    assert [path.name for path in kept[0]] == [path.name for path in kept[1]]
    models = [[path.read_bytes() for path in each if path.suffix == ".safetensors"] for each in kept]
    assert models[0] == models[1]


def test_a_finished_run_without_its_cell_is_judged_and_not_trained_again(tmp_path, monkeypatch):
    before = made(tmp_path, "mi-ng")["mi-ng"]
    Store(tmp_path).file(before.key).unlink()
    monkeypatch.setattr(making, "train", _never)
    monkeypatch.setattr("paretognn.methods.judge.train", _never)
    monkeypatch.setattr(making, "peak_memory", lambda: 1)  # that of training was another process's
    after = made(tmp_path, "mi-ng")["mi-ng"]
    assert 1 < after.peak_memory <= before.peak_memory
    assert after.evaluation["tasks"] == before.evaluation["tasks"]
    assert after.seconds["training"] >= 2 * after.step_seconds


def _never(*args, **named):
    raise AssertionError("trained again")
