"""The ratio wᵀS_B w / wᵀS_W w over w ≥ 0: scatters for the rules of `rayleigh`, and exact steps, by products only.

A scatter matrix is a sum of T.T @ T, and is not formed if it would be large. The rules need it as the difference of two
matrices without negative entries. Any will do, and products give one: with |T| the absolute values of T, both
(|T|ᵀ|T| ± TᵀT)/2 have none. For a matrix S that is formed, (|S| ± S)/2 are NNP Eq. 16. Features that are flipped, NNP Eq. 57,
change nothing but their sign, as the scatter does not depend on the zero of a feature: Θ never matters.

It has loops of its own. The ratio compares X with no product of factors, so that there is no form to derive a rule from, and the
scatters are of either sign. An exact step is the least point of a quadratic function over w ≥ 0, which is found by pivoting, with a
system of equations for each guess of which weights are not zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from ...kernels.tuned import tuned
from .rayleigh import Result

DIRECT, DIRECT_SPARSE = tuned((4000, 1000), by="tuned", on="2026-11-15")
"""Up to this size systems are solved by factorization, above it by conjugate gradients, which sparse X makes cheap."""
RESIDUAL = 1e-9
"""Of conjugate gradients, as a share of the right side."""
BLOCK = 512
"""Rows of S_B that are formed at a time if its entries are needed."""


class Scatter(Protocol):
    """A positive semi-definite matrix known by its products."""

    @property
    def diagonal(self) -> np.ndarray: ...

    def product(self, w: np.ndarray) -> np.ndarray:
        """S w."""

    def bulk(self, w: np.ndarray) -> np.ndarray:
        """B w, for B with no entry smaller than that of |S|."""

    def block(self, support: np.ndarray) -> np.ndarray:
        """The rows and columns of some features."""


class Formed:
    """A matrix that is there."""

    def __init__(self, S: np.ndarray) -> None:
        self.S, self.sizes = S, np.abs(S)

    @property
    def diagonal(self) -> np.ndarray:
        return np.diagonal(self.S)

    def product(self, w: np.ndarray) -> np.ndarray:
        return self.S @ w

    def bulk(self, w: np.ndarray) -> np.ndarray:
        return self.sizes @ w

    def block(self, support: np.ndarray) -> np.ndarray:
        return self.S[np.ix_(support, support)]


class Summed:
    """Σ ± TᵀT, each T with few rows, or sparse."""

    def __init__(self, terms: Sequence[tuple[float, Any]]) -> None:
        self.terms = tuple((sign, T) for sign, T in terms if T.shape[0])
        self._sizes = tuple(abs(T) for _, T in self.terms)

    @cached_property
    def diagonal(self) -> np.ndarray:
        squares = (
            sign * np.asarray((T.multiply(T) if sparse.issparse(T) else T * T).sum(axis=0)).ravel() for sign, T in self.terms
        )
        return np.maximum(sum(squares), 0.0)

    def product(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(sum(sign * (T.T @ (T @ w)) for sign, T in self.terms))

    def bulk(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(sum(T.T @ (T @ w) for T in self._sizes))

    def block(self, support: np.ndarray) -> np.ndarray:
        parts = (sign * _full(T[:, support].T @ T[:, support]) for sign, T in self.terms)
        return np.asarray(sum(parts))


@dataclass(frozen=True)
class Metric:
    """G = D S D + diag(ridge), D the signs and units of features: the denominator of the ratio."""

    scatter: Scatter
    units: np.ndarray
    ridge: np.ndarray

    def product(self, w: np.ndarray) -> np.ndarray:
        return self.units * self.scatter.product(self.units * w) + self.ridge * w

    def parts(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """G⁺w and G⁻w."""
        sizes = np.abs(self.units)
        bulk, product = sizes * self.scatter.bulk(sizes * w) + self.ridge * w, self.product(w)
        return (bulk + product) / 2, np.maximum(bulk - product, 0.0) / 2  # may be negative by rounding only

    def formed(self) -> np.ndarray:
        """The matrix itself."""
        every = np.arange(len(self.units))
        return np.asarray(self.units[:, None] * self.scatter.block(every) * self.units + np.diag(self.ridge))

    def solve(self, b: np.ndarray, support: np.ndarray) -> np.ndarray:
        """G⁻¹b, of the features in a support."""
        if not len(support):
            return np.zeros(0)
        d, ridge = self.units[support], self.ridge[support]
        terms = self.scatter.terms if isinstance(self.scatter, Summed) else ()
        rows = sum(T.shape[0] for _, T in terms) or len(support)
        limit = DIRECT_SPARSE if any(sparse.issparse(T) for _, T in terms) else DIRECT
        if rows < len(support) and rows <= limit and ridge.all():
            return self._solve_by_rows(b[support], support)
        if len(support) <= limit:
            matrix = d[:, None] * self.scatter.block(support) * d + np.diag(ridge)
            try:
                return np.asarray(cho_solve(cho_factor(matrix), b[support]))
            except np.linalg.LinAlgError:  # singular: the shortest of the solutions
                return np.asarray(np.linalg.lstsq(matrix, b[support])[0])

        def product(v: np.ndarray) -> np.ndarray:
            w = np.zeros(len(b))
            w[support] = np.ravel(v)
            return self.product(w)[support]

        operator = LinearOperator((len(support), len(support)), matvec=product, dtype=np.float64)
        return np.asarray(cg(operator, b[support], rtol=RESIDUAL, maxiter=1000)[0])

    def _solve_by_rows(self, b: np.ndarray, support: np.ndarray) -> np.ndarray:
        """By Woodbury's identity, in as many unknowns as there are rows: (R + TᵀJT)⁻¹ = R⁻¹ − R⁻¹Tᵀ(J + T R⁻¹Tᵀ)⁻¹T R⁻¹."""
        assert isinstance(self.scatter, Summed)
        d, ridge = self.units[support], self.ridge[support]
        parts = [T[:, support] for _, T in self.scatter.terms]
        J = np.concatenate([np.full(T.shape[0], sign) for sign, T in self.scatter.terms])
        weighted = [T @ sparse.diags_array(d**2 / ridge) if sparse.issparse(T) else T * (d**2 / ridge) for T in parts]
        gram = np.block([[_full(T @ other.T) for other in parts] for T in weighted])
        b = b / ridge
        y = np.linalg.solve(np.diag(J) + gram, np.concatenate([T @ (d * b) for T in parts]))
        ends = np.cumsum([T.shape[0] for T in parts])[:-1]
        return np.asarray(b - d / ridge * sum(T.T @ share for T, share in zip(parts, np.split(y, ends), strict=True)))


