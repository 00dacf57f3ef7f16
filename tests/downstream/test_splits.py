import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downstream.graphs import path
from paretognn.downstream import EvaluationWarning, choose_splits, random_split, split_digest
from paretognn.downstream.splits import exact_counts
from paretognn.errors import InputError
from paretognn.graph.graph import Split


def sizes(split):
    return len(split.train), len(split.val), len(split.test)


def test_counts_are_exact():
    assert sizes(random_split(np.arange(100) % 4, seed=0)) == (10, 10, 80)
    assert exact_counts(1797, (0.1, 0.1, 0.8)) == (180, 180, 1437)


@given(
    st.integers(3, 400),
    st.integers(0, 5),
    st.sampled_from([(0.1, 0.1, 0.8), (0.7, 0.1, 0.2), (0.5, 0.0, 0.5), (0.2, 0.2, 0.2), (1 / 3, 1 / 3, 1 / 3)]),
)
@pytest.mark.filterwarnings("ignore:1 class")
def test_sets_are_disjoint_exact_and_labelled(total, unlabelled, fractions):
    labels = np.concatenate([np.arange(total) % 2, np.full(unlabelled, -1)])
    split = random_split(labels, 0, fractions)
    every = np.concatenate([split.train, split.val, split.test])
    assert sizes(split) == exact_counts(total, fractions)
    assert len(np.unique(every)) == len(every)
    assert (labels[every] >= 0).all()
    if sum(fractions) > 0.999:
        assert len(every) == total
    assert all((size > 0) == (share > 0) for size, share in zip(sizes(split), fractions, strict=True))


def test_a_seed_is_a_split():
    labels = np.arange(60) % 3
    digests = [split_digest(random_split(labels, seed)) for seed in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("seed", range(3))
def test_labels_drawn_by_the_seed_are_not_drawn_again(seed):
    labels = np.zeros(1000, dtype=int)
    labels[np.random.default_rng(seed).permutation(1000)[:100]] = 1
    assert 2 <= labels[random_split(labels, seed).train].sum() <= 25


def test_digest_ignores_order_inside_a_set_and_not_the_set():
    a, b, c = np.array([3, 1]), np.array([2]), np.array([0])
    assert split_digest(Split(a, b, c)) == split_digest(Split(a[::-1], b, c))
    assert split_digest(Split(a, b, c)) != split_digest(Split(a, c, b))


@pytest.mark.parametrize("seed", range(10))
def test_a_class_of_one_stays_in_train(seed):
    labels = np.array(["a"] * 20 + ["b"] * 20 + ["lonely"])
    with pytest.warns(EvaluationWarning, match="single member.*'lonely'"):
        split = random_split(labels, seed)
    assert 40 in split.train
    assert sizes(split) == (4, 4, 33)


def test_one_class_overall():
    with pytest.raises(InputError, match="needs at least 2 classes"):
        random_split([1, 1, 1, -1], 0)


def test_too_few_nodes():
    with pytest.raises(InputError, match="there are 2"):
        random_split([0, 1, -1], 0)


@pytest.mark.parametrize("fractions", [(0.5, 0.5, 0.5), (-0.1, 0.1, 1.0), (float("nan"), 0.1, 0.2)])
def test_fractions_that_are_none(fractions):
    with pytest.raises(InputError, match="fractions"):
        exact_counts(100, fractions)


def public(**changes):
    first = Split(np.array([0, 1]), np.array([2]), np.array([3, 4]))
    second = Split(np.array([4, 3]), np.array([2]), np.array([1, 0]))
    settings = {"labels": np.array([0, 1, 0, 1, 0]), "splits": (first, second)} | changes
    return path(5, **settings)


def test_public_splits_take_turns():
    graph = public()
    splits = choose_splits(graph, "public", 3)
    assert [split.train.tolist() for split in splits] == [[0, 1], [3, 4], [0, 1]]
    assert splits[0] is splits[2]
    assert [split.train.tolist() for split in choose_splits(graph, "public:1", [7, 8])] == [[3, 4], [3, 4]]


def test_random_splits_follow_the_seeds():
    graph = path(30, labels=np.arange(30) % 2)
    digests = [split_digest(split) for split in choose_splits(graph, "random", [4, 5, 4])]
    assert digests[0] == digests[2] != digests[1]


@pytest.mark.parametrize(
    ("graph", "spec", "message"),
    [
        (public(), "public:2", r"2 public split\(s\), 0..1"),
        (public(splits=()), "public", "no public split"),
        (public(), "publik", "unknown split 'publik'"),
        (public(), "public:x", "unknown split"),
        (public(labels=None), "random", "no labels"),
        (public(splits=(Split(np.array([0, 1]), np.array([1]), np.array([2])),)), "public", "more than one"),
        (public(splits=(Split(np.array([0, 1]), np.array([2]), np.array([5])),)), "public", "outside"),
        (public(splits=(Split(np.array([0, 1]), np.array([2]), np.array([], int)),)), "public", "test has no"),
    ],
)
@pytest.mark.filterwarnings("ignore:public split")
def test_splits_that_cannot_be(graph, spec, message):
    with pytest.raises(InputError, match=message):
        choose_splits(graph, spec, 2)


def test_partial_masks_are_reported():
    graph = public(splits=(Split(np.array([0]), np.array([], int), np.array([3])),))
    with pytest.warns(EvaluationWarning, match="3 labelled node"):
        split = choose_splits(graph, "public", 1)[0]
    assert sizes(split) == (1, 0, 1)


def test_unlabelled_nodes_leave_a_public_split():
    with pytest.warns(EvaluationWarning, match="1 of its nodes have no label"):
        split = choose_splits(public(labels=np.array([0, -1, 0, 1, 0])), "public:0", 1)[0]
    assert split.train.tolist() == [0]
