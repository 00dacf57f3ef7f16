import numpy as np
import pytest
import torch

from made import generator, make_graph, normalised_dense, on_device, scaled_dense
from paretognn.graph import build_graph
from paretognn.nn.sparse import Csr
from paretognn.sampling import (
    Augmentation,
    augment,
    clean_view,
    induced,
    k_hop,
    random_nodes,
    sage_view,
    saint_nodes,
    saint_walks,
    sample_neighbours,
    whole,
)
from paretognn.sampling.augment import pair_uniform
from paretognn.sampling.subgraph import without_entries


def structure(subgraph):
    """Dense 0/1 adjacency of a sub-graph."""
    m = subgraph.num_nodes
    dense = np.zeros((m, m))
    rows = np.repeat(np.arange(m), np.diff(subgraph.indptr))
    dense[rows, subgraph.indices] = 1
    return dense


def test_induced_equals_slicing():
    graph = make_graph()
    placed = on_device(graph)
    for nodes in ([3, 5, 8, 20, 21, 40, 59], [0, 5, 6], [3, 40]):  # one leaves nothing behind for the next
        sub = induced(placed, torch.tensor(nodes), torch.tensor(nodes[1:]))
        np.testing.assert_array_equal(structure(sub), graph.adjacency().toarray()[np.ix_(nodes, nodes)])
        assert sub.nodes.tolist() == nodes
        assert sub.seeds.tolist() == list(range(1, len(nodes)))
        marked = induced(placed, torch.isin(torch.arange(60), torch.tensor(nodes)))
        assert torch.equal(marked.nodes, sub.nodes)
        assert torch.equal(marked.indices, sub.indices)


def test_what_no_view_changes_is_aggregated_once(monkeypatch):
    graph = make_graph()
    placed = on_device(graph)
    products = []
    product = Csr.product
    monkeypatch.setattr(Csr, "product", lambda self, dense: products.append(dense.shape) or product(self, dense))
    adjacency, x = torch.tensor(normalised_dense(graph)), torch.tensor(scaled_dense(graph))
    for seed in range(3):
        weight = torch.randn(12, 20, generator=generator(seed), dtype=torch.float64, requires_grad=True)
        view = clean_view(whole(placed))
        h = view.features.convolve(view.adjacency(0), weight)
        torch.testing.assert_close(h, adjacency @ x @ weight, atol=1e-5, rtol=1e-5)
        (gradient,) = torch.autograd.grad(h.square().sum(), weight)
        torch.testing.assert_close(gradient, x.T @ adjacency @ (2 * h), atol=1e-4, rtol=1e-4)
    assert products == [(60, 12)]
    order = torch.randperm(60, generator=generator())
    shuffled = view.features.shuffled(order).convolve(view.adjacency(0), weight)
    torch.testing.assert_close(shuffled, adjacency @ x[order] @ weight, atol=1e-5, rtol=1e-5)
    dropped = augment(whole(placed), Augmentation(edge_drop=0.5), generator())
    other = dropped.features.convolve(dropped.adjacency(0), weight)
    torch.testing.assert_close(other, dropped.adjacency(0).to_dense().double() @ x @ weight, atol=1e-5, rtol=1e-5)
    part = without_entries(whole(placed), torch.tensor([0]))
    assert clean_view(part).adjacency(0).nnz == view.adjacency(0).nnz - 1


def test_no_sampler_leaves_its_numbers_behind():
    placed = on_device(make_graph(200, 4))
    for draw in (
        lambda: saint_nodes(placed, 30, 1.0, generator()),
        lambda: saint_walks(placed, 5, 3, generator()),
        lambda: k_hop(placed, 3, 1, generator()),
        lambda: sage_view(placed, torch.tensor([7, 3]), [3, 2], generator()),
    ):
        draw()
        with placed.numbered(torch.tensor([9, 2])) as places:
            assert places.nonzero().squeeze(1).tolist() == [i for i in range(200) if i != 9]
            assert places[[9, 2]].tolist() == [0, 1]
            assert int((places == -1).sum()) == 198


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_k_hop_is_the_ball_around_its_seeds(hops):
    graph = make_graph(200, 4)
    sub = k_hop(on_device(graph), 3, hops, generator())
    reach = np.linalg.matrix_power(graph.adjacency().toarray() + np.eye(200), hops) > 0
    nodes = np.arange(200) if sub.nodes is None else sub.nodes.numpy()
    seeds = nodes[sub.seeds]
    assert len(seeds) == 3
    np.testing.assert_array_equal(nodes, np.flatnonzero(reach[seeds].any(0)))


