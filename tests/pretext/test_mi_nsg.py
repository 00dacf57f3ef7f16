import pytest
import torch

from made import generator, on_device
from paretognn.errors import InputError
from paretognn.nn import GCN, EncoderSettings
from paretognn.pretext import MINSG, TASKS, info_nce, task_class


@pytest.mark.parametrize(("contrast", "count"), [("all", None), ("seeds", 4), (7, 7), (10_000, None)])
def test_contrast_width(graph, contrast, count):
    prepared = on_device(graph)
    d = prepared.features.width
    encoder = GCN(d, EncoderSettings(hidden_dims=[6]))
    task = MINSG(
        MINSG.Settings(sampler={"name": "k-hop", "seeds": 4, "hops": 1}, contrast=contrast, projection=5),
        d,
        6,
    )
    batch = task.sample(prepared, encoder, generator())
    z1, z2 = encoder(batch.first), encoder(batch.second)
    rows = torch.arange(len(z1)) if batch.rows is None else batch.rows
    assert len(rows) == (count or batch.first.num_rows)
    want = info_nce(task.head(z1[rows]), task.head(z2[rows]), 0.1)
    torch.testing.assert_close(task.loss(encoder, batch), want)


def test_seeds_are_the_sampled_ones(graph):
    prepared = on_device(graph)
    task = MINSG(
        MINSG.Settings(sampler={"name": "k-hop", "seeds": 4, "hops": 1}, contrast="seeds"),
        prepared.features.width,
        6,
    )
    batch = task.sample(prepared, GCN(prepared.features.width, EncoderSettings(hidden_dims=[6])), generator())
    assert torch.equal(batch.rows, batch.first.seeds)


def test_tasks_by_name():
    assert {"feat_rec", "topo_rec", "rep_decor", "mi_ng", "mi_nsg"} < set(TASKS)
    with pytest.raises(InputError, match="did you mean 'mi_nsg'"):
        task_class("mi_nsgg")
