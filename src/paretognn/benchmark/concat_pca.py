"""The control ``concat-pca``: what five single-task encoders know together, without any joint training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretognn.pretext import PAPER

NAME = "concat-pca"
PARTS = tuple(task.name.replace("_", "-") for task in PAPER)


def concat_pca(blocks: Sequence[np.ndarray], width: int) -> np.ndarray:
    """Leading principal components of the blocks side by side, float32 [N, min(width, columns)].

    blocks : [N, d_k] each. Columns are centred and a block is divided by the root mean square norm of its rows, so
        that none outweighs the others by scale alone; a constant block stays zero.
    """
    joined = np.concatenate([_scaled(block) for block in blocks], axis=1)
    # The d x d covariance is small beside N rows, and its eigenvectors are exact.
    _, vectors = np.linalg.eigh(joined.T @ joined)
    return np.asarray(joined @ vectors[:, ::-1][:, :width], dtype=np.float32)


def _scaled(block: np.ndarray) -> np.ndarray:
    centred = np.asarray(block, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=1).mean())
    return centred / size if size > 0 else centred
