"""Any PyTorch Geometric module with ``forward(x, edge_index)`` as the encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from paretognn.errors import InputError
from paretognn.nn.view import View


class PyGEncoder(nn.Module):
    """Hands a view to a PyG module as dense ``x`` and ``edge_index``; sampled blocks as one joined graph.

    Everything that makes the built-in encoder fast (sparse features, order of products, symmetric backward)
    is lost here; the module's own batch-norm statistics are used as they are.
    """

    def __init__(self, module: nn.Module, in_dim: int) -> None:
        super().__init__()
        self.module = module
        self.in_dim = in_dim
        mode, device = module.training, next((p.device for p in module.parameters()), torch.device("cpu"))
        with torch.no_grad():
            # Not in training mode: its batch norms would count the zeros in.
            edges = torch.tensor([[0, 1], [1, 0]], device=device)
            out = module.eval()(torch.zeros(2, in_dim, device=device), edges)
        module.train(mode)
        if not isinstance(out, Tensor) or out.ndim != 2 or out.shape[0] != 2:
            raise InputError("the encoder must map x [N, D] and edge_index [2, E] to one tensor [N, d]")
        self.out_dim = int(out.shape[1])
        depth = sum(1 for m in module.modules() if type(m).__mro__[1].__name__ == "MessagePassing")
        self.num_layers = max(1, depth)

    def forward(self, view: View) -> Tensor:
        out: Tensor = self.module(view.features.dense(), view.edge_index())
        return out[: view.num_rows]
