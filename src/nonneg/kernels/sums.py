"""Sums over all entries of a dense array, in one walk over it."""

from __future__ import annotations

import numpy as np

from .compiler import compiled


@compiled
def plain_sums(x: np.ndarray) -> tuple[int, float, float]:
    """The number of entries that are not zero, Σ x and Σ x², in double precision."""
    non_zeros, total, squares = 0, 0.0, 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            value = np.float64(x[i, j])
            non_zeros += value != 0.0
            total += value
            squares += value * value
    return non_zeros, total, squares
