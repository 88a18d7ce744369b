"""The interface of a constraint: its effect on a rule.

A constraint converts the two parts of a gradient, as a manifold converts a gradient: it adds its Lagrangian multiplier terms,
with the multipliers eliminated by the K.K.T. conditions, and widens the exponents accordingly (QNMF Theorems 2 and 3). It never
loops. `restore` projects a factor onto the constraint after a step, or at least keeps its scale.
"""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from ..algebra.majorization import Bounds, Law
from ..algebra.rewriting import Sum, without_common_number

Array = Any


class Sides(NamedTuple):
    """Numerator and denominator of a rule, the theory's exponents, and whether they were simplified after the theorem.

    See Also
    --------
    Constraint : Its methods map these.
    nonneg.Model : Its rules are made of them.

    Examples
    --------
    >>> import nonneg
    >>> rule = nonneg.Model("W H").rules["W"]
    >>> print(rule.numerator, "over", rule.denominator)
    X Hᵀ over W H Hᵀ
    """

    numerator: Sum
    denominator: Sum
    bounds: Bounds
    simplified: bool = False


class Entrywise(NamedTuple):
    """The constraint as a function of a single entry of the factor.

    See Also
    --------
    Constraint : Its `entrywise` returns one.
    nonneg.solvers.Coordinate : Moves entries one at a time.

    Examples
    --------
    >>> from nonneg.constraints import Sparse
    >>> Sparse(0.5, ridge=0.1).entrywise
    Entrywise(penalty=0.5, overlap=0.0, axis='columns', given=0, ridge=0.1)
    """

    penalty: float = 0.0
    """The objective gains penalty · ΣF."""
    overlap: float = 0.0
    """The objective gains overlap · Σ_{j<k} ⟨f_j, f_k⟩ over the columns or rows."""
    axis: Literal["columns", "rows"] = "columns"
    """Axis of the overlap and of given entries."""
    given: int = 0
    """So many of the first columns or rows stay as they are."""
    ridge: float = 0.0
    """The objective gains ½ ridge · ‖F‖²."""


class Constraint(ABC):
    """A condition on one factor, beyond being non-negative.

    See Also
    --------
    get_constraint : Constraints by name.
    Free : No condition beyond being non-negative.

    Examples
    --------
    >>> from nonneg.constraints import Constraint, Orthogonal
    >>> isinstance(Orthogonal(), Constraint)
    True
    """

    is_free: ClassVar[bool] = False
    """Whether any non-negative matrix will do, of any scale."""
    is_learned: ClassVar[bool] = True
    is_signed: ClassVar[bool] = False
    """Whether entries may be negative."""
    any_scale: ClassVar[bool] = False
    """Whether every multiple of a feasible factor is feasible, so that its scale can be chosen."""
    any_lengths: ClassVar[bool] = False
    """Whether each row and column of a feasible factor may be multiplied by a positive number."""
    restores_fully: ClassVar[bool] = False
    """Whether the constraint holds exactly once it is restored, rather than only in scale."""

    restores_by_iteration: ClassVar[bool] = False
    """Whether `restore` iterates; its result is then no simple function of the step."""

    is_soft: ClassVar[bool] = False
    """Whether it favours its condition by a multiplier fixed by hand, rather than imposing it."""

    needs_both_parts: ClassVar[bool] = False
    """Whether its rule is a ratio of the positive and the negative part of the data, neither of which may vanish."""

    wants_whole: bool = False
    """Whether its rule was simplified by an identity that weights of entries break."""

    theorem: ClassVar[str] = "QNMF Theorem 2, Eq. 10"
    """Source of a rule under this constraint, unless it has an equation number of its own."""

    def lagrangian(self, factor: str, positive: Sum, negative: Sum, bounds: Bounds, law: Law) -> Sides:
        """The sides of the rule as words, with those multiplier terms that are words."""
        return Sides(*without_common_number(negative, positive), self.widened(bounds))

    def widened(self, bounds: Bounds) -> Bounds:
        return bounds

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array] | None:
        """Multiplier terms that are no words: summands of the numerator, and of the denominator."""
        return None

    def restore(self, xp: Any, factor: Array) -> Array:
        """The factor after a step, put back in scale."""
        return factor

    @property
    def as_whole(self) -> Constraint:
        """The constraint on the factor as a whole, given entries aside."""
        return self

    @property
    def orthogonal_axis(self) -> Literal["columns", "rows"] | None:
        """The axis whose vectors it makes orthogonal, so that each item belongs to one of them; None if it does not."""
        return None

    @property
    def lengths(self) -> Literal["columns", "rows"] | None:
        """The vectors that `restore` normalises one by one; None if it scales the factor as a whole."""
        return None

    def moving(self, array: Array) -> Array:
        """The learned entries of an array of the factor's shape."""
        return array

    def without_given(self, xp: Any, array: Array) -> Array:
        """An array of the factor's shape with zeros at given entries."""
        return array

    def violation(self, xp: Any, factor: Array) -> Array:
        """Violation of the constraint, zero at best. A 0-d array, so that no device has to wait."""
        return xp.zeros((), dtype=factor.dtype, device=factor.device)

    def penalty(self, xp: Any, factor: Array) -> Array | None:
        """The penalty term of the objective, for constraints that are penalties. A 0-d array."""
        return None

    has_penalty: ClassVar[bool] = False
    """Whether it is, at least in part, a term of the objective, and so has a scale."""

    @property
    def entrywise(self) -> Entrywise | None:
        """The constraint on single entries; None if the constraint ties entries together."""
        return None

    def in_units(self, objective: float, factor: float) -> Constraint:
        """The same constraint for an objective in units of 2^objective and a factor in units of 2^factor."""
        return self

    @property
    def on_new_rows(self) -> Constraint:
        """The constraint on new rows of the factor, with the other rows given."""
        return Free()

    def problem_with(self, factor: str, shape: tuple[int, int]) -> str | None:
        """Why no matrix of this shape can satisfy the constraint, if none can."""
        return None

    @property
    def T(self) -> Constraint:
        """The constraint on the transpose of the factor."""
        return self

    def text(self, factor: str) -> str:
        """The constraint as a paper would print it."""
        return f"{factor} ≥ 0"

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str] | None:
        """`multipliers`, in print."""
        return None


