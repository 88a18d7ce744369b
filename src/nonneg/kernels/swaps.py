"""Matchings of graphs improved by exchanging pairs: as long as that gains, and beyond.

Vertex i of B is matched with vertex permutation[i] of A, C is P A Pᵀ, and tr(Bᵀ C) should be large. Only vertices with
movable[i] may change. Gains up to `least` are rounding.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled, inlined


@inlined
def gain_of(B: np.ndarray, C: np.ndarray, i: int, j: int) -> float:
    """By how much tr(Bᵀ C) grows when vertices i and j of B exchange their partners."""
    gain = (B[i, i] - B[j, j]) * (C[j, j] - C[i, i]) + (B[i, j] - B[j, i]) * (C[j, i] - C[i, j])
    rows, columns = 0.0, 0.0
    for k in range(len(B)):
        rows += (B[i, k] - B[j, k]) * (C[j, k] - C[i, k])
        columns += (B[k, i] - B[k, j]) * (C[k, j] - C[k, i])
    rows -= (B[i, i] - B[j, i]) * (C[j, i] - C[i, i]) + (B[i, j] - B[j, j]) * (C[j, j] - C[i, j])
    columns -= (B[i, i] - B[i, j]) * (C[i, j] - C[i, i]) + (B[j, i] - B[j, j]) * (C[j, j] - C[j, i])
    return gain + rows + columns


@inlined
def permuted(A: np.ndarray, permutation: np.ndarray) -> np.ndarray:
    """P A Pᵀ."""
    n = len(permutation)
    C = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            C[i, j] = A[permutation[i], permutation[j]]
    return C


@inlined
def exchange(C: np.ndarray, permutation: np.ndarray, i: int, j: int) -> None:
    permutation[i], permutation[j] = permutation[j], permutation[i]
    for k in range(len(C)):
        C[i, k], C[j, k] = C[j, k], C[i, k]
    for k in range(len(C)):
        C[k, i], C[k, j] = C[k, j], C[k, i]


@compiled
def swap_pairs(A: np.ndarray, B: np.ndarray, permutation: np.ndarray, movable: np.ndarray, least: float, visits: int) -> int:
    """Exchange partners as long as that gains. Returns how many exchanges were made.

    A vertex whose weights all fit is not the one to begin with: an exchange that gains has a vertex whose weights do not.
    """
    n, swaps = len(permutation), 0
    C = permuted(A, permutation)
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
                gain = gain_of(B, C, i, j)
                if gain > most:
                    best, most = j, gain
            if best >= 0:
                exchange(C, permutation, i, best)
                swaps += 1
        if swaps == before:
            break
    return swaps


@compiled
def search_swaps(
    A: np.ndarray, B: np.ndarray, permutation: np.ndarray, movable: np.ndarray, least: float, tenures: np.ndarray, enough: float
) -> float:
    """Go on beyond local optima: robust tabu search (Taillard 1991). Returns by how much tr(Bᵀ C) has grown.

    Each iteration makes the best exchange, a loss or not, that does not give both vertices partners they had a while ago, in as
    many iterations as its row of `tenures` says. An exchange that leads to the best matching so far is always allowed; one that has
    long not been made is made next. `permutation` becomes the best that was met, at the latest when it is `enough` better.
    """
    n, overdue_after = len(permutation), 5 * len(permutation) ** 2
    C, gains, until = permuted(A, permutation), np.zeros((n, n)), np.empty((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(n):
            until[i, j] = -(n * i + j)  # different for all, so that not all are overdue at once
            if i < j:
                gains[i, j] = gain_of(B, C, i, j)
    best, now, most = permutation.copy(), 0.0, 0.0
    for t in range(1, len(tenures) + 1):
        r, s, largest, is_forced = -1, -1, -np.inf, False
        for i in range(n):
            if not movable[i]:
                continue
            for j in range(i + 1, n):
                if not movable[j]:
                    continue
                first, second = until[i, permutation[j]], until[j, permutation[i]]
                is_overdue = max(first, second) < t - overdue_after
                is_allowed = min(first, second) < t or now + gains[i, j] > most + least
                if (is_overdue and not is_forced) or (is_overdue == is_forced and is_allowed and gains[i, j] > largest):
                    r, s, largest, is_forced = i, j, gains[i, j], is_overdue
        if r < 0:
            continue
        until[r, permutation[r]], until[s, permutation[s]] = t + tenures[t - 1, 0], t + tenures[t - 1, 1]
        now += gains[r, s]
        exchange(C, permutation, r, s)
        for i in range(n):
            for j in range(i + 1, n):
                if i in (r, s) or j in (r, s):
                    gains[i, j] = gain_of(B, C, i, j)
                else:  # only the sums over k = r and k = s are other ones
                    rows = (B[i, r] - B[j, r] - B[i, s] + B[j, s]) * (C[j, r] - C[i, r] - C[j, s] + C[i, s])
                    columns = (B[r, i] - B[r, j] - B[s, i] + B[s, j]) * (C[r, j] - C[r, i] - C[s, j] + C[s, i])
                    gains[i, j] += rows + columns
        if now > most + least:
            most = now
            for i in range(n):
                best[i] = permutation[i]
            if most >= enough:
                break
    for i in range(n):
        permutation[i] = best[i]
    return most
