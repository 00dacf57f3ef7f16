"""Nothing that is read is run: no pickle, no YAML tag, no code; and nothing is written outside its folder."""

import ast
import json
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import paretognn
from fuzz.strategies import fuzzed
from made import make_graph
from paretognn.benchmark.cells import CellKey, Store
from paretognn.cli.main import run
from paretognn.datasets.registry import DATASETS
from paretognn.errors import InputError
from paretognn.graph import load_graph, read_npz, save_graph
from paretognn.training import parse_assignments, read_config_file, read_embeddings

NEVER = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "code.interact", "runpy.run_path"),
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads", "shelve.open"),
    *("torch.load", "torch.hub.load", "torch.jit.load", "joblib.load", "pandas.read_pickle", "dill.load", "dill.loads"),
    *("yaml.load", "yaml.load_all", "yaml.full_load", "yaml.unsafe_load", "tempfile.mktemp"),
    *("shutil.unpack_archive", "tarfile.open", "numpy.fromregex", "scipy.io.loadmat"),
}
"""Calls that run what they read, or write where an archive says."""
NAMED = {"extract", "extractall"}
"""Methods of archives that do the latter."""
WITHOUT = {"numpy.load": "allow_pickle", "numpy.lib.format.read_array": "allow_pickle"}
"""Calls that must say that they do not."""


def unsafe_calls(source: str) -> list[tuple[int, str]]:
    """Line and name of every call that may not be made; names are followed through imports."""
    tree = ast.parse(source)
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {
                (a.asname or a.name.split(".")[0]): (a.name if a.asname else a.name.split(".")[0]) for a in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            known |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}

    def name_of(node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return known.get(node.id, node.id)
        return f"{name_of(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""

    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        given = {keyword.arg: getattr(keyword.value, "value", ...) for keyword in node.keywords}
        shell = name.startswith("subprocess.") and given.get("shell", False) is not False
        pickles = name in WITHOUT and given.get(WITHOUT[name]) is not False
        archive = isinstance(node.func, ast.Attribute) and node.func.attr in NAMED
        if name in NEVER or shell or pickles or archive:
            found.append((node.lineno, name))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nnp.load('x')",
        "import numpy\nnumpy.load('x', allow_pickle=True)",
        "from numpy import load as read\nread('x')",
        "import numpy as np\nnp.lib.format.read_array(f, allow_pickle=flag)",
        "import torch\ntorch.load('x', weights_only=True)",
        "def f():\n    from pickle import loads\n    loads(b'')",
        "import yaml\nyaml.load(text, Loader=yaml.SafeLoader)",
        "eval('1')",
        "import subprocess as s\ns.run('ls', shell=True)",
        "import subprocess\nsubprocess.Popen('ls', shell=flag)",
        "import zipfile\nzipfile.ZipFile('x').extractall()",
    ],
)
def test_the_search_for_unsafe_calls_finds_them(text):
    assert unsafe_calls(text)


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nnp.load('x', allow_pickle=False)",
        "import yaml\nyaml.safe_load(text)",
        "model.eval()",
        "import re\nre.compile('x')",
        "import subprocess\nsubprocess.run(['ls'])",
        "def load(x): ...\nload('x')",
    ],
)
def test_the_search_for_unsafe_calls_leaves_others_alone(text):
    assert not unsafe_calls(text)


def test_the_package_makes_no_unsafe_call():
    home = Path(paretognn.__file__).parent
    files = sorted(home.rglob("*.py"))
    assert len(files) > 100
    found = {str(path.relative_to(home)): unsafe_calls(path.read_text(encoding="utf-8")) for path in files}
    assert not {name: calls for name, calls in found.items() if calls}


