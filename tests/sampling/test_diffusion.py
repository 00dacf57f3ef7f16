import pytest
import torch

from made import make_graph, normalised_dense, on_device
from paretognn.errors import InputError
from paretognn.nn import DiffusionSettings
from paretognn.sampling import diffused
from paretognn.sampling import diffusion as module


def dense(graph, teleport):
    a = torch.tensor(normalised_dense(graph))
    return (teleport * torch.linalg.inv(torch.eye(len(a)) - (1 - teleport) * a)).float()


@pytest.mark.parametrize("columns", [7, 512])
@pytest.mark.parametrize("teleport", [0.1, 0.5])
def test_equals_the_inverse(graph, monkeypatch, columns, teleport):
    monkeypatch.setattr(module, "COLUMNS", columns)
    found = diffused(on_device(graph), DiffusionSettings(teleport=teleport, threshold=0.0)).to_dense()
    torch.testing.assert_close(found, dense(graph, teleport), rtol=1e-4, atol=1e-6)


def test_its_rows_sum_as_they_should(graph):
    """A_hat D^1/2 1 = D^1/2 1, so the same holds for every mean of its powers; by row sums it is no random walk."""
    found = diffused(on_device(graph), DiffusionSettings(threshold=0.0)).to_dense()
    root = torch.tensor(graph.adjacency().sum(1) + 1.0).sqrt().float()
    torch.testing.assert_close(found @ root, root, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found, found.T, rtol=1e-4, atol=1e-6)


def test_small_entries_are_left_out_and_the_rest_stays():
    graph = make_graph(200, 4)
    want = dense(graph, 0.2)
    found = diffused(on_device(graph), DiffusionSettings(threshold=1e-3)).to_dense()
    clear = (want - 1e-3).abs() > 6e-4
    assert torch.equal((found > 0) & clear, (want > 1e-3) & clear)
    assert (found > 0).sum() < found.numel()
    torch.testing.assert_close(found[found > 0], want[found > 0], atol=6e-4, rtol=0)


def test_a_part_is_rows_and_columns_of_the_whole_and_the_whole_is_made_once(graph, monkeypatch):
    prepared = on_device(graph)
    whole = diffused(prepared, DiffusionSettings())
    monkeypatch.setattr(module, "diffusion", None)
    nodes = torch.tensor([3, 8, 9, 41])
    assert torch.equal(diffused(prepared, DiffusionSettings(), nodes).to_dense(), whole.to_dense()[nodes][:, nodes])


def test_too_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 50)
    with pytest.raises(InputError, match="60 nodes"):
        diffused(on_device(make_graph(60)), DiffusionSettings())
