import pytest

from paretognn.errors import InputError
from paretognn.training import make_config, merge, read_config_file
from paretognn.training.config import check_names, parse_assignment

TASKS = {"tasks": {"feat_rec": {}}}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (
            "optimizer.learning_rat=1",
            "unknown setting 'optimizer.learning_rat' .did you mean 'optimizer.learning_rate'",
        ),
        (
            "tasks.feat_rec.edge_drp=0.1",
            "unknown setting 'tasks.feat_rec.edge_drp' .did you mean 'tasks.feat_rec.edge_drop'",
        ),
        ("tasks.feat_recc.edge_drop=0.1", "unknown pretext task 'feat_recc' .did you mean 'feat_rec'"),
        ("tasks.feat_rec.sampler.name=khop", "tasks.feat_rec.sampler.name"),
        ("tasks.feat_rec.sampler.name=k-hop", "needs 'seeds'"),
        ("optimizer.learning_rate=fast", "optimizer.learning_rate"),
        ("optimizer.learning_rate=-1", "optimizer.learning_rate"),
        ("steps=0", "steps"),
        ("reconciler.name=mgdaa", "did you mean 'mgda'"),
        ("reconciler.settings.tolerance=1", "tolerance"),
        ("encoder=3", "encoder"),
        ("encoder.hidden_dims=[0, 4]", "hidden_dims.0"),
        ("encoder.hidden_dims=[4, -3]", "hidden_dims.1"),
        ("tasks=", "tasks"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(assignment, message):
    with pytest.raises(InputError, match=message) as caught:
        make_config(merge(TASKS, parse_assignment(assignment)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("optimizer.rate=1", "unknown setting 'optimizer.rate' .did you mean 'optimizer.learning_rate'"),
        (
            "tasks.feat_rec.edge_drp=0.1",
            "unknown setting 'tasks.feat_rec.edge_drp' .did you mean 'tasks.feat_rec.edge_drop'",
        ),
        ("encoder.name=gnc", "did you mean 'gcn'"),
        ("reconciler={name: mgda-frank-wolfe, settings: {tolerence: 1}}", "'reconciler.settings.tolerence' .did you"),
        ("stopping.nme=plateau", "unknown setting 'stopping.nme'"),
    ],
)
def test_names_of_a_part_of_a_tree_are_checked_alone(assignment, message):
    with pytest.raises(InputError, match=message):
        check_names(parse_assignment(assignment))


@pytest.mark.parametrize(
    "assignment",
    ["steps=many", "tasks.mi_ng=null", "tasks.mi_ng.sampler.seeds=3", "reconciler.settings.tolerance=1", "encoder=3"],
)
def test_what_needs_the_rest_of_a_tree_is_not_checked_alone(assignment):
    check_names(parse_assignment(assignment))


def test_values_are_yaml():
    assert parse_assignment("a.b=1e-4") == {"a": {"b": 1e-4}}
    assert parse_assignment("a=[512, 256]") == {"a": [512, 256]}
    assert parse_assignment("a=null") == {"a": None}
    for wrong in ("a", "=1", "a=[1"):
        with pytest.raises(InputError, match="--set"):
            parse_assignment(wrong)


def test_none_removes_a_task():
    tree = merge({"tasks": {"feat_rec": {}, "mi_ng": {}}}, parse_assignment("tasks.mi_ng=null"))
    assert list(make_config(tree).tasks) == ["feat_rec"]


def test_every_default_is_written_out_and_read_back():
    config = make_config(merge(TASKS, {"reconciler": {"name": "mgda-frank-wolfe"}}))
    tree = config.model_dump(mode="json")
    assert tree["tasks"]["feat_rec"]["node_mask"] == 0.5
    assert tree["reconciler"]["settings"] == {"tolerance": 1e-5, "max_iterations": 100}
    assert make_config(tree) == config


@pytest.mark.parametrize(
    "content",
    [b"- 1\n", b"a: [1\n", b"\xff\xfe\x00", b"!!python/object/apply:os.system ['true']\n", b"[" * 5000],
)
def test_a_bad_config_file_names_itself(tmp_path, content):
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"config\.yaml"):
        read_config_file(path)
    with pytest.raises(InputError, match=r"nothing\.yaml"):
        read_config_file(tmp_path / "nothing.yaml")
