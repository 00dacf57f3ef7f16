import torch
from paretognn_example.degree import Degree, DegreeSettings

from paretognn import load_dataset
from paretognn.nn import GCN, EncoderSettings
from paretognn.training.prepare import prepare


def test_the_loss_is_the_mean_squared_error_of_log_degrees():
    graph, _ = prepare(load_dataset("karate-club"), "standardise", "cpu")
    encoder = GCN(graph.features.width, EncoderSettings(hidden_dims=[4]))
    task = Degree(DegreeSettings(edge_drop=0.0), graph.features.width, 4)
    view, target = task.sample(graph, encoder, torch.Generator().manual_seed(0))
    torch.testing.assert_close(target, (1 + graph.degrees().float()).log())
    with torch.no_grad():
        task.head.weight.zero_()
    want = (task.head.bias.detach() - target).square().mean()
    torch.testing.assert_close(task.loss(encoder, (view, target)).detach(), want)
