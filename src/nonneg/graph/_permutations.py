"""Permutations P with P A Pᵀ near B: rounding of W, exchanges of pairs, and local search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..kernels.tuned import tuned
from ..solve.progress import is_interrupted

_VISITS = 100
"""Rounds over all pairs, at most."""
_ROUNDING = 1e-9
"""Gains below this share of ‖A‖ ‖B‖ are rounding errors."""
_SEARCH, _EFFORT = tuned((20_000, 2e7), by="assignment", on="2026-11-15")
"""Iterations of a search, at most, and how many pairs of vertices it may look at."""

_REGROWTHS, _RETURNS = tuned((40, 10), by="assignment", on="2026-11-19")
"""Regrowths of a matching, at most, and how many may come back to the best error in a row."""
_KEPT = tuned((0.15, 0.3, 0.5, 0.7), by="assignment", on="2026-11-19")
"""Shares of the vertices that a regrowth keeps, one of them drawn for each."""
_JITTER = tuned(0.3, by="assignment", on="2026-11-19")
"""Standard deviation of the noise by which the vertices that are kept differ from the best fitting ones."""
_STEPS, _STILL = tuned((30, 0.02), by="assignment", on="2026-11-19")
"""Steps of Frank and Wolfe, at most, and the length of one that ends them, as a share of the largest possible."""


@dataclass(frozen=True)
class Pair:
    """Two graphs with equally many vertices, and the known part of their matching.

    Attributes
    ----------
    A, B : array of shape (n, n)
        Divided by a power of two, which rounds nothing, so that the largest weight is between ½ and 1.
    seeds : array of shape (n_seeds, 2)
        A vertex of A and one of B in each row.
    exponent : int
        That of the power of two.
    """

    A: np.ndarray
    B: np.ndarray
    seeds: np.ndarray
    exponent: int

    @classmethod
    def of(cls, A: np.ndarray, B: np.ndarray, seeds: np.ndarray) -> Pair:
        largest = max(float(A.max()), float(B.max()))
        exponent = int(np.ceil(np.log2(largest))) if largest > 0 else 0
        return cls(np.ldexp(A, -exponent), np.ldexp(B, -exponent), seeds, exponent)

    @property
    def movable(self) -> np.ndarray:
        """Mask of the vertices of B that are not seeds."""
        return ~np.isin(np.arange(len(self.B)), self.seeds[:, 1])

    @property
    def rounding(self) -> float:
        """Gains that are none."""
        return _ROUNDING * float(np.linalg.norm(self.A) * np.linalg.norm(self.B))

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether both graphs are undirected."""
        return bool((self.A == self.A.T).all() and (self.B == self.B.T).all())

    def error(self, permutation: np.ndarray) -> float:
        """‖B − P A Pᵀ‖², of the graphs as divided."""
        return float(((self.A[np.ix_(permutation, permutation)] - self.B) ** 2).sum())

    def in_user_units(self, error: float) -> float:
        """The error of the graphs as given; infinite if no float is as large."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(error, 2 * self.exponent))


def rounded(W: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """The permutation nearest to W, by the Hungarian method; seeds stay."""
    rows, columns = np.ones(len(W), dtype=bool), np.ones(len(W), dtype=bool)
    rows[seeds[:, 1]], columns[seeds[:, 0]] = False, False
    permutation = np.empty(len(W), dtype=np.int64)
    permutation[seeds[:, 1]] = seeds[:, 0]
    rows_left, columns_left = np.flatnonzero(rows), np.flatnonzero(columns)
    permutation[rows_left] = columns_left[linear_sum_assignment(W[np.ix_(rows, columns)], maximize=True)[1]]
    return permutation


def polished(pair: Pair, permutation: np.ndarray) -> np.ndarray:
    """The permutation after pairs have been exchanged as long as that gains."""
    from ..kernels.swaps import swap_pairs

    permutation = permutation.copy()
    swap_pairs(pair.A, pair.B, permutation, pair.movable, pair.rounding, _VISITS)
    return permutation


def regrown(pair: Pair, permutation: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """The best permutation met by keeping matches that fit, and their neighbours', and matching all others again from nothing."""
    n, movable, best, least, returns = len(permutation), pair.movable, permutation, pair.error(permutation), 0
    links = pair.B + pair.B.T
    weights = np.maximum(links.sum(axis=1), np.finfo(float).tiny)
    for _ in range(_REGROWTHS):
        if least == 0 or returns == _RETURNS or is_interrupted():
            break
        C = pair.A[np.ix_(best, best)]
        sums = (C + pair.B).sum(axis=1) + (C + pair.B).sum(axis=0)
        gaps = np.abs(C - pair.B).sum(axis=1) + np.abs(C - pair.B).sum(axis=0)
        fit = 1 - gaps / np.where(sums > 0, sums, 1.0)
        fit = fit + (links @ fit) / weights + _JITTER * generator.standard_normal(n)
        fit[~movable] = np.inf
        count = max(int(generator.choice(_KEPT) * n), n - int(movable.sum()))
        found = polished(pair, _matched_again(pair, best, np.argsort(-fit)[count:]))
        error = pair.error(found)
        returns = returns + 1 if abs(error - least) <= pair.rounding else 0 if error < least else returns
        if error <= least:
            best, least = found, error
    return best


