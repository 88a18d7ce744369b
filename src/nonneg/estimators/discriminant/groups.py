"""X with its classes, in units that do not overflow, for scatter matrices of discriminants."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...data import as_dense
from .fisher import Scatter

_SAFE = 400
"""Features whose largest entry is beyond 2 to the power of ± this are divided by a power of two, which rounds nothing."""


class Groups(NamedTuple):
    """X with its classes, each feature in units of its largest entry."""

    X: Any
    """Centred, if dense; as it is, if sparse."""
    codes: np.ndarray
    means: np.ndarray
    """Of the classes, less those of all."""
    shares: np.ndarray
    """Of the samples in each class."""
    powers: np.ndarray
    """Features were divided by two to these powers first of all: zero but for very large and very small ones."""
    centre: np.ndarray
    """The subtracted mean; zero if X is sparse."""
    sizes: np.ndarray
    """The units of the features after that."""
    total: np.ndarray
    """The diagonal of S_W + S_B, which is the same for any classes."""
    noise: float
    """Scatters up to this are rounding errors of a constant feature."""

    @classmethod
    def of(cls, X: Any, codes: np.ndarray) -> Groups:
        indicators = np.eye(codes.max() + 1)[codes]
        counts = indicators.sum(axis=0)
        shares = counts / len(codes)
        powers = powers_of(np.asarray(as_dense(abs(X).max(axis=0))).ravel())
        X = scaled(X.astype(np.float64), powers)
        if sparse.issparse(X):
            sizes = _sizes(np.asarray(as_dense(abs(X).max(axis=0))).ravel())
            X = sparse.csr_array(X @ sparse.diags_array(1 / sizes))
            means = np.asarray((X.T @ indicators).T) / counts[:, None]
            squares, middle = np.asarray(X.multiply(X).sum(axis=0)).ravel() / len(codes), shares @ means
            total = np.maximum(squares - middle**2, 0.0)
            return cls(X, codes, means - middle, shares, powers, np.zeros(X.shape[1]), sizes, total, 1e-13)
        centre = np.where(X.max(axis=0) == X.min(axis=0), X[0], X.mean(axis=0))  # a constant feature becomes exactly zero
        X = X - centre
        sizes = _sizes(np.abs(X).max(axis=0))
        X /= sizes
        total = np.einsum("ij,ij->j", X, X) / len(codes)
        return cls(X, codes, (indicators.T @ X) / counts[:, None], shares, powers, centre, sizes, total, 1e-26)

    def within(self) -> list[tuple[float, Any]]:
        """S_W = Σ ± TᵀT, NNP Eq. 48; of sparse X as that of X less that of the means, so that X stays sparse."""
        n = len(self.codes)
        if not sparse.issparse(self.X):
            return [(1.0, (self.X - self.means[self.codes]) / np.sqrt(n))]
        own = self.means + np.asarray(self.X.mean(axis=0)).ravel()
        return [(1.0, self.X / np.sqrt(n)), (-1.0, np.sqrt(self.shares)[:, None] * own)]

    def between(self) -> np.ndarray:
        """F of S_B = F Fᵀ, NNP Eq. 47."""
        return (np.sqrt(self.shares)[:, None] * self.means).T

    def one_against_rest(self, c: int) -> tuple[np.ndarray, np.ndarray]:
        """F of one class and all others taken as one, and the scatter of the means of the others."""
        share = self.shares[c]
        others = np.arange(len(self.shares)) != c
        rest = self.shares[others] @ self.means[others] / (1 - share)
        F = np.sqrt(share * (1 - share)) * (self.means[c] - rest)
        return F[:, None], np.sqrt(self.shares[others])[:, None] * (self.means[others] - rest)

    def plain_units(self) -> np.ndarray:
        """Factors that give features their given units again, up to a common power of two."""
        powers = self.powers + np.frexp(self.sizes)[1]
        return np.ldexp(self.sizes, self.powers - powers.max())

    def projected(self, X: Any, w: np.ndarray) -> np.ndarray:
        """The projections of other samples, of weights in units of the features."""
        w = w / self.sizes
        return np.asarray(scaled(X, self.powers) @ w) - self.centre @ w


class Task(NamedTuple):
    """One ratio to be made large: that of F Fᵀ to a scatter."""

    scatter: Scatter
    F: np.ndarray
    sides: list[np.ndarray]
    """Signs of the features that may be tried."""
    c: int | None
    """The class that is to be told from the others; None for all classes at once."""
    printed: tuple[Scatter, np.ndarray] | None = None
    """B and F of NNP Eq. 21, if they differ."""


def powers_of(largest: np.ndarray) -> np.ndarray:
    """Exponents of two that scale numbers far from one to between a half and one; else zero."""
    exponents = np.frexp(largest)[1]
    return np.where(np.abs(exponents) > _SAFE, exponents, 0)


def scaled(X: Any, powers: np.ndarray) -> Any:
    """X with its columns divided by powers of two."""
    if not powers.any():
        return X
    if not sparse.issparse(X):
        return np.ldexp(np.asarray(X, dtype=np.float64), -powers)
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.data = np.ldexp(X.data, -powers[X.indices])
    return X


def unscaled(W: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """Weights of features as they were given: of those near the least that there is, the largest number in place of infinity."""
    limit = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(W, -powers), -limit, limit)


def _sizes(largest: np.ndarray) -> np.ndarray:
    return np.where(largest > 0, largest, 1.0)
