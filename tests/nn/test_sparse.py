import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from paretognn.nn.sparse import Csr, gather, permute


@pytest.fixture
def matrix():
    m = sp.random_array((9, 7), density=0.3, format="csr", rng=np.random.default_rng(1))
    return Csr.from_scipy(sp.csr_array(m)), torch.tensor(m.toarray(), dtype=torch.float64)


def test_product_value_and_gradient(matrix):
    csr, dense = matrix
    x = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    np.testing.assert_allclose((csr @ x).detach(), dense.float().double() @ x.detach(), atol=1e-12)
    assert torch.autograd.gradcheck(lambda x: csr @ x, (x,))


def test_permute():
    x, order = torch.randn(9, 3, dtype=torch.float64, requires_grad=True), torch.randperm(9)
    torch.testing.assert_close(permute(x, order), x[order])
    assert torch.autograd.gradcheck(lambda x: permute(x, order), (x,))


def test_transpose_and_dense(matrix):
    csr, dense = matrix
    torch.testing.assert_close(csr.transpose().to_dense(), dense.float().T)
    torch.testing.assert_close(csr.transpose().transpose().to_dense(), dense.float())


def test_a_matrix_goes_with_its_last_reference():
    matrix = Csr.from_scipy(sp.eye_array(4, dtype=np.float32, format="csr"))
    matrix.transpose()
    alive = weakref.ref(matrix)
    gc.disable()  # which would find a cycle, sooner or later
    try:
        del matrix
        assert alive() is None
    finally:
        gc.enable()


def test_empty_rows_and_no_entries():
    empty = Csr(torch.zeros(4, dtype=torch.int64), torch.zeros(0, dtype=torch.int64), torch.zeros(0), (3, 5))
    x = torch.randn(5, 2, requires_grad=True)
    out = empty @ x
    out.sum().backward()
    assert out.shape == (3, 2)
    assert not x.grad.any()


def test_gather_with_repeats():
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    index = torch.tensor([4, 0, 0, 2, 4, 4])
    torch.testing.assert_close(gather(x, index), x[index])
    assert torch.autograd.gradcheck(lambda x: gather(x, index), (x,))


@pytest.mark.parametrize("threads", [1, 2])
def test_no_columns_give_no_columns(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        matrix = Csr.from_scipy(sp.eye_array(4, dtype=np.float32, format="csr"))
        assert matrix.product(torch.zeros(4, 0)).shape == (4, 0)
    finally:
        torch.set_num_threads(before)