def in_other_units(weight: float, doublings: float) -> float:
    """Weight · 2^doublings, zero below 2^−200 and at most 2^200."""
    if weight == 0 or math.log2(weight) + doublings < -200:
        return 0.0
    if math.log2(weight) + doublings > 200:
        return 2.0**200
    whole = math.floor(doublings)
    return math.ldexp(weight * 2.0 ** (doublings - whole), whole)


@dataclass(frozen=True)
class Free(Constraint):
    """Non-negative, nothing more.

    See Also
    --------
    get_constraint : Constraints by name; None is this one.
    EitherSign : Entries may be negative.

    Examples
    --------
    >>> import nonneg
    >>> nonneg.Model("W H").constraints["W"]
    Free()
    """

    is_free: ClassVar[bool] = True
    any_scale: ClassVar[bool] = True
    any_lengths: ClassVar[bool] = True

    @property
    def entrywise(self) -> Entrywise:
        return Entrywise()


@dataclass(frozen=True)
class Fixed(Constraint):
    """Given, not learned; the value comes with `init`.

    See Also
    --------
    PartlyFixed : Some rows or columns are given.
    get_constraint : This one is "fixed".

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> H = np.kron(np.eye(2), np.ones(4))
    >>> X = np.random.default_rng(0).random((12, 2)) @ H
    >>> solution = nonneg.factorize(X, "W H", constraints={"H": "fixed"}, init={"H": H}, rank=2, random_state=0)
    >>> np.array_equal(solution.factors["H"], H)
    True
    """

    is_learned: ClassVar[bool] = False

    def text(self, factor: str) -> str:
        return f"{factor} given"


@dataclass(frozen=True)
class Direction(Constraint):
    """Only the direction matters: unit Frobenius norm. For objectives that grow with the scale (NL and √NL).

    See Also
    --------
    Unit : Columns or rows of length one.
    nonneg.maximize_rayleigh : Uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.constraints import Direction
    >>> W = Direction().restore(np, np.array([[3.0, 0], [0, 4]]))
    >>> W
    array([[0.6, 0. ],
           [0. , 0.8]])
    """

    needs_both_parts: ClassVar[bool] = True

    def restore(self, xp: Any, factor: Array) -> Array:
        norm = xp.sqrt(xp.sum(factor * factor))
        return factor / xp.where(norm > 0, norm, xp.ones_like(norm))

    def text(self, factor: str) -> str:
        return f"{factor} ≥ 0 (up to scale)"
