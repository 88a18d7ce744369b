"""Matchings of graphs improved by exchanging pairs, as long as that gains."""

from __future__ import annotations

import numpy as np

from .compiler import compiled


@compiled
def swap_pairs(A: np.ndarray, B: np.ndarray, permutation: np.ndarray, movable: np.ndarray, least: float, visits: int) -> int:
    """Exchange partners as long as tr(Bᵀ P A Pᵀ) grows. Returns how many exchanges were made.

    Vertex i of B is matched with vertex permutation[i] of A; only those with movable[i] may change. A vertex whose weights all fit
    is not the one to begin with: an exchange that gains has a vertex whose weights do not.
    """
    n, swaps = len(permutation), 0
    C = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            C[i, j] = A[permutation[i], permutation[j]]
    for _ in range(visits):
        before = swaps
        for i in range(n):
            fits = True
            for k in range(n):
                if C[i, k] != B[i, k] or C[k, i] != B[k, i]:
                    fits = False
                    break
            if fits or not movable[i]:
                continue
            best, most = -1, least
            for j in range(n):
                if j == i or not movable[j]:
                    continue
                gain = (B[i, i] - B[j, j]) * (C[j, j] - C[i, i]) + (B[i, j] - B[j, i]) * (C[j, i] - C[i, j])
                rows, columns = 0.0, 0.0
                for k in range(n):
                    rows += (B[i, k] - B[j, k]) * (C[j, k] - C[i, k])
                    columns += (B[k, i] - B[k, j]) * (C[k, j] - C[k, i])
                rows -= (B[i, i] - B[j, i]) * (C[j, i] - C[i, i]) + (B[i, j] - B[j, j]) * (C[j, j] - C[i, j])
                columns -= (B[i, i] - B[i, j]) * (C[i, j] - C[i, i]) + (B[j, i] - B[j, j]) * (C[j, j] - C[j, i])
                if gain + rows + columns > most:
                    best, most = j, gain + rows + columns
            if best >= 0:
                j = best
                permutation[i], permutation[j] = permutation[j], permutation[i]
                for k in range(n):
                    C[i, k], C[j, k] = A[permutation[i], permutation[k]], A[permutation[j], permutation[k]]
                    C[k, i], C[k, j] = A[permutation[k], permutation[i]], A[permutation[k], permutation[j]]
                swaps += 1
        if swaps == before:
            break
    return swaps
