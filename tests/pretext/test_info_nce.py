import math
import subprocess
import sys
from importlib import import_module

import pytest
import torch

from paretognn.pretext.info_nce import info_nce

info = import_module("paretognn.pretext.info_nce")


def dense(first, second, temperature):
    """GRACE's definition, view by view, in one piece."""
    u, v = (z / z.norm(dim=1, keepdim=True).clamp(min=1e-6) for z in (first, second))
    total = 0
    for a, b in ((u, v), (v, u)):
        intra, inter = torch.exp(a @ a.T / temperature), torch.exp(a @ b.T / temperature)
        denominator = intra.sum(1) - intra.diagonal() + inter.sum(1)
        total = total - torch.log(inter.diagonal() / denominator).mean()
    return total / 2


@pytest.fixture
def views():
    torch.manual_seed(0)
    return [torch.randn(200, 8, dtype=torch.float64, requires_grad=True) for _ in range(2)]


@pytest.mark.parametrize("block", [7, 64, 1024])
@pytest.mark.parametrize("keep", [0, 300_000, 1 << 30])
@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0])
def test_value_and_gradient_equal_the_dense_form(views, monkeypatch, block, keep, temperature):
    monkeypatch.setattr(info, "_BLOCK", {"cpu": block})
    monkeypatch.setattr(info, "KEEP_BYTES", keep)
    got, want = info_nce(*views, temperature), dense(*views, temperature)
    torch.testing.assert_close(got, want)
    for a, b in zip(torch.autograd.grad(got, views), torch.autograd.grad(want, views), strict=True):
        torch.testing.assert_close(a, b)


def test_c31_float32_to_1e_5(views):
    small = [v.detach().float().requires_grad_() for v in views]
    got, want = info_nce(*small, 0.1), dense(*views, 0.1)
    assert got.item() == pytest.approx(want.item(), abs=1e-5)
    for a, b in zip(torch.autograd.grad(got, small), torch.autograd.grad(want, views), strict=True):
        torch.testing.assert_close(a.double(), b, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("apart", [0, 1e-3, 1e-1])
@pytest.mark.parametrize("temperature", [0.03, 0.1, 0.5])
def test_near_a_good_fit_float32_stays_right(views, temperature, apart):
    """Two views that hardly differ: partition and positive cancel."""
    first = views[0].detach()
    small = [v.float().requires_grad_() for v in (first, first + apart * views[1].detach())]
    exact = [v.detach().double().requires_grad_() for v in small]
    got, want = info_nce(*small, temperature), dense(*exact, temperature)
    assert got.item() == pytest.approx(want.item(), abs=2e-5)
    for a, b in zip(torch.autograd.grad(got, small), torch.autograd.grad(want, exact), strict=True):
        assert float((a - b).norm()) < 1e-4 * float(b.norm()) + 1e-7


@pytest.mark.parametrize(("keep", "again"), [(0, 10), (4 * 64 * 64 * 4, 6), (1 << 30, 0)])
def test_exponentials_are_kept_up_to_the_budget_and_made_again_above_it(views, monkeypatch, keep, again):
    """Rows of two views of 100 nodes in four blocks, ten of them on and above the diagonal."""
    monkeypatch.setattr(info, "_BLOCK", {"cpu": 64})
    monkeypatch.setattr(info, "KEEP_BYTES", keep)
    made = []
    exponentials = info._exponentials
    monkeypatch.setattr(info, "_exponentials", lambda *given: made.append(1) or exponentials(*given))
    small = [v.detach()[:100].float().requires_grad_() for v in views]
    loss = info_nce(*small, 0.5)
    assert len(made) == 10
    loss.backward()
    assert len(made) == 10 + again


def test_c31_memory_grows_with_the_nodes_not_their_square():
    """Peak resident memory of 20,000 nodes, forward and backward; all similarities would take 6 GiB."""
    program = (
        "import torch; from paretognn.training.memory import peak_memory;"
        "from paretognn.pretext.info_nce import info_nce;"
        "a, b = (torch.randn(20_000, 64).requires_grad_() for _ in range(2)); info_nce(a[:9], b[:9], 0.5).backward();"
        "before = peak_memory(); info_nce(a, b, 0.5).backward(); print(peak_memory() - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 1.5e9


def test_c33_a_single_node_has_no_negatives_and_loss_zero():
    first, second = (torch.randn(1, 4, requires_grad=True) for _ in range(2))
    loss = info_nce(first, second, 0.5)
    assert loss.item() == pytest.approx(0, abs=1e-6)
    for grad in torch.autograd.grad(loss, (first, second)):
        torch.testing.assert_close(grad, torch.zeros(1, 4), atol=1e-6, rtol=0)


def test_gradcheck():
    views = [torch.randn(6, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(lambda a, b: info_nce(a, b, 0.3), views)


@pytest.mark.parametrize("n", [1, 2, 50])
def test_identical_rows_give_ln_2n_minus_1(n):
    rows = torch.ones(n, 4)
    assert info_nce(rows, rows, 0.1).item() == pytest.approx(math.log(2 * n - 1), abs=1e-4)


@pytest.mark.parametrize("temperature", [0.005, 0.01, 0.024, 0.1, 1.0])
def test_opposite_and_zero_rows_stay_finite(temperature):
    """exp(-2 / tau) underflows float32 at small temperatures."""
    base = torch.nn.functional.normalize(torch.randn(10, 4), dim=1)
    first = torch.cat([base, torch.zeros(1, 4)]).requires_grad_()
    second = torch.cat([-base, torch.zeros(1, 4)]).requires_grad_()
    loss = info_nce(first, second, temperature)
    grads = torch.autograd.grad(loss, (first, second))
    assert torch.isfinite(loss)
    assert all(torch.isfinite(g).all() for g in grads)
    # A zero row goes through the normalisation with a bounded slope.
    assert max(g.norm() for g in grads) < 1e7


def test_symmetric_in_its_views(views):
    torch.testing.assert_close(info_nce(views[0], views[1], 0.2), info_nce(views[1], views[0], 0.2))