def _full(A: Any) -> np.ndarray:
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


def ratio_of(G: Metric, F: np.ndarray, w: np.ndarray) -> float:
    """wᵀS_B w / wᵀG w, S_B = F Fᵀ."""
    above, below = float(np.sum((F.T @ w) ** 2)), float(w @ G.product(w))
    if below > 0:
        return above / below
    return np.inf if above > 0 else 0.0


class Between:
    """S_B = F Fᵀ, and the cheapest of its parts: those of |F||F|ᵀ."""

    def __init__(self, F: np.ndarray) -> None:
        self.F, self.sizes = F, np.abs(F)

    def product(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(self.F @ (self.F.T @ w))

    def parts(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bulk, product = self.sizes @ (self.sizes.T @ w), self.product(w)
        return (bulk + product) / 2, np.maximum(bulk - product, 0.0) / 2


class EntrywiseBetween(Between):
    """S_B = F Fᵀ with the parts of its entries, NNP Eq. 16, a few rows at a time."""

    def parts(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.F.shape[1] == 1:  # d dᵀ is positive if both have the same sign
            return super().parts(w)
        positive, negative = np.empty_like(w), np.empty_like(w)
        for begin in range(0, len(w), BLOCK):
            rows = slice(begin, begin + BLOCK)
            A = self.F[rows] @ self.F.T
            positive[rows], negative[rows] = np.maximum(A, 0) @ w, np.maximum(-A, 0) @ w
        return positive, negative


def unconstrained(G: Metric, F: np.ndarray) -> Result:
    """The largest ratio over weights of either sign: w = G⁻¹F u, u the leading eigenvector of FᵀG⁻¹F."""
    moving = np.flatnonzero(G.units)
    inverse = np.zeros_like(F)
    for column in range(F.shape[1]):
        inverse[moving, column] = G.solve(F[:, column], moving)
    values, vectors = np.linalg.eigh(F.T @ inverse)
    u = vectors[:, -1] if F.shape[1] > 1 else np.ones(1)
    w = inverse @ u
    length = float(w @ G.product(w))
    return Result(w / np.sqrt(length) if length > 0 else w, float(values[-1]), 1, "tol")


def exact(G: Metric, F: np.ndarray, start: np.ndarray, max_iter: int, tol: float, guess: np.ndarray | None = None) -> Result:
    """Exact steps from w, under which the ratio never falls; in the end no weight could be changed to raise it.

    By Cauchy and Schwarz, vᵀS_B v ≥ (bᵀv)²/wᵀb with b = S_B w, and equal at v = w. The best v of that bound over vᵀG v is the
    least point of ½vᵀG v − bᵀv, v ≥ 0. If S_B = d dᵀ, a class and the others, b is d or −d: one step from either side of the
    means, and the better of both is the best there is. `guess` says which weights may be expected not to be zero.
    """
    w, best = start, ratio_of(G, F, start)
    for n_iter in range(1, max_iter + 1):
        b = F @ (F.T @ w)
        size = np.abs(b).max()
        if not size > 0:
            return Result(w, best, n_iter, "tol")
        if n_iter > 1 or guess is None:
            guess = (w > 0) & (n_iter > 1)
        v = least_point(G, b / size, guess)
        ratio = ratio_of(G, F, v)
        if not ratio > best:
            return Result(w, best, n_iter, "tol")
        is_done = F.shape[1] == 1 or ratio - best <= tol * best
        w, best = v, ratio
        if is_done:
            return Result(w, best, n_iter, "tol")
    return Result(w, best, max_iter, "max_iter")


def least_point(G: Metric, b: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """The least point of ½vᵀG v − bᵀv over v ≥ 0, by block principal pivoting (Kim and Park 2011): guess which v are not zero.

    All wrong guesses are turned at once, as long as they become fewer every few times. If they do not, which takes features that
    follow from each other but for rounding, features enter one after the other.
    """
    free, patience, fewest = guess.copy(), 5, len(b) + 1
    v = np.zeros_like(b)
    while patience >= 0:
        support = np.flatnonzero(free)
        v = np.zeros_like(b)
        v[support] = G.solve(b, support)
        wrong = np.where(free, v < -1e-10 * np.abs(v).max(), _slope(G, b, v) < 0)
        count = int(wrong.sum())
        if not count:
            return np.maximum(v, 0.0)
        patience = 5 if count < fewest else patience - 1
        fewest = min(count, fewest)
        free = free ^ wrong
    return _one_by_one(G, b, np.maximum(v, 0.0))


def _slope(G: Metric, b: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The gradient at v, rounding errors set to zero: no entry of G or b is above one."""
    slope = G.product(v) - b
    return np.where(np.abs(slope) > 1e-13 * (1.0 + np.abs(v).sum()), slope, 0.0)


def _one_by_one(G: Metric, b: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The least point by the active set of Lawson and Hanson, from a feasible point; the objective falls with each feature."""
    refused = np.zeros(len(b), dtype=bool)
    free = v > 0
    for _ in range(3 * len(b) + 10):
        while free.any():
            support = np.flatnonzero(free)
            aim = np.zeros_like(b)
            aim[support] = G.solve(b, support)
            below = free & (aim <= 0)
            if not below.any():
                v = aim
                break
            steps = np.divide(v, v - aim, out=np.zeros_like(v), where=below & (v > aim))
            v = np.where(free, np.maximum(v + steps[below].min() * (aim - v), 0.0), 0.0)
            refused |= below & (v == 0) & (steps == 0)  # a feature that would leave as soon as it enters
            free = free & ~(below & (steps <= steps[below].min()))
            v = np.where(free, v, 0.0)
        slope = np.where(free | refused, 0.0, _slope(G, b, v))
        enters = int(np.argmin(slope))
        if slope[enters] >= 0:
            return v
        free[enters] = True
    return v


def definiteness(B: Metric, F: np.ndarray) -> tuple[float, float]:
    """The least and the largest eigenvalue of B A + A B, A = F Fᵀ: NNP Eq. 56 wants them positive.

    It has a rank of at most 2q, q the columns of F, and its range is within that of [F, B F].
    """
    BF = np.column_stack([B.product(column) for column in F.T])
    Q, _ = np.linalg.qr(np.hstack([F, BF]))
    half = (Q.T @ BF) @ (F.T @ Q)
    values = np.linalg.eigvalsh(half + half.T)
    low, high = float(values[0]), float(values[-1])
    if F.shape[1] == 1:  # c(dᵀBd ± ‖d‖‖Bd‖), zeros free of rounding
        low, high = (float(F[:, 0] @ BF[:, 0] + s * np.linalg.norm(F) * np.linalg.norm(BF)) for s in (-1, 1))
        low = min(low, 0.0) if len(F) > 1 else high
    if Q.shape[1] < len(F):
        low, high = min(low, 0.0), max(high, 0.0)
    return low, high
