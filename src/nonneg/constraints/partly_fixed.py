"""Some rows or columns of a factor given, the others learned."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ..algebra.majorization import Bounds, Law
from ..algebra.rewriting import Sum
from ..exceptions import IncompatibleError, is_one_of
from .base import Array, Constraint, Entrywise, Free, Sides
from .orthogonal import Orthogonal
from .stochastic import DoublyStochastic


@dataclass(frozen=True, eq=False)
class PartlyFixed(Constraint):
    """The first rows (or columns) of a factor keep the values they are given.

    Parameters
    ----------
    values : array
        The given rows (or columns).
    axis : {"rows", "columns"}
    constraint : Constraint, optional
        A constraint on the factor as a whole; none by default.

    See Also
    --------
    Fixed : The whole factor is given.
    nonneg.OPNMF : Takes ``fixed_components``.

    Notes
    -----
    The majorizer of a rule is separable, so the rule may be applied to some entries and keeps its theorem: `restore` puts the given
    values back after every step.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.constraints import PartlyFixed
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> known = np.ones((1, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=3, constraints={"H": PartlyFixed(known)}, random_state=0)
    >>> solution.factors["H"][0]
    array([1., 1., 1., 1., 1., 1., 1., 1.])
    """

    values: Any
    axis: Literal["rows", "columns"] = "rows"
    constraint: Constraint = field(default_factory=Free)

    def __post_init__(self) -> None:
        if not is_one_of(self.axis, ("rows", "columns")):
            raise IncompatibleError(f"PartlyFixed(axis) takes 'rows' or 'columns'; got {self.axis!r}.")
        values = np.asarray(self.values)
        if values.ndim != 2 or values.dtype.kind not in "fiub" or not np.all(np.isfinite(values)) or np.any(values < 0):
            raise IncompatibleError("PartlyFixed(values) takes a matrix of numbers that are finite and not negative.")
        crosses = getattr(self.constraint, "axis", self.axis) != self.axis and not isinstance(self.constraint, Orthogonal)
        if crosses or isinstance(self.constraint, DoublyStochastic):
            raise IncompatibleError(f"With {self.axis} given, the others cannot be made to satisfy {self.constraint!r} as a whole.")
        object.__setattr__(self, "values", values)

    @property
    def theorem(self) -> str:  # type: ignore[override]
        return "QNMF Theorem 1, Eq. 8" if self.constraint.is_free else self.constraint.theorem

    @property
    def as_whole(self) -> Constraint:
        return self.constraint

    @property
    def has_penalty(self) -> bool:  # type: ignore[override]
        return self.constraint.has_penalty

    @property
    def wants_whole(self) -> bool:  # type: ignore[override]
        return self.constraint.wants_whole

    @property
    def restores_fully(self) -> bool:  # type: ignore[override]
        """Given entries are restored exactly, the others as far as their constraint is."""
        return self.constraint.is_free or self.constraint.restores_fully

    @property
    def T(self) -> PartlyFixed:
        axis: Literal["rows", "columns"] = "rows" if self.axis == "columns" else "columns"
        return PartlyFixed(self.values.T, axis, self.constraint.T)

    def lagrangian(self, factor: str, positive: Sum, negative: Sum, bounds: Bounds, law: Law) -> Sides:
        return self.constraint.lagrangian(factor, positive, negative, bounds, law)

    def multipliers(self, xp: Any, factor: Array, positive: Array, negative: Array) -> tuple[Array, Array] | None:
        return self.constraint.multipliers(xp, factor, positive, negative)

    def multipliers_text(self, factor: str, positive: Sum, negative: Sum) -> tuple[str, str] | None:
        return self.constraint.multipliers_text(factor, positive, negative)

    @property
    def lengths(self) -> Literal["columns", "rows"] | None:
        return self.constraint.lengths

    def moving(self, array: Array) -> Array:
        return array[self.values.shape[0] :, :] if self.axis == "rows" else array[:, self.values.shape[1] :]

    def without_given(self, xp: Any, array: Array) -> Array:
        given = xp.zeros(self.values.shape, dtype=array.dtype, device=array.device)
        return xp.concat([given, self.moving(array)], axis=0 if self.axis == "rows" else 1)

    def restore(self, xp: Any, factor: Array) -> Array:
        rest = self.moving(factor)
        if 0 not in rest.shape:
            rest = self.constraint.restore(xp, rest)
        given = xp.asarray(self.values, dtype=factor.dtype, device=factor.device)
        return xp.concat([given, rest], axis=0 if self.axis == "rows" else 1)

    def violation(self, xp: Any, factor: Array) -> Array:
        return self.constraint.violation(xp, factor)

    def penalty(self, xp: Any, factor: Array) -> Array | None:
        return self.constraint.penalty(xp, factor)

    @property
    def entrywise(self) -> Entrywise | None:
        rest = self.constraint.entrywise
        if rest is None or (rest.overlap and rest.axis != self.axis):
            return None
        return rest._replace(axis=self.axis, given=self.values.shape[0 if self.axis == "rows" else 1])

    def in_units(self, objective: float, factor: float) -> PartlyFixed:
        return replace(self, values=self.values / 2.0**factor, constraint=self.constraint.in_units(objective, factor))

    def problem_with(self, factor: str, shape: tuple[int, int]) -> str | None:
        own, other = (0, 1) if self.axis == "rows" else (1, 0)
        count, length = self.values.shape[own], self.values.shape[other]
        if count <= shape[own] and length == shape[other]:
            return self.constraint.problem_with(factor, shape)
        return (
            f"{count} {self.axis} of length {length} are given of {factor}, which is {shape[0]} × {shape[1]}: at most "
            f"{shape[own]} of length {shape[other]} fit."
        )

    def text(self, factor: str) -> str:
        count = self.values.shape[0 if self.axis == "rows" else 1]
        which = f"first {count} {self.axis}" if count > 1 else f"first {self.axis[:-1]}"
        return f"{self.constraint.text(factor)}, the {which} given"
