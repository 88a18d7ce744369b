"""Multiplicative updates: the rule gives a direction, numerator / denominator, and an exponent says how far to go along it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from ...exceptions import IncompatibleError, is_number
from ...kernels.host import above_floor, by_pieces
from ...kernels.namespace import Array, Namespace
from ..exact import solved
from ..point import Point
from ..problem import Problem
from ..run import Solver, State
from ..signature import Signature


def moved(point: Point, factor: str, exponent: float, floor: float | None = None) -> Array:
    """A factor after one multiplicative step, F ∘ (numerator/denominator)^exponent, before its constraint is restored.

    One of either sign has no such step, and is solved for.
    """
    xp, law = point.problem.namespace.xp, point.problem.model.rules[factor].law
    if point.problem.model.constraints[factor].is_signed:
        return solved(point, factor)

    def stepped(F: Array, numerator: Array, denominator: Array) -> Array:
        multiplier = law.multiplier(xp, numerator, denominator, exponent)
        multiplier *= F
        return multiplier

    return above_floor(xp, by_pieces(stepped, point.factors[factor], *point.sides(factor)), floor)


def restored(point: Point, factor: str, value: Array) -> Point:
    """The point with a factor replaced, its constraint restored."""
    model, namespace = point.problem.model, point.problem.namespace
    value = model.constraints[factor].restore(namespace.xp, value)
    if factor in point.problem.adrift:
        value = _within_reach(namespace, value)
    return point.with_factor(factor, value)


def _within_reach(namespace: Namespace, factor: Array) -> Array:
    """A factor whose scale does not matter, rescaled if its products would over- or underflow."""
    peak = float(namespace.xp.max(factor))
    if peak == 0 or namespace.smallest ** (1 / 8) < peak < namespace.largest ** (1 / 8) or not math.isfinite(peak):
        return factor
    return factor / 2.0 ** round(math.log2(peak))


@dataclass(frozen=True)
class Multiplicative(Solver):
    """The same exponent in every step.

    Parameters
    ----------
    exponent : float, optional
        For every factor. By default the proven one, η of QNMF Eq. 8 or σ of Eq. 10 and 11, under which the (augmented) objective
        never rises. Many rules are printed with 1: ONL 31, PNMF 20, NNP 36.
    rescale : bool, default=False
        Multiply each unconstrained factor, after its step, by the number that is best for the objective (PNMF Eq. 21 and 30,
        and their like for the other divergences).
    floor : float, optional
        The least that an entry can become. By default it is relative to the factor's largest entry. The codes that OPNMF is known
        by have 1e-16, whatever the scale, and from a start with zeros their results depend on it.
    basis : str, optional
        The factor of W H whose components are divided by their sums after its step, which comes first: the iteration of Lee and
        Seung for the I-divergence (PNMF Eq. 6 and 7). The next step of the other factor takes the scale up.

    See Also
    --------
    Adaptive : Exponents that grow while the objective falls.
    get_solver : This one is "multiplicative".

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.solvers import Multiplicative
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, solver=Multiplicative(exponent=1), random_state=0)
    >>> solution.solver, str(solution.status)
    ('multiplicative', 'converged')
    """

    name: ClassVar[str] = "multiplicative"
    title: ClassVar[str] = "multiplicative updates"
    exponent: float | None = None
    rescale: bool = False
    floor: float | None = None
    basis: str | None = None

    def __post_init__(self) -> None:
        if self.exponent is not None and not (is_number(self.exponent) and self.exponent > 0):
            raise IncompatibleError(f"The exponent of a multiplicative rule must be a positive number; got {self.exponent!r}.")
        if not isinstance(self.rescale, bool):
            raise IncompatibleError(f"rescale must be True or False; got {self.rescale!r}.")
        if self.floor is not None and not (is_number(self.floor) and self.floor >= 0):
            raise IncompatibleError(
                f"The floor of a multiplicative rule must be a number that is not negative; got {self.floor!r}."
            )

    def new_state(self, problem: Problem) -> State:
        obstacle = self.obstacle(problem.signature) if self.basis else None
        if obstacle is not None:
            raise IncompatibleError(f"This iteration is for W H: {obstacle}. Leave basis out.")
        return State(exponents={name: self.exponent or rule.exponent for name, rule in problem.model.rules.items()})

    def of_factor(self, point: Point, factor: str) -> Point:
        """One step of a single factor."""
        return restored(
            point, factor, moved(point, factor, self.exponent or point.problem.model.rules[factor].exponent, self.floor)
        )

    def obstacle(self, signature: Signature) -> str | None:
        model = signature.model
        if self.basis is None or (len(model.form) == 2 and self.basis in model.learned):
            return None
        return f"basis={self.basis!r} is none of two factors that are learned in {model.form.text!r}"

    def step(self, point: Point, state: State) -> Point:
        for factor in sorted(point.problem.learned, key=lambda name: name != self.basis):
            state.unrestored[factor] = moved(point, factor, state.exponents[factor], self.floor)
            point = restored(point, factor, state.unrestored[factor])
            if factor == self.basis:
                point = point.with_factor(factor, _of_unit_sums(point, factor))
            if self.rescale and point.problem.model.constraints[factor].is_free:
                point = point.with_scaled(factor, point.best_scale(factor) ** (1 / point.problem.model.rules[factor].degree))
        return point


def _of_unit_sums(point: Point, factor: str) -> Array:
    """A factor of W H with its components divided by their sums."""
    xp, F, form = point.problem.namespace.xp, point.factors[factor], point.problem.model.form
    place = 0 if form[0].name == factor else 1
    sums = xp.sum(F, axis=place if not form[place].transposed else 1 - place, keepdims=True)
    return F / xp.where(sums > 0, sums, xp.ones_like(sums))


@dataclass
class AdaptiveState(State):
    """State of a search for exponents."""

    trials: dict[str, float] = field(default_factory=dict)
    """The exponent to try next, for each factor."""


@dataclass(frozen=True)
class Adaptive(Solver):
    """An exponent for each factor that grows while the objective falls (end of QNMF §3).

    A step that would raise the objective is not taken; it is tried again with the proven exponent. With that, an unconstrained
    factor cannot raise the objective but by rounding, and if it would, it stays. The theory of a constrained factor is about its
    augmented objective, so one that cannot be restored fully takes the proven step also if that brings it closer to the constraint;
    if it would be worse in both respects, it stays.

    Parameters
    ----------
    growth : float, default=1.3
        Factor of the exponent after a step that lowered the objective.
    largest : float, default=8
        The largest exponent.

    See Also
    --------
    Multiplicative : The same exponent in every step.
    get_solver : This one is "adaptive".

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.solvers import Adaptive
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, solver=Adaptive(), random_state=0)
    >>> solution.solver, str(solution.status)
    ('adaptive', 'converged')
    """

    name: ClassVar[str] = "adaptive"
    title: ClassVar[str] = "multiplicative updates with adaptive exponents"
    searches: ClassVar[bool] = True
    growth: float = 1.3
    largest: float = 8.0

    def __post_init__(self) -> None:
        if not (is_number(self.growth) and self.growth > 1 and is_number(self.largest) and self.largest > 0):
            raise IncompatibleError(
                f"growth must be above 1 and largest positive; got growth={self.growth!r}, largest={self.largest!r}."
            )

    def new_state(self, problem: Problem) -> AdaptiveState:
        exponents = {name: rule.exponent for name, rule in problem.model.rules.items()}
        return AdaptiveState(exponents=exponents, trials=dict(exponents))

    def step(self, point: Point, state: AdaptiveState) -> Point:
        state.stalled = True
        order = point.problem.learned
        for factor, following in zip(order, (*order[1:], order[0]), strict=True):
            proven = point.problem.model.rules[factor].exponent
            constraint = point.problem.model.constraints[factor]
            can_near = not constraint.is_free and not constraint.restores_fully
            before, _ = point.objective(factor)
            for exponent in dict.fromkeys((state.trials[factor], proven)):
                value = moved(point, factor, exponent)
                candidate = restored(point, factor, value)
                improves = candidate.objective(following)[0] <= before
                nears = can_near and exponent == proven and candidate.violation(factor) < point.violation(factor)
                if improves or nears:
                    point, state.stalled = candidate, False
                    state.exponents[factor], state.unrestored[factor] = exponent, value
                    break
            grows = improves and not constraint.is_signed
            state.trials[factor] = min(max(self.largest, proven), exponent * self.growth) if grows else proven
        return point
