import sys

import pytest

from made import SMALL, make_graph
from paretognn import InputError, ParetoGNN, TensorBoard, Tracker
from paretognn.pretext import FeatRec
from paretognn.training import RunFolder, make_config, merge, train
from paretognn.training.metrics import read_metrics


class Log(Tracker):
    def __init__(self):
        self.told = []

    def started(self, config, done):
        self.told.append(("started", config.steps, done))

    def stepped(self, record):
        self.told.append((record.step, record.scalars()))

    def ended(self, outcome):
        self.told.append(outcome)


class Raises(Log):
    def __init__(self, at):
        super().__init__()
        self.at = at

    def stepped(self, record):
        super().stepped(record)
        if record.step == self.at:
            raise ConnectionError("no\nanswer")


def config(steps=4, **over):
    return make_config(merge(SMALL, {"steps": steps, **over}))


def test_a_tracker_is_told_the_numbers_of_every_step(tmp_path):
    log, home = Log(), RunFolder(tmp_path)
    train(make_graph(), config(2), folder=home, trackers=[log])
    train(make_graph(), config(3), folder=home, resume=True, trackers=[log])
    train(make_graph(), config(3), folder=home, resume=True, trackers=[log])  # done already: nothing to tell
    started, first, _, finished, resumed, last, again = log.told
    assert (started, resumed) == (("started", 2, 0), ("started", 3, 2))
    assert finished == again == "finished"
    assert (first[0], last[0]) == (1, 3)
    row = next(read_metrics(home.metrics_file))
    assert first[1]["loss/mi_ng"] == row["losses"]["mi_ng"]
    assert first[1]["weight/mi_nsg"] == row["weights"]["mi_nsg"]
    assert first[1]["cosine/feat_rec.topo_rec"] == row["cosines"]["feat_rec|topo_rec"]
    assert first[1]["learning_rate"] == row["learning_rate"]
    assert all(isinstance(value, float) for value in first[1].values())


def test_a_tracker_that_raises_is_warned_of_once_and_changes_nothing(tmp_path):
    whole = train(make_graph(), config(), folder=RunFolder(tmp_path / "whole"))[1]
    bad, good = Raises(at=2), Log()
    home = RunFolder(tmp_path / "told")
    with pytest.warns(UserWarning, match=r"tracker Raises failed at step 2 .*\(ConnectionError: no answer\)") as said:
        told = train(make_graph(), config(), folder=home, trackers=[bad, good])[1]
    assert len(said) == 1
    assert [entry[0] for entry in bad.told[1:]] == [1, 2]
    assert good.told[-1] == "finished"
    assert whole.tobytes() == told.tobytes()
    assert [row["step"] for row in read_metrics(home.metrics_file)] == [1, 2, 3, 4]


def test_how_a_run_ended(monkeypatch):
    class Stops(Log):
        def stepped(self, record):
            raise KeyboardInterrupt

    log = Stops()
    with pytest.raises(KeyboardInterrupt):
        train(make_graph(), config(), trackers=[log])
    assert log.told[-1] == "interrupted"
    monkeypatch.setattr(FeatRec, "loss", lambda self, encoder, batch: encoder(batch.view).sum() * float("nan"))
    log = Log()
    with pytest.raises(RuntimeError, match="not finite"):
        train(make_graph(), config(), trackers=[log])
    assert log.told == [("started", 4, 0), "failed"]


def test_the_estimator_tells_trackers_too():
    log = Log()
    model = ParetoGNN(steps=2, settings=SMALL).fit(make_graph(), trackers=[log])
    assert [record.scalars() for record in model.history_] == [entry[1] for entry in log.told[1:-1]]


def test_tensorboard_reads_what_was_written_and_a_resumed_run_goes_on(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    home, folder = RunFolder(tmp_path), tmp_path / "tensorboard"
    for steps in (2, 3):
        train(make_graph(), config(steps), folder=home, resume=steps > 2, trackers=[TensorBoard(folder)])
    read = accumulator.EventAccumulator(str(folder)).Reload()
    rows = list(read_metrics(home.metrics_file))
    found = read.Scalars("loss/rep_decor")
    assert [event.step for event in found] == [1, 2, 3]
    assert [event.value for event in found] == pytest.approx([row["losses"]["rep_decor"] for row in rows], rel=1e-5)


def test_tensorboard_that_is_not_installed_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match=r"pip install 'paretognn\[tensorboard\]'"):
        TensorBoard("folder")
