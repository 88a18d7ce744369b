"""The signature of a problem: model, shapes and the profile of the data. Solver, starts and plans are chosen by it alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..algebra.expression import Letter, Word
from ..data import Data, Total
from ..data.profile import Profile
from ..model import Model
from ..planning import Costs, canonical
from ..planning.planner import COLUMNS, ROWS, Planner, planner_of
from ..planning.plans import low_rank

HORIZON = 100
"""Iterations in which forming a constant product, such as X Xᵀ, must pay for itself."""
FORMED = 8
"""Rows of a Gram matrix per component up to which it is formed for data out of core: no larger than a sketch."""


@dataclass(frozen=True, eq=False)
class Signature:
    """Model, shapes of the factors, and profile of the data.

    Parameters
    ----------
    model : Model
    data : Profile
    shapes : dict
        Rows and columns of every factor.
    fixed_sizes : dict
        Stored entries of fixed factors that are sparse.
    horizon : int
        Iterations to expect; at most `HORIZON` count.
    is_filled : bool
        Whether missing entries of X are filled by the approximation.
    has_weights : bool
        Whether the user gave weights, which may have been taken into the data.
    """

    model: Model
    data: Profile
    shapes: Mapping[str, tuple[int, int]]
    fixed_sizes: Mapping[str, float] = field(default_factory=dict)
    horizon: int = HORIZON
    is_filled: bool = False
    has_weights: bool = False
    _derived: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        model: Model,
        data: Data,
        shapes: Mapping[str, tuple[int, int]],
        fixed: Mapping[str, Any] | None = None,
        horizon: int = HORIZON,
        *,
        is_filled: bool = False,
        has_weights: bool = False,
    ) -> Signature:
        """The signature of a model for data, with the given values of fixed factors."""
        fixed_sizes = {name: float(matrix.nnz) for name, matrix in (fixed or {}).items() if hasattr(matrix, "nnz")}
        profile = data.profile
        model = model.with_weights() if profile.weighted else model
        return cls(model, profile, dict(shapes), fixed_sizes, horizon, is_filled, has_weights or profile.weighted)

    @property
    def learned(self) -> tuple[str, ...]:
        """The learned factors, in the order of their updates."""
        return self.model.learned

    @property
    def rank(self) -> int:
        """The smallest dimension of a learned factor."""
        return min((min(self.shapes[name]) for name in self.learned), default=1)

    @cached_property
    def planner(self) -> Planner:
        """The plans of all products."""
        X = Letter(self.model.data)
        formed = frozenset(canonical(_gram(X, side))[0] for side in self.data.formed_grams)
        return planner_of(self.model.words, self._costs, formed)

    def is_formed(self, word: Word) -> bool:
        """Whether a constant product is formed once and for all."""
        return canonical(word)[0] in self.planner.constants

    def is_implicit(self, word: Word) -> bool:
        """Whether a Gram matrix of the data is multiplied without being formed."""
        return canonical(word)[0] in self._costs.grams

    def divide(self, word: Word) -> tuple[Word, Word]:
        """Cut a form at its narrowest place."""
        return low_rank(word, {**self.shapes, self.model.data: self.data.shape})

    def derived(self, make: Callable[[Signature], Any]) -> Any:
        """The result of a function of the signature, computed once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return self._derived[make]

    @cached_property
    def _costs(self) -> Costs:
        model, data, X = self.model, self.data, Letter(self.model.data)
        of_data = [model.data, model.data + "⁺", model.data + "⁻"]
        operands = frozenset(model.middles.operands)
        m, n = data.shape
        shapes = {**self.shapes, **dict.fromkeys([*of_data, *operands], (m, n)), ROWS: (m, 1), COLUMNS: (n, 1)}
        constant = frozenset(shapes) - set(model.learned) - operands
        constant |= {name for name, (whole, _) in model.products.items() if constant.issuperset(whole.names)}
        of_products = Costs(shapes, {}, constant, model.form)
        shapes |= {name: of_products.shape(whole) for name, (whole, _) in model.products.items()}
        return Costs(
            shapes=shapes,
            signed_parts=model.products,
            # Non-zeros, whether zeros are stored or not: dense and sparse X are to have the same plans.
            sizes=dict.fromkeys(of_data, float(data.non_zeros) if math.isinf(data.gram_size) else math.inf) | {**self.fixed_sizes},
            constant=constant,
            operands=operands,
            product=model.form,
            data=frozenset(of_data),
            grams=self._grams(),
            unformed=frozenset(_gram(X, side) for side in (False, True) if side not in data.one_pass_grams),
            sums_in_double=data.is_single,
            horizon=max(min(self.horizon, HORIZON), 1),
            largest=float(max(data.non_zeros, *(rows * columns for rows, columns in self.shapes.values()))),
        )

    def _grams(self) -> dict[Word, float]:
        """Gram matrices that can be multiplied without being formed, and the entries that such a product reads."""
        data, X = self.data, Letter(self.model.data)
        if not math.isinf(data.gram_size):
            return {_gram(X, False): data.gram_size}
        return {
            _gram(X, side): 2.0 * data.non_zeros
            for side in sorted(data.one_pass_grams)
            if data.out_of_core and data.shape[1 if side else 0] > FORMED * self.rank
        }


def _gram(X: Letter, side: bool) -> Word:
    """X Xᵀ, or Xᵀ X."""
    return Word([X.T, X] if side else [X, X.T])


class _Requests:
    """Recorder with the sums of `Data`: lists those that a divergence needs."""

    def __init__(self) -> None:
        self.totals: list[Total] = []

    def power_sum(self, exponent: float) -> float:
        self.totals += [("power", exponent)] if exponent else []
        return 1.0

    def log_sum(self, data_power: float) -> float:
        self.totals.append(("logarithm", data_power))
        return 1.0


def totals_of(model: Model) -> tuple[Total, ...]:
    """The sums over all entries that the objective of a model needs."""
    requests = _Requests()
    model.divergence.constant(requests)
    return tuple(requests.totals)