def _matched_again(pair: Pair, permutation: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some vertices of B matched again: tr(Bᵀ W A Wᵀ) by the steps of Frank and Wolfe from all their matches alike (FAQ)."""
    columns, n = permutation[rows], len(permutation)
    if len(rows) < 2:
        return permutation
    W = np.zeros((n, n))
    W[np.arange(n), permutation] = 1.0
    W[np.ix_(rows, columns)] = 1 / len(rows)
    gradient = _gradient(pair, W @ pair.A, W @ pair.A.T)
    for _ in range(_STEPS):
        order = linear_sum_assignment(gradient[np.ix_(rows, columns)], maximize=True)[1]
        ahead = permutation.copy()
        ahead[rows] = columns[order]
        step = -W
        step[np.arange(n), ahead] += 1.0
        change = _gradient(pair, pair.A[ahead], pair.A.T[ahead]) - gradient
        slope, curvature = float(np.vdot(gradient, step)), float(np.vdot(change, step)) / 2
        rises_to_end = slope + 2 * curvature >= 0
        if not rises_to_end and slope <= 0:
            break
        length = 1.0 if rises_to_end else -slope / (2 * curvature)
        W, gradient = W + length * step, gradient + length * change
        if length * float(np.linalg.norm(step)) < _STILL * n**0.5:
            break
    found = permutation.copy()
    found[rows] = columns[linear_sum_assignment(W[np.ix_(rows, columns)], maximize=True)[1]]
    return found


def _gradient(pair: Pair, WA: np.ndarray, WAt: np.ndarray) -> np.ndarray:
    """Of tr(Bᵀ W A Wᵀ): Bᵀ W A + B W Aᵀ, from W A and W Aᵀ."""
    return 2 * (pair.B @ WA) if pair.is_symmetric else pair.B.T @ WA + pair.B @ WAt


def searched(pair: Pair, permutation: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """The best permutation that a tabu search from this one meets."""
    from ..kernels.swaps import search_swaps

    movable, error = pair.movable, pair.error(permutation)
    n, free = len(movable), int(movable.sum())
    if free < 2 or error == 0:
        return permutation
    shortest = max(int(0.9 * free), 1)  # Taillard's 0.9 n to 1.1 n
    tenures = generator.integers(shortest, int(1.1 * free) + 1, size=(int(min(_SEARCH, _EFFORT / n**2)), 2), endpoint=True)
    permutation = permutation.copy()
    search_swaps(pair.A, pair.B, permutation, movable, pair.rounding, tenures, error / 2 - pair.rounding)
    return permutation
