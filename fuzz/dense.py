"""The mathematics a second time: products, divergences, gradients, written down densely and in extended precision.

Nothing of the library is used. ``longdouble`` has 64 bits of mantissa and exponents up to 4932 on x86, so that neither rounding nor
range is in question where it is compared with what the library computed in single or double precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

Array = np.ndarray
Wide = np.longdouble


class Divergence(NamedTuple):
    """A divergence as it is written in source, with its family and parameter."""

    source: str
    family: str
    parameter: float = 0.0
    terms: tuple[tuple[float, Divergence], ...] = ()
    """Of a sum: weights and divergences."""

    @property
    def needs_positive(self) -> bool:
        if self.terms:
            return any(term.needs_positive for _, term in self.terms)
        family, p = self.family, self.parameter
        return family == "dual" or (family == "beta" and p <= 0) or (family == "alpha" and p < 0) or (family == "gamma" and p < -1)

    @property
    def is_scale_invariant(self) -> bool:
        return self.family in ("gamma", "renyi")

    @property
    def degree(self) -> float | None:
        """D(cX ‖ cX̂) = c^degree D(X ‖ X̂); None of a sum, whose terms have one each."""
        if self.terms:
            return None
        return 0.0 if self.is_scale_invariant else self.parameter if self.family == "beta" else 1.0


def _named(family: str, *parameters: float) -> list[Divergence]:
    return [Divergence(f"nonneg.divergences.{family}({p:g})", family.lower(), p) for p in parameters]


EUCLIDEAN, KULLBACK_LEIBLER = Divergence('"euclidean"', "beta", 2), Divergence('"kullback-leibler"', "beta", 1)
_SUMS = (
    Divergence(
        "nonneg.divergences.Beta(1) + 0.5 * nonneg.divergences.Beta(2)",
        "sum",
        terms=((1.0, KULLBACK_LEIBLER), (0.5, EUCLIDEAN)),
    ),
    Divergence(
        "2 * nonneg.divergences.Alpha(0.5) + nonneg.divergences.Beta(3)",
        "sum",
        terms=((2.0, Divergence("", "alpha", 0.5)), (1.0, Divergence("", "beta", 3))),
    ),
    Divergence(
        "nonneg.divergences.Beta(0) + nonneg.divergences.Alpha(2)",
        "sum",
        terms=((1.0, Divergence("", "beta", 0)), (1.0, Divergence("", "alpha", 2))),
    ),
    # Bregman's divergence of x⁴/12 + x²/2.
    Divergence(
        "nonneg.divergences.Polynomial([(0.25, 0, 4), (-1 / 3, 1, 3), (0.5, 0, 2), (-1.0, 1, 1)])",
        "sum",
        terms=((1.0, Divergence("", "beta", 4)), (1.0, EUCLIDEAN)),
    ),
)
DIVERGENCES = (
    EUCLIDEAN,
    KULLBACK_LEIBLER,
    Divergence('"itakura-saito"', "beta", 0),
    Divergence('"hellinger"', "alpha", 0.5),
    Divergence('"chi2"', "alpha", 2),
    Divergence('"dual-i"', "dual"),
    Divergence('"normalized-kullback-leibler"', "gamma", 0),
    Divergence("1.5", "beta", 1.5),
    *_named("Beta", 0.5, 3, -1),
    *_named("Alpha", 1.5, -1),
    *_named("Gamma", 0.5, 1, -0.5),
    *_named("Renyi", 0.5, 2),
    *_SUMS,
)


def wide(matrix: Any) -> Array:
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    return np.asarray(matrix).astype(Wide)


def letters(form: str) -> list[tuple[str, bool]]:
    """The names in a form, and whether each is transposed."""
    return [(word.removesuffix(".T"), word.endswith(".T")) for word in form.split()]


def product(word: list[tuple[str, bool]], matrices: Mapping[str, Array]) -> Array:
    return reduce(np.matmul, [matrices[name].T if transposed else matrices[name] for name, transposed in word])


def value(divergence: Divergence, X: Array, Y: Array) -> tuple[Wide, Wide]:
    """D(X ‖ Y), with 0 ln 0 = 0, and the size of the terms it is a difference of."""
    if divergence.terms:
        values, sizes = zip(*(value(term, X, Y) for _, term in divergence.terms), strict=True)
        weights = [weight for weight, _ in divergence.terms]
        return sum(map(mul, weights, values)), sum(map(mul, weights, sizes))
    p = Wide(divergence.parameter)
    with np.errstate(all="ignore"):
        match divergence.family:
            case "beta" if p == 0:
                ratio = X / Y
                return np.sum(ratio - np.log(ratio) - 1), np.sum(ratio + abs(np.log(X)) + abs(np.log(Y)) + 1)
            case "beta" if p == 1:
                terms = _times_log(X, X), -_times_log(X, Y), -X, Y
            case "beta":
                b = p
                terms = X**b / (b * (b - 1)), Y**b / b, -_times_power(X, Y, b - 1) / (b - 1)
            case "alpha":
                terms = X / (1 - p), Y / p, -_times_power(X**p, Y, 1 - p) / (p * (1 - p))
            case "dual":
                terms = _times_log(Y, Y), -_times_log(Y, X), -Y, X
            case "gamma" if p == 0:
                total = np.sum(X)
                logs = np.sum(_times_log(X, X)) / total - np.log(total), np.log(np.sum(Y)), -np.sum(_times_log(X, Y)) / total
                return sum(logs), 1 + sum(map(abs, logs))
            case "gamma":
                g = p
                logs = (
                    np.log(np.sum(X ** (1 + g))) / (g * (1 + g)),
                    np.log(np.sum(Y ** (1 + g))) / (1 + g),
                    -np.log(np.sum(_times_power(X, Y, g))) / g,
                )
                return sum(logs), 1 + sum(map(abs, logs))
            case "renyi":
                r = p
                logs = (
                    -np.log(np.sum(X)) * r / (r - 1),
                    np.log(np.sum(Y)),
                    np.log(np.sum(_times_power(X**r, Y, 1 - r))) / (r - 1),
                )
                return sum(logs), 1 + sum(map(abs, logs))
        sums = [np.sum(term) for term in terms]
        return sum(sums), sum(np.sum(abs(term)) for term in terms)


def weighted_value(divergence: Divergence, X: Array, Y: Array, weights: Array) -> tuple[Wide, Wide]:
    """The same with weights that are whole numbers: each entry as often as its weight says."""
    counts = np.asarray(weights).astype(int).ravel()
    return value(divergence, np.repeat(X.ravel(), counts), np.repeat(Y.ravel(), counts))


def _times_log(X: Array, Y: Array) -> Array:
    return np.where(X > 0, X * np.log(Y), 0)


def _times_power(X: Array, Y: Array, power: Any) -> Array:
    return np.where(X > 0, X * Y**power, 0)


def slopes(divergence: Divergence, X: Array, Y: Array) -> tuple[Array, Array]:
    """P and Q of ∂D/∂Y = P − Q, QNMF Table 1."""
    if divergence.terms:
        pairs = [(weight, *slopes(term, X, Y)) for weight, term in divergence.terms]
        return sum(weight * P for weight, P, _ in pairs), sum(weight * Q for weight, _, Q in pairs)
    p = Wide(divergence.parameter)
    with np.errstate(all="ignore"):
        match divergence.family:
            case "beta":
                return Y ** (p - 1), _times_power(X, Y, p - 2)
            case "alpha":
                parts = np.ones_like(Y) / abs(p), _times_power(X**p, Y, -p) / abs(p)
                return parts if p > 0 else parts[::-1]
            case "dual":
                return np.ones_like(Y), 1 + np.log(X / Y)
            case "gamma":
                return Y**p / np.sum(Y ** (1 + p)), _times_power(X, Y, p - 1) / np.sum(_times_power(X, Y, p))
            case _:
                ratio = _times_power(X**p, Y, -p)
                return np.ones_like(Y) / np.sum(Y), ratio / np.sum(ratio * Y)


def gradient(form: str, name: str, matrices: Mapping[str, Array], middle: Array) -> Array:
    """Σ over the places of a factor in the form of leftᵀ middle rightᵀ."""
    word, total = letters(form), np.zeros_like(matrices[name])
    for place, (letter, transposed) in enumerate(word):
        if letter == name:
            piece = middle
            if word[:place]:
                piece = product(word[:place], matrices).T @ piece
            if word[place + 1 :]:
                piece = piece @ product(word[place + 1 :], matrices).T
            total = total + (piece.T if transposed else piece)
    return total


def axes(form: str, data: str = "X") -> dict[tuple[str, int], int]:
    """Which axes of which matrices are the same dimension: those that face each other, and those of the data and the product."""
    word = letters(form)
    groups: dict[tuple[str, int], int] = {}
    for name in dict.fromkeys([data, *(name for name, _ in word)]):
        for axis in (0, 1):
            groups[name, axis] = len(groups)

    def outer(place: int, side: int) -> tuple[str, int]:
        name, transposed = word[place]
        return name, side ^ transposed

    ties = [((data, 0), outer(0, 0)), ((data, 1), outer(-1, 1))]
    ties += [(outer(place, 1), outer(place + 1, 0)) for place in range(len(word) - 1)]
    for one, other in ties:
        old, new = groups[one], groups[other]
        groups = {key: new if group == old else group for key, group in groups.items()}
    return groups
