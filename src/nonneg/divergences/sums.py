"""Weighted sums of separable divergences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.expression import Word
from ..algebra.majorization import Monomial, fraction
from ..exceptions import IncompatibleError, is_number
from ..kernels.namespace import Array
from .base import Divergence, Objective
from .polynomial import Polynomial, merged


class WeightedSum(Divergence):
    r"""Σ weight · D(X ‖ X̂), an additive hybrid of divergences (QNMF §3.2); ``Beta(1) + 0.5 * Beta(2)`` is one.

    Parameters
    ----------
    *terms : tuple of (weight, divergence)
        Positive numbers, and separable divergences: `Alpha`, `Beta`, `Polynomial`, and sums of them.

    See Also
    --------
    Polynomial : One divergence from monomials.
    get_divergence : Divergences by name or number.

    Notes
    -----
    P and Q are the sums of the terms' P and Q; ψmax is the largest and ψmin the smallest ψ of the terms, so the exponent is at most
    that of each.

    Examples
    --------
    >>> from nonneg import Model
    >>> from nonneg.divergences import Beta
    >>> print(Model("W H", Beta(1) + 0.5 * Beta(2)))
    minimise  D_I(X ‖ W H) + 1/2 · ½‖X − W H‖²
    over      W ≥ 0; H ≥ 0
    <BLANKLINE>
    W ← W ∘ [(2 (X/X̂) Hᵀ + X Hᵀ) / (2 1 Hᵀ + W H Hᵀ)]^(1/2)
        QNMF Theorem 1, Eq. 8
    <BLANKLINE>
    H ← H ∘ [(2 Wᵀ (X/X̂) + Wᵀ X) / (2 Wᵀ 1 + Wᵀ W H)]^(1/2)
        QNMF Theorem 1, Eq. 8
    <BLANKLINE>
    with  X̂ = W H,  1 = all ones
    """

    def __init__(self, *terms: tuple[float, Divergence]) -> None:
        pairs = [term if isinstance(term, tuple) and len(term) == 2 else (None, term) for term in terms]
        if not pairs or not all(is_number(weight) and weight > 0 for weight, _ in pairs):
            raise IncompatibleError(
                "A sum of divergences takes pairs of a positive weight and a divergence, as in WeightedSum((1.0, Beta(1)), (0.5, "
                f"Beta(2))); got {', '.join(map(repr, terms)) or 'nothing'}."
            )
        for _, divergence in pairs:
            if not isinstance(divergence, Divergence) or divergence.scale_invariant:
                raise IncompatibleError(
                    "A sum takes divergences that are sums of monomials over the entries, as Beta(b), Alpha(a) and Polynomial are; "
                    f"{divergence!r} is not."
                )
        added: dict[Divergence, float] = {}
        for weight, divergence in pairs:  # flatten nested sums and add up equal terms
            for inner, part in divergence.terms if isinstance(divergence, WeightedSum) else [(1.0, divergence)]:
                added[part] = added.get(part, 0.0) + weight * inner
        self.terms: tuple[tuple[float, Divergence], ...] = tuple((float(weight), part) for part, weight in added.items())
        self._monomials = merged(  # made now: a fit must not change a parameter of an estimator
            Monomial(weight * monomial.coefficient, monomial.data_power, monomial.power)
            for weight, divergence in self.terms
            for monomial in divergence.monomials
        )

    def textbook(self, X: Array, approximation: Array, xp: Any) -> Array:
        return sum(weight * part.textbook(X, approximation, xp) for weight, part in self.terms)

    def textbook_parts(self, X: np.ndarray, approximation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        P, Q = np.sum([np.multiply(weight, part.textbook_parts(X, approximation)) for weight, part in self.terms], axis=0)
        return P, Q

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        return self._monomials

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return all(divergence.bounded for _, divergence in self.terms)

    @property
    def requires_positive_data(self) -> bool:  # type: ignore[override]
        return any(divergence.requires_positive_data for _, divergence in self.terms)

    def in_units(self, doublings: float) -> tuple[Objective, float]:
        return Polynomial([(m.coefficient, m.data_power, m.power) for m in self.monomials]).in_units(doublings)

    @property
    def symbol(self) -> str:
        return "D"

    def text(self, data: str, product: Word) -> str:
        return " + ".join((f"{fraction(w)} · " if w != 1 else "") + D.text(data, product) for w, D in self.terms)

    def __repr__(self) -> str:
        pieces = [repr(divergence) if weight == 1 else f"{weight!r} * {divergence!r}" for weight, divergence in self.terms]
        return " + ".join(pieces)


def added(first: Objective, second: Objective) -> Objective:
    """The sum of two divergences."""
    return _plain(WeightedSum((1.0, first), (1.0, second)))  # type: ignore[arg-type]


def weighted(weight: Any, divergence: Objective) -> Objective:
    """A multiple of a divergence."""
    return _plain(WeightedSum((weight, divergence)))  # type: ignore[arg-type]


def _plain(total: WeightedSum) -> Objective:
    """The divergence itself, if it is the only term and its weight is one."""
    return total.terms[0][1] if len(total.terms) == 1 and total.terms[0][0] == 1 else total