def test_c40_seeds_without_neighbours_stay():
    graph = build_graph(6, [0], [1], features=np.eye(6))
    sub = induced(on_device(graph), torch.tensor([2, 5]), torch.tensor([2, 5]))
    assert (sub.num_nodes, len(sub.indices), sub.seeds.tolist()) == (2, 0, [0, 1])
    view = sage_view(on_device(graph), torch.tensor([2, 5]), [3], generator())
    torch.testing.assert_close(view.adjacencies[0].to_dense(), torch.eye(2))


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_c41_a_budget_above_n_is_the_whole_graph(power):
    prepared = on_device(make_graph())
    assert saint_nodes(prepared, 10_000, power, generator()).num_nodes == 60
    assert k_hop(prepared, 10_000, 2, generator()).num_nodes == 60


@pytest.mark.parametrize("count", [1, 6, 7, 30, 59, 60, 90])
def test_random_nodes_are_distinct_and_uniform_in_every_place(count):
    prepared = on_device(make_graph(60))
    rounds = 3000
    stream = generator()
    draws = torch.stack([random_nodes(prepared, count, stream) for _ in range(rounds)])
    assert draws.shape[1] == min(count, 60)
    assert all(len(torch.unique(row)) == len(row) for row in draws)
    if count < 60:
        for place in (0, -1):
            seen = torch.bincount(draws[:, place], minlength=60) / rounds
            assert (seen - 1 / 60).abs().max() < 5 * (1 / 60 / rounds) ** 0.5


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_saint_draws_by_degree_to_the_power(power):
    """A star of 40 leaves: by degree the hub has half of the draws, by its square 40 of 41."""
    n = 41
    prepared = on_device(build_graph(n, np.zeros(n - 1, dtype=int), np.arange(1, n), features=np.eye(n)))
    share = np.mean([bool((saint_nodes(prepared, 1, power, generator(s)).nodes == 0).any()) for s in range(400)])
    assert share == pytest.approx(0.5 if power == 1 else 40 / 41, abs=0.08)


def test_walks_stay_on_edges_and_stop_at_dead_ends():
    """A path 0-1-...-19 and an isolated node: a walk of 3 steps stays within 3 of its root."""
    path = np.arange(19)
    prepared = on_device(build_graph(21, path, path + 1, features=np.eye(21)))
    met = set()
    for seed in range(60):
        sub = saint_walks(prepared, 1, 3, generator(seed))
        nodes = sub.nodes.tolist()
        assert nodes == list(range(nodes[0], nodes[-1] + 1))
        assert len(nodes) <= 4
        assert len(sub.indices) == 2 * (len(nodes) - 1)
        met |= set(nodes)
    assert 20 in met
    assert saint_walks(prepared, 21, 3, generator()).num_nodes == 21


def test_neighbours_are_distinct_uniform_and_all_where_few():
    graph = make_graph(50, 12)
    prepared = on_device(graph)
    nodes = torch.arange(50)
    seen = np.zeros(prepared.num_entries)
    for seed in range(400):
        positions, owner = sample_neighbours(prepared, nodes, 4, generator(seed))
        assert len(torch.unique(positions)) == len(positions)
        np.testing.assert_array_equal(np.bincount(owner, minlength=50), np.minimum(graph.degrees, 4))
        rows = torch.searchsorted(prepared.indptr, positions, right=True) - 1
        assert torch.equal(rows, owner)
        seen[positions] += 1
    rows = np.repeat(np.arange(50), graph.degrees)
    expected = np.minimum(1, 4 / graph.degrees[rows])
    np.testing.assert_allclose(seen / 400, expected, atol=0.12)


def sources_of(view, graph):
    """The nodes whose features, of which no two are alike, a view has."""
    return (view.features.store.rows()[:, None] == graph.features.rows()).all(2).int().argmax(1).numpy()


