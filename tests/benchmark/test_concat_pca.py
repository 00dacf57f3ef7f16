import numpy as np

from paretognn.benchmark.concat_pca import concat_pca


def by_definition(blocks, width):
    """Singular vectors times values of the scaled blocks side by side, leading first."""
    scaled = []
    for block in blocks:
        centred = block - block.mean(0)
        scaled.append(centred / np.sqrt((np.linalg.norm(centred, axis=1) ** 2).mean()))
    u, s, _ = np.linalg.svd(np.hstack(scaled), full_matrices=False)
    return (u * s)[:, :width]


def blocks(n=40, width=6, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, width)) @ rng.standard_normal((width, width)) + k for k in range(5)]


def test_equals_the_principal_components_of_the_scaled_blocks():
    parts = blocks()
    found, wanted = concat_pca(parts, 6), by_definition(parts, 6)
    assert found.shape == (40, 6)
    assert found.dtype == np.float32
    signs = np.sign((found * wanted).sum(0))
    np.testing.assert_allclose(found * signs, wanted, rtol=1e-4, atol=1e-5)


def test_the_scale_and_place_of_a_block_change_nothing():
    parts = blocks()
    moved = [parts[0] * 1000 + 5, *parts[1:]]
    one, other = concat_pca(parts, 6), concat_pca(moved, 6)
    np.testing.assert_allclose(np.abs(one), np.abs(other), rtol=1e-3, atol=1e-4)


def test_a_constant_block_adds_nothing():
    parts = blocks()
    with_constant = concat_pca([*parts[:4], np.full_like(parts[4], 3.0)], 6)
    np.testing.assert_allclose(np.abs(with_constant), np.abs(concat_pca(parts[:4], 6)), rtol=1e-3, atol=1e-4)


def test_fewer_nodes_than_columns():
    assert np.isfinite(concat_pca(blocks(n=4), 6)).all()
