import torch
from paretognn_example.appnp import APPNP

from paretognn import load_dataset
from paretognn.nn import EncoderSettings
from paretognn.sampling import clean_view, sage_view, whole
from paretognn.training.prepare import prepare


def test_propagation_is_its_definition_whole_and_in_blocks():
    graph, _ = prepare(load_dataset("karate-club"), "standardise", "cpu")
    settings = EncoderSettings(name="appnp", hidden_dims=[8, 4], settings={"hops": 3, "teleport": 0.2})
    encoder = APPNP(graph.features.width, settings)
    view = clean_view(whole(graph))
    z, adjacency = encoder.perceptron(view.features.dense()), view.adjacency(0).to_dense()
    h = z
    for _ in range(3):
        h = 0.8 * adjacency @ h + 0.2 * z
    torch.testing.assert_close(encoder(view), h)
    # Every neighbour sampled: the blocks are exact.
    blocks = sage_view(graph, torch.tensor([5, 2]), [40] * encoder.num_layers, torch.Generator())
    torch.testing.assert_close(encoder(blocks), h[[5, 2]])
