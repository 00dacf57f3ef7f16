"""Arrays of any library as numpy or scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def to_host(value: Any) -> Any:
    """A numpy array, or a scipy sparse matrix for sparse input; tensors come to the CPU, without gradient."""
    if sp.issparse(value):
        return value
    if hasattr(value, "detach"):
        return _from_tensor(value.detach().cpu())
    if isinstance(value, np.ma.MaskedArray):  # what is masked is missing
        return np.ma.filled(value if value.dtype.kind == "f" else value.astype(np.float64), np.nan)
    return np.asarray(value)


def _from_tensor(tensor: Any) -> Any:
    import torch

    if tensor.layout is torch.strided:
        # numpy has no bfloat16.
        return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()
    tensor = tensor.to_sparse_coo().coalesce()
    values = to_host(tensor.values())
    return sp.coo_array((values, tuple(tensor.indices().numpy())), shape=tuple(tensor.shape)).tocsr()
