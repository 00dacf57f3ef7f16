import pytest
import torch
from paretognn_example.snowball import Snowball

from paretognn import load_dataset
from paretognn.training.prepare import prepare


@pytest.mark.parametrize(("seeds", "roots"), [(10, 1), (10, 3), (2, 5), (100, 1), (None, 1)])
def test_a_connected_part_within_the_budget_that_repeats(seeds, roots):
    graph, _ = prepare(load_dataset("karate-club"), "standardise", "cpu")
    draw = [Snowball(seeds=seeds, roots=roots).sample(graph, torch.Generator().manual_seed(3)) for _ in range(2)]
    assert torch.equal(draw[0].indices, draw[1].indices)
    assert draw[0].num_nodes == min(seeds or 34, 34)  # the club is connected
    if roots == 1 and draw[0].nodes is not None:
        assert (draw[0].indptr[1:] > draw[0].indptr[:-1]).all()  # every node has a neighbour in it
