"""The point of minimum norm in the convex hull of K gradients, from their Gram matrix (eq. 3)."""

from __future__ import annotations

import numpy as np

_TOLERANCE = 1e-12


def min_norm_weights(gram: np.ndarray) -> np.ndarray:
    """argmin_alpha alpha G alpha^T over the simplex, exactly (Wolfe's active-set method, 1976).

    gram : [K, K] symmetric positive semi-definite, float64. Returns alpha [K], non-negative, summing to 1.
    Optimal means that (G alpha)_k >= alpha G alpha for every k, so the combined gradient descends for every
    task. A gradient of zero takes all the weight; callers leave such tasks out.
    """
    gram = np.asarray(gram, dtype=np.float64)
    k = len(gram)
    scale = float(np.max(np.diag(gram), initial=0.0))
    if scale <= 0 or k == 1:
        return np.full(k, 1.0 / k)
    gram = gram / scale
    alpha = np.zeros(k)
    support = [int(np.argmin(np.diag(gram)))]
    alpha[support] = 1.0
    best, best_norm2 = alpha, np.inf
    for _ in range(4 * 2 ** min(k, 10)):
        norm2 = float(alpha @ gram @ alpha)
        if norm2 >= best_norm2:
            # Every round shortens the vector but for rounding, which would go round and round nearly equal gradients.
            break
        best, best_norm2 = alpha, norm2
        slope = gram @ alpha
        entering = int(np.argmin(slope))
        if entering in support or slope[entering] >= alpha @ slope - _TOLERANCE:
            break
        support.append(entering)
        alpha = _shrink_to_optimum(gram, alpha, support)
        support = [i for i in support if alpha[i] > 0]
    return best / best.sum()


def _shrink_to_optimum(gram: np.ndarray, alpha: np.ndarray, support: list[int]) -> np.ndarray:
    """Move from ``alpha`` to the minimum over the affine hull of ``support``, dropping what would turn
    negative on the way."""
    support = list(support)
    while True:
        target = np.zeros_like(alpha)
        target[support] = _affine_minimum(gram[np.ix_(support, support)])
        negative = [i for i in support if target[i] <= 0]
        if not negative:
            return target
        steps = [alpha[i] / (alpha[i] - target[i]) if alpha[i] > target[i] else 0.0 for i in negative]
        alpha = alpha + min(steps) * (target - alpha)
        leaving = negative[int(np.argmin(steps))]
        alpha[leaving] = 0.0
        support.remove(leaving)
        if len(support) == 1:
            alpha[:] = 0.0
            alpha[support] = 1.0
            return alpha


def _affine_minimum(gram: np.ndarray) -> np.ndarray:
    """argmin y G y^T subject to sum(y) = 1, signs free, by the optimality system in the scale of each row."""
    inverse = 1.0 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    border = inverse / inverse.max()
    k = len(gram)
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = gram * inverse[:, None] * inverse[None, :]
    system[:k, k] = system[k, :k] = border
    right = np.zeros(k + 1)
    right[k] = 1.0
    scaled = np.linalg.lstsq(system, right, rcond=1e-13)[0][:k]
    y = scaled * border
    total = y.sum()
    return y / total if total != 0 else np.full(k, 1.0 / k)
