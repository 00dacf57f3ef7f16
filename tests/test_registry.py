import pytest

from packages import Installed, lay_out
from paretognn.datasets import dataset_entry, describe_datasets
from paretognn.errors import InputError
from paretognn.methods import METHODS, method_config
from paretognn.pretext import TASKS, task_class
from paretognn.reconcile import RECONCILERS, reconciler_class

RECONCILER = """
from paretognn.reconcile import Uniform

class Mine(Uniform):
    name = "mine"
"""


@pytest.fixture
def installed(monkeypatch):
    found = Installed(monkeypatch)
    yield found
    found.removed()


def test_a_component_of_another_package_is_loaded_when_its_name_is_asked_for(tmp_path, installed):
    modules = {"good.py": RECONCILER, "loud.py": "raise SystemError('imported')"}
    lay_out(tmp_path, "good-one", {"paretognn.reconcilers": ["mine = good:Mine", "other = loud:X"]}, modules=modules)
    before = list(RECONCILERS)
    installed(tmp_path)
    assert list(RECONCILERS) == [*before, "mine", "other"]  # nothing is imported to list them
    assert len(RECONCILERS) == len(before) + 2
    assert reconciler_class("mine").__name__ == "Mine"
    assert reconciler_class("mine") is RECONCILERS["mine"]
    assert (RECONCILERS.package("mine"), RECONCILERS.package("mgda")) == (("good-one", "0.1.0"), None)
    with pytest.raises(InputError, match=r"unknown reconciler 'mines' \(did you mean 'mine'\?\); known: mgda, .*mine"):
        reconciler_class("mines")
    assert RECONCILERS.get("nothing") is None


WRONG = [
    ("broken = nowhere:X", r"'broken' of the package bad 0\.1\.0 \(entry point paretognn\.tasks: broken = nowhere:X\) "
     r"cannot be loaded \(ModuleNotFoundError: No module named 'nowhere'\); repair or uninstall"),
    ("lost = bad:Missing", r"'lost' of the package bad .* cannot be loaded \(AttributeError"),
    ("number = bad:NUMBER", r"'number' of the package bad .* is no subclass of paretognn\.pretext\.base\.PretextTask"),
    ("renamed = bad:Task", r"'renamed' of the package bad .* calls itself 'mine'; entry point and component need one"),
    ("Mine = bad:Anonymous", r"'Mine' of the package bad .* needs a name of lower-case letters"),
    ("train = bad:Train", r"a pretext task cannot be called 'train'"),
    ("feat_rec = bad:Task", r"the name 'feat_rec' of a pretext task is claimed by paretognn itself and by the package "
     r"bad 0\.1\.0 \(entry point paretognn\.tasks: feat_rec = bad:Task\); uninstall"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line for line, _ in WRONG])
def test_what_cannot_be_used_is_one_line_that_names_its_package(tmp_path, installed, line, message):
    source = (
        "from paretognn.pretext import PretextTask\nNUMBER = 3\n"
        "class Task(PretextTask):\n    name = 'mine'\n"
        "class Anonymous(PretextTask): pass\n"
        "class Train(PretextTask):\n    name = 'train'\n"
    )
    lay_out(tmp_path, "bad", {"paretognn.tasks": [line]}, modules={"bad.py": source})
    installed(tmp_path)
    with pytest.raises(InputError, match=message) as caught:
        task_class(line.partition(" ")[0])
    assert "\n" not in str(caught.value)
    assert task_class("mi_ng") is TASKS["mi_ng"]  # the others are as usable as before


def test_a_name_that_two_packages_claim_is_no_ones(tmp_path, installed):
    for name in ("first", "second"):
        lay_out(
            tmp_path / name,
            name,
            {"paretognn.reconcilers": [f"mine = {name}_module:Mine"]},
            modules={f"{name}_module.py": RECONCILER},
        )
    installed(tmp_path / "first", tmp_path / "second")
    with pytest.raises(InputError, match=r"claimed by the package (first|second) .* and by the package (second|first)"):
        reconciler_class("mine")


def test_a_method_and_a_data_set_of_another_package(tmp_path, installed):
    source = """
from paretognn import load_dataset
from paretognn.datasets import DataSet, Published
from paretognn.methods import Method

LEAN = Method("lean", lambda settings, graph: {**settings, "tasks": {"mi_ng": {}}})
PAIR = DataSet("few-digits", lambda folder: load_dataset("digits"), Published(1797, 12340, 64, 10), True, "-", "-")
"""
    lay_out(
        tmp_path,
        "whole",
        {
            "paretognn.methods": ["lean = whole:LEAN"],
            "paretognn.datasets": ["few-digits = whole:PAIR", "gone = whole:GONE"],
        },
        modules={"whole.py": source},
    )
    installed(tmp_path)
    graph = dataset_entry("Few_Digits").read(None)
    assert list(method_config(graph, "lean")[0].tasks) == ["mi_ng"]
    assert "lean" in METHODS
    with pytest.warns(UserWarning, match="the data set 'gone' of the package whole .* cannot be loaded"):
        names = [row["name"] for row in describe_datasets()]
    assert names[-1] == "few-digits"
