"""The paper's iteration for the same problem (eq. 4 and 5): exact line search towards one task a time."""

from __future__ import annotations

import numpy as np


def line_weight(own: float, other: float, inner: float) -> float:
    """Weight of the other gradient at the minimum-norm point between two (eq. 4), clipped to [0, 1].

    own, other : squared norms; inner : inner product. The denominator is the squared distance: with the
    plain norm of the text the step depends on the gradients' scale.
    """
    distance = own + other - 2 * inner
    if distance <= 0:
        return 0.0
    return float(np.clip((own - inner) / distance, 0.0, 1.0))


def frank_wolfe_weights(gram: np.ndarray, tolerance: float = 1e-5, max_iterations: int = 100) -> np.ndarray:
    """Frank-Wolfe from the centre of the simplex until the step is below ``tolerance`` (xi) or
    ``max_iterations`` (gamma) are done. gram [K, K]; returns alpha [K] on the simplex.

    Theorem 1: after gamma iterations the squared norm is within 4 beta / (gamma + 1) of the optimum, beta
    twice the largest eigenvalue of the Gram matrix. Two tasks are solved in closed form.
    """
    gram = np.asarray(gram, dtype=np.float64)
    k = len(gram)
    if k == 2:
        second = line_weight(gram[0, 0], gram[1, 1], gram[0, 1])
        return np.array([1 - second, second])
    alpha = np.full(k, 1.0 / k)
    for _ in range(max_iterations):
        slope = gram @ alpha
        task = int(np.argmin(slope))
        step = line_weight(float(alpha @ slope), float(gram[task, task]), float(slope[task]))
        alpha *= 1 - step
        alpha[task] += step
        if step < tolerance:
            break
    return alpha / alpha.sum()
