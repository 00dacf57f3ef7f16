"""Features that are not on the device give what the same features there give."""

import numpy as np
import pytest
import torch

from made import make_graph
from paretognn.nn import FeatureScaling, FeatureStore
from paretognn.nn.off_device import HostStore, MappedStore, feature_bytes, fits, place_features

CPU = torch.device("cpu")


@pytest.fixture(params=["host-dense", "host-sparse", "mapped"])
def kind(request):
    return request.param


@pytest.fixture(params=["standardise", "row", "none"])
def stores(request, kind, tmp_path, monkeypatch):
    """A store off the device, in blocks of seven rows, and the same features on it."""
    monkeypatch.setattr("paretognn.nn.features.BLOCK_ENTRIES", 7 * 12)
    features = make_graph(sparse=kind == "host-sparse").features
    scaling = FeatureScaling.fit(features, request.param)
    there = FeatureStore.scaled(features, scaling)
    if kind != "mapped":
        assert (there.sparse is None) == (kind == "host-dense")
        return HostStore(there, CPU), there
    np.save(tmp_path / "x.npy", features)
    mapped = place_features(np.load(tmp_path / "x.npy", mmap_mode="r"), scaling, "cpu")
    assert isinstance(mapped, MappedStore)
    return mapped, there


def test_rows_are_taken(stores):
    off, there = stores
    rows = torch.tensor([5, 0, 5, 59])
    assert torch.equal(off.take(rows).rows(), there.take(rows).rows())
    assert torch.equal(off.rows(), there.rows())
    assert torch.equal(off.rows(slice(3, 30, 2)), there.rows(slice(3, 30, 2)))
    assert torch.equal(off.whole().rows(), there.rows())
    torch.testing.assert_close(off.take(rows).squared_norms, there.take(rows).squared_norms)
    assert (off.num_rows, off.width, off.device) == (60, 12, CPU)


def test_products_with_all_rows_pass_them_by_in_blocks(stores):
    off, there = stores
    generator = torch.Generator().manual_seed(0)
    weight, h = torch.randn(12, 5, generator=generator), torch.randn(60, 5, generator=generator)
    mask = (torch.arange(12) % 3 > 0).float()
    torch.testing.assert_close(off.times(weight), there.times(weight))
    torch.testing.assert_close(off.times(weight, mask), there.times(weight, mask))
    torch.testing.assert_close(off.transpose_times(h), there.transpose_times(h))


def test_half_of_what_a_gpu_has_free_is_room(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (1000, 4000))
    gpu = torch.device("cuda")
    assert fits(500, gpu)
    assert not fits(501, gpu)
    assert fits(1 << 60, CPU)


def test_the_size_of_features_is_that_of_their_form():
    dense, sparse = make_graph().features, make_graph(sparse=True).features
    assert feature_bytes(dense) == dense.size * 4
    assert feature_bytes(sparse) == sparse.nnz * 24
