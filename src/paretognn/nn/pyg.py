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
        if not isinstance(module, nn.Module):
            kind = module.__name__ if isinstance(module, type) else repr(module)
            raise InputError(
                f"encoder must be a module with forward(x, edge_index), as those of torch_geometric, not {kind}; "
                "built-in encoders are named in the settings"
            )
        if not any(p.requires_grad for p in module.parameters()):
            raise InputError("the encoder has no parameters that can be trained")
        self.module = module
        self.in_dim = in_dim
        mode, device = module.training, next((p.device for p in module.parameters()), torch.device("cpu"))
        with torch.no_grad():
            # Not in training mode: its batch norms would count the zeros in.
            edges = torch.tensor([[0, 1], [1, 0]], device=device)
            try:
                out = module.eval()(torch.zeros(2, in_dim, device=device), edges)
            except (TypeError, RuntimeError, ValueError) as error:
                raise InputError(
                    f"the encoder cannot map x [N, {in_dim}] (float32) and edge_index [2, E]: {error}"
                ) from error
            finally:
                module.train(mode)
        if not isinstance(out, Tensor) or out.ndim != 2 or out.shape[0] != 2 or out.dtype != torch.float32:
            raise InputError("the encoder must map x [N, D] and edge_index [2, E] to one float32 tensor [N, d]")
        self.out_dim = int(out.shape[1])
        depth = sum(1 for m in module.modules() if type(m).__mro__[1].__name__ == "MessagePassing")
        self.num_layers = max(1, depth)

    def forward(self, view: View) -> Tensor:
        out: Tensor = self.module(view.features.dense(), view.edge_index())
        return out[: view.num_rows]