def test_sage_aggregate_is_unbiased_and_exact_with_a_large_fanout():
    graph = make_graph(40, 8)
    prepared = on_device(graph)
    dense = normalised_dense(graph)
    seeds = torch.tensor([1, 7, 30])
    exact = sage_view(prepared, seeds, [100], generator())
    sources = sources_of(exact, prepared)
    np.testing.assert_allclose(exact.adjacencies[0].to_dense(), dense[np.ix_(seeds, sources)], atol=1e-6)
    total = np.zeros((3, 40))
    for seed in range(1500):
        view = sage_view(prepared, seeds, [2], generator(seed))
        total[:, sources_of(view, prepared)] += view.adjacencies[0].to_dense().numpy()
    np.testing.assert_allclose(total / 1500, dense[seeds], atol=0.03)


def test_sage_blocks_chain():
    prepared = on_device(make_graph())
    view = sage_view(prepared, torch.tensor([5, 2]), [4, 3], generator())
    first, second = view.adjacencies
    assert second.shape == (2, first.shape[0])
    assert first.shape[1] == view.features.num_rows
    assert sources_of(view, prepared)[:2].tolist() == [5, 2]


def test_edges_are_dropped_in_pairs_at_the_right_rate():
    prepared = on_device(make_graph(400, 20))
    view = augment(whole(prepared), Augmentation(edge_drop=0.3), generator())
    dense = view.adjacencies[0].to_dense()
    torch.testing.assert_close(dense, dense.T)
    kept = (view.adjacencies[0].nnz - 400) / prepared.num_entries
    assert kept == pytest.approx(0.7, abs=0.04)
    degree = (dense > 0).sum(1).float()
    torch.testing.assert_close(dense.diagonal(), 1 / degree)


def test_two_views_differ_and_a_rerun_repeats_them():
    prepared = on_device(make_graph())
    settings = Augmentation(edge_drop=0.4, feature_mask=0.4, node_drop=0.2)
    one = generator(3)
    first, second = augment(whole(prepared), settings, one), augment(whole(prepared), settings, one)
    again = augment(whole(prepared), settings, generator(3))
    assert first.adjacencies[0].nnz != second.adjacencies[0].nnz
    torch.testing.assert_close(first.adjacencies[0].to_dense(), again.adjacencies[0].to_dense())
    assert torch.equal(first.features.column_mask, again.features.column_mask)
    dropped = first.features.row_mask
    assert dropped.any()
    others = first.adjacencies[0].to_dense() - torch.diag(first.adjacencies[0].to_dense().diagonal())
    assert not others[dropped].any()


def test_pair_uniform_is_uniform_and_depends_on_pair_and_key():
    low = torch.arange(300).repeat_interleave(300)
    high = torch.arange(300).repeat(300)
    u = pair_uniform(low, high, 12345)
    assert u.min() >= 0
    assert u.max() < 1
    counts = np.histogram(u, 20, (0, 1))[0] / len(u)
    np.testing.assert_allclose(counts, 0.05, atol=0.004)
    grid = u.reshape(300, 300)
    assert abs(np.corrcoef(grid[:-1].ravel(), grid[1:].ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(u, pair_uniform(low, high, 999))[0, 1]) < 0.02


def test_find_agrees_with_the_matrix_and_entries_can_leave():
    graph = make_graph()
    prepared = on_device(graph)
    dense = graph.adjacency().toarray() > 0
    source, target = (torch.tensor(part.ravel()) for part in np.meshgrid(np.arange(60), np.arange(60), indexing="ij"))
    found = prepared.find(source, target)
    np.testing.assert_array_equal(found >= 0, dense.ravel())
    hit = found[found >= 0]
    assert torch.equal(prepared.indices[hit], target[found >= 0])
    pair = graph.pairs()[5]
    ends = torch.tensor([pair.tolist(), pair[::-1].tolist()])
    less = structure(without_entries(whole(prepared), prepared.find(ends[:, 0], ends[:, 1])))
    dense[pair[0], pair[1]] = dense[pair[1], pair[0]] = False
    np.testing.assert_array_equal(less > 0, dense)


def test_c42_as_many_nodes_as_edges():
    ring = build_graph(5, np.arange(5), (np.arange(5) + 1) % 5, features=np.eye(5))
    sub = induced(on_device(ring), torch.tensor([0, 1, 2]))
    assert structure(sub).sum() == 4