class Call:
    """Pickles into a call of ``os.system`` that makes a file."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


@pytest.fixture
def mark(tmp_path):
    """A file that hostile content would make."""
    path = tmp_path / "mark"
    yield path
    assert not path.exists()


_EVENTS = []


def _watch(event, arguments):
    if event == "pickle.find_class" and _EVENTS:
        _EVENTS.append(arguments)


def test_no_pickle_is_opened_by_us_or_on_our_behalf(tmp_path, trained_tables):
    sys.addaudithook(_watch)  # stays, and is silent from the end of this test on
    _EVENTS.append("on")
    try:
        pickle.loads(pickle.dumps(InputError))
        assert len(_EVENTS) == 2  # it does see one
        folder = trained_tables("first")
        assert run(["embed", str(folder), "--out", str(tmp_path / "made.npy")]) == 0
        assert run(["evaluate", str(folder), "--seeds", "1"]) == 0
        assert run(["train", "--resume", "--out", str(folder), "--steps", "2"]) == 0
        assert len(_EVENTS) == 2, _EVENTS
    finally:
        _EVENTS.clear()


@pytest.fixture
def trained_tables(tmp_path):
    """Makes a run of one step on two tables."""

    def make(name):
        (tmp_path / "n.csv").write_text("id,x,label\n" + "".join(f"n{k},{k % 5},{'ab'[k % 2]}\n" for k in range(20)))
        (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"n{k},n{(3 * k + 1) % 20}\n" for k in range(20)))
        tables = ["--nodes", str(tmp_path / "n.csv"), "--edges", str(tmp_path / "e.csv")]
        small = ["--set", "encoder.hidden_dims=[4]", "--set", "tasks.mi_nsg.projection=0", "--preset", "quick"]
        assert run(["train", *tables, "--out", str(tmp_path / name), "--steps", "1", *small]) == 0
        return tmp_path / name

    return make


def hostile_files(folder, mark):
    """A pickle under the name of each file of ours that holds arrays, and a tag in each that is YAML."""
    arrays = pickle.dumps(Call(mark))
    objects = np.array([Call(mark)], dtype=object)
    torch.save(Call(mark), folder / "torch")
    np.savez(folder / "objects.npz", indptr=objects, indices=objects)
    tag = f"steps: !!python/object/apply:os.system ['touch {mark}']\n"
    return {
        "model.safetensors": [arrays, (folder / "torch").read_bytes()],
        "graph/arrays.npz": [arrays, (folder / "objects.npz").read_bytes()],
        "graph/ids.parquet": [arrays],
        "config.yaml": [tag.encode(), b"!!python/name:os.system\n", b"tasks: !!bool x\n", b"steps: !!timestamp x\n"],
        "graph.json": [arrays],
    }


def test_hostile_files_of_a_run_are_refused_by_name_and_run_nothing(tmp_path, mark, trained_tables, capsys):
    folder = trained_tables("run")
    for relative, contents in hostile_files(tmp_path, mark).items():
        whole = (folder / relative).read_bytes()
        for content in contents:
            (folder / relative).write_bytes(content)
            capsys.readouterr()
            assert run(["embed", str(folder), "--out", str(tmp_path / "made.npy")]) == 2
            (error,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
            assert str(folder / relative.split("/")[0]) in error
            assert not mark.exists()
        (folder / relative).write_bytes(whole)
    assert run(["embed", str(folder), "--out", str(tmp_path / "made.npy")]) == 0


def test_a_hostile_checkpoint_is_refused_by_name_and_runs_nothing(tmp_path, mark, trained_tables, capsys):
    folder = trained_tables("run")
    (state,) = (folder / "checkpoints").glob("*.json")
    torch.save(Call(mark), state.with_suffix(".safetensors"))
    assert run(["train", "--resume", "--out", str(folder), "--steps", "2"]) == 2
    assert state.with_suffix(".safetensors").name in capsys.readouterr().err


def test_arrays_of_objects_are_refused_or_made_anew(tmp_path, mark):
    graph = make_graph(20)
    objects = np.array([Call(mark)] * 20, dtype=object)
    np.save(tmp_path / "mine.npy", objects)
    with pytest.raises(InputError, match=r"mine\.npy"):
        read_embeddings(tmp_path / "mine.npy", graph)
    np.savez(tmp_path / "g.npz", adj_data=objects, adj_indices=objects, adj_indptr=objects, adj_shape=[20, 20])
    with pytest.raises(InputError, match=r"g\.npz: array 'adj_data' holds Python objects"):
        read_npz(tmp_path / "g.npz")


def test_a_pickled_arrow_type_stays_closed(tmp_path, mark):
    text = pickle.dumps(Call(mark))
    metadata = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": text}
    schema = pa.schema([pa.field("id", pa.string(), metadata=metadata), pa.field("e0", pa.float32())])
    ids = [str(k) for k in range(20)]
    pq.write_table(pa.table([pa.array(ids), pa.array([1.0] * 20, pa.float32())], schema=schema), tmp_path / "e.parquet")
    assert read_embeddings(tmp_path / "e.parquet", make_graph(20)).shape == (20, 1)


def damage_edges(arrays):
    arrays["indices"][0] = 10**6


def damage_pointers(arrays):
    arrays["indptr"][-2] = 10**6


def damage_symmetry(arrays):
    arrays["indices"][arrays["indptr"][1] - 1] = 19


def damage_features(arrays):
    arrays["features"][0, 0] = np.nan


def damage_labels(arrays):
    arrays["labels"][0] = 10**6


@pytest.mark.parametrize(
    "damage", [damage_edges, damage_pointers, damage_symmetry, damage_features, damage_labels], ids=lambda d: d.__name__
)
def test_a_stored_graph_whose_digest_fits_is_still_checked_before_compiled_code_sees_it(tmp_path, damage):
    save_graph(make_graph(20), tmp_path)
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as file:
        arrays = dict(file)
    assert load_graph(tmp_path).num_nodes == 20
    damage(arrays)
    np.savez(tmp_path / "arrays.npz", **arrays)
    state = json.loads((tmp_path / "graph.json").read_text())
    original = load_graph.__globals__["_assemble"](state, tmp_path)
    state["digest"] = original.digest()
    (tmp_path / "graph.json").write_text(json.dumps(state))
    with pytest.raises(InputError, match="corrupt"):
        load_graph(tmp_path)


BOMB = "\n".join(
    ["a: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 9)]
)


@pytest.mark.parametrize("text", [BOMB, f"{BOMB}\nsteps: *a8", "steps: &x [*x]", "&x {y: *x}", "[" * 20000, "- \x00"])
def test_yaml_that_unfolds_without_end_is_refused_at_once(tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(InputError, match=r"c\.yaml"):
        read_config_file(tmp_path / "c.yaml")


@pytest.mark.parametrize("tag", ["!!bool x", "!!timestamp x", "!!int x", "!!python/name:os.system", "2001-99-99"])
def test_a_yaml_tag_that_its_value_does_not_fit_is_refused(tag):
    with pytest.raises(InputError, match=r"--set steps(, line 1)?: is not valid YAML"):
        parse_assignments([f"steps={tag}"])


def test_files_of_public_data_sets_stay_in_their_folder():
    paths = [Path(part) for entry in DATASETS.values() for part in (*entry.folders, *(f.path for f in entry.files))]
    assert len(paths) > 50
    assert not [path for path in paths if path.is_absolute() or ".." in path.parts]


@fuzzed(100)
@given(dataset=st.text(max_size=20), method=st.text(max_size=20), preset=st.text(max_size=20))
def test_the_file_of_any_cell_lies_in_the_store(dataset, method, preset):
    store = Store("/a/store")
    path = store.file(CellKey(dataset, method, preset=preset))
    assert path.parent == store.cells
    assert Path(os.path.normpath(path)) == path
