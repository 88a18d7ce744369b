"""Permutations for which P A Pᵀ is like B: W rounded to one, improved by exchanging pairs, and searched around."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

_VISITS = 100
"""Rounds over all pairs, at most."""
_ROUNDING = 1e-9
"""Gains below this share of ‖A‖ ‖B‖ are rounding errors."""
_SEARCH, _EFFORT = 20_000, 2e7
"""Iterations of a search, at most, and how many pairs of vertices it may look at."""


@dataclass(frozen=True)
class Pair:
    """Two graphs with equally many vertices, and what is known of how they are matched.

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
        """Which vertices of B are not seeds."""
        return ~np.isin(np.arange(len(self.B)), self.seeds[:, 1])

    @property
    def rounding(self) -> float:
        """Gains that are none."""
        return _ROUNDING * float(np.linalg.norm(self.A) * np.linalg.norm(self.B))

    def error(self, permutation: np.ndarray) -> float:
        """‖B − P A Pᵀ‖², of the graphs as divided."""
        return float(((self.A[np.ix_(permutation, permutation)] - self.B) ** 2).sum())

    def in_user_units(self, error: float) -> float:
        """The error of the graphs as given; infinite if no float is as large."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(error, 2 * self.exponent))


def rounded(W: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """The permutation that W is nearest to, by the Hungarian method; seeds stay what they are."""
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
