import pytest
import torch
from torch.nn import functional as F

from made import generator, on_device
from paretognn.nn import GCN, EncoderSettings
from paretognn.pretext import MING


@pytest.mark.parametrize("head", ["bilinear", "linear"])
@pytest.mark.parametrize("sampler", [{"name": "full"}, {"name": "k-hop", "seeds": 3, "hops": 1}])
def test_equals_its_definition_and_the_corrupted_view_is_a_permutation(graph, head, sampler):
    prepared = on_device(graph)
    d = prepared.features.width
    encoder = GCN(d, EncoderSettings(hidden_dims=[6]))
    task = MING(MING.Settings(head=head, sampler=sampler), d, 6)
    true, false = task.sample(prepared, encoder, generator())
    assert false.adjacencies[0] is true.adjacencies[0]
    rows = true.features.dense()
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, false.features.dense().tolist()))
    z, y = encoder(true), encoder(false)
    mean = z.mean(0)
    if head == "bilinear":
        logit = lambda h: h @ task.weight @ torch.sigmoid(mean)  # noqa: E731
    else:
        weight = task.weight.reshape(-1)
        logit = lambda h: torch.cat([h, mean.expand_as(h)], 1) @ weight  # noqa: E731
    logits = torch.cat([logit(z), logit(y)])
    labels = torch.cat([torch.ones(len(z)), torch.zeros(len(y))])
    want = F.binary_cross_entropy(torch.sigmoid(logits), labels)
    torch.testing.assert_close(task.loss(encoder, (true, false)), want, rtol=1e-4, atol=1e-5)
