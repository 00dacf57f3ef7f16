"""DGI, GRACE, CCA-SSG and GraphMAE as rows of tasks that ParetoGNN has too: their definitions, written out dense."""

import math

import pytest
import torch
from torch.nn import functional as F

from made import generator, make_graph, on_device
from paretognn.methods import method_config
from paretognn.pretext import info_nce, task_class
from paretognn.pretext.rep_decor import decorrelation, standardise
from paretognn.training.frozen import build_encoder


def drawn(method, name="made", **over):
    """The task of a method, its encoder and a batch, with settings by the method's row."""
    prepared = on_device(make_graph())
    overrides = {"encoder": {"hidden_dims": [6]}, **over}
    config = method_config(make_graph().replace(name=name), method, overrides=overrides)[0]
    (task_name, settings), width = next(iter(config.tasks.items())), prepared.features.width
    encoder, task = build_encoder(config, width), task_class(task_name)(settings, width, 6)
    return task, encoder, task.sample(prepared, encoder, generator())


def test_dgi():
    task, encoder, (true, false) = drawn("dgi")
    assert false.adjacencies[0] is true.adjacencies[0]
    rows = [sorted(map(tuple, view.features.dense().tolist())) for view in (true, false)]
    assert rows[0] == rows[1]
    h, corrupted = encoder(true), encoder(false)
    summary = torch.sigmoid(h.mean(0))
    logits = torch.cat([h, corrupted]) @ task.weight @ summary
    label = torch.cat([torch.ones(len(h)), torch.zeros(len(h))])
    torch.testing.assert_close(task.loss(encoder, (true, false)), F.binary_cross_entropy_with_logits(logits, label))


def test_grace():
    task, encoder, batch = drawn("grace", "pubmed", tasks={"mi_nsg": {"contrast": "all"}})
    assert batch.first.features.column_mask is None
    assert (task.settings.edge_drop, task.settings.temperature) == ((0.4, 0.1), 0.7)
    first, _, second = task.head
    assert (first.in_features, first.out_features, second.in_features, second.out_features) == (6, 256, 256, 6)
    u, v = (F.normalize(task.head(encoder(view))) for view in (batch.first, batch.second))

    def one_side(a, b):
        between, within = (a @ b.T / 0.7).exp(), (a @ a.T / 0.7).exp()
        negatives = between.sum(1) + within.sum(1) - within.diagonal()
        return -(between.diagonal() / negatives).log()

    want = 0.5 * (one_side(u, v) + one_side(v, u)).mean()
    torch.testing.assert_close(task.loss(encoder, batch), want)


@pytest.mark.parametrize("n", [2, 7, 300])
def test_grace_on_identical_rows_is_the_log_of_their_number(n):
    rows = torch.randn(1, 5).expand(n, 5)
    assert info_nce(rows, rows, 0.4).item() == pytest.approx(math.log(2 * n - 1), rel=1e-5)


def test_cca_ssg():
    """Its loss, -tr(Z1^T Z2) / N + lambda (|Z1^T Z1 / N - I|^2 + |Z2^T Z2 / N - I|^2), is half of ours, less d."""
    task, encoder, batch = drawn("cca-ssg", "amazon-computers")
    z1, z2 = (standardise(encoder(view)) for view in batch)
    n, d = z1.shape
    spread = sum((z.T @ z / n - torch.eye(d)).square().sum() for z in (z1, z2))
    want = -(z1.T @ z2 / n).trace() + 5e-4 * spread
    torch.testing.assert_close(task.loss(encoder, batch) / 2 - d, want, rtol=1e-3, atol=1e-4)


def test_cca_ssg_s_decorrelation_vanishes_on_whitened_views():
    z = torch.randn(50, 6, dtype=torch.float64)
    z = torch.linalg.qr(z - z.mean(0))[0] * 50**0.5
    torch.testing.assert_close(standardise(z), z, rtol=1e-6, atol=1e-6)
    assert decorrelation(z, z, 1.0, "per-view").item() == pytest.approx(0, abs=1e-12)


def test_graphmae():
    task, encoder, batch = drawn("graphmae", tasks={"feat_rec": {"replace": 0.3}})
    torch.nn.init.normal_(task.token)
    view, masked = batch.view, batch.masked
    x = on_device(make_graph()).features.rows()
    given = view.features
    given.token = task.token
    shown = given.dense()
    replaced = masked & ~given.row_mask
    assert replaced.any()
    assert given.row_mask.any()
    torch.testing.assert_close(shown[~masked], x[~masked])
    torch.testing.assert_close(shown[given.row_mask], task.token.expand_as(x)[given.row_mask])
    rows = set(map(tuple, x.tolist()))
    assert all(tuple(row) in rows for row in shown[replaced].tolist())
    code = task.bridge(encoder(view)).masked_fill(masked[:, None], 0.0)
    decoded = view.adjacencies[0].to_dense() @ code @ task.decoder.T
    want = (1 - F.cosine_similarity(decoded[masked], x[masked])).pow(3).mean()
    torch.testing.assert_close(task.loss(encoder, batch), want, rtol=1e-4, atol=1e-5)
