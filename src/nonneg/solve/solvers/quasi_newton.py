"""Quasi-Newton steps: all factors move at once, in a direction that the steps before have taught.

A multiplicative rule is a gradient step in disguise. Write F = U∘U. The gradient by U is 2U∘(∇⁺ − ∇⁻), and since ln(a/b) is
2(a − b)/(a + b) up to third order, F ← F∘(∇⁻/∇⁺)^η is, as long as it is not far,

    U ← U − η · gradient / weight,   weight = 2(∇⁺ + ∇⁻),

a gradient step in which each entry has a length of its own. L-BFGS takes 1/weight for its first guess of the inverse Hessian and
corrects it by what the last few steps have done to the gradient. So what the rules know of the problem, and what constraints add to
them, is kept; what they lack, how entries and factors depend on each other, is learned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...algebra.majorization import PowerLaw
from ...exceptions import IncompatibleError
from ...kernels.host import above_floor, plus
from ...kernels.namespace import Array
from ...naming import is_count
from ..point import Point
from ..problem import Problem
from ..signature import Signature
from ..solver import Solver
from .multiplicative import Adaptive, AdaptiveState, moved

_SWEEP = Adaptive()
_NOTHING, _REVIVED = 1e-6, (1e-2, 1e-3, 1e-4)
"""Of a factor's mean: what counts as next to nothing, and what an entry may begin with again."""
_LENGTHS = (1.0, 0.25)
"""Of the step, and of a second attempt where the first would raise the objective."""
_LEAST = 0.6
"""What is left of an entry of U at least. Near zero gradients by U vanish: entries that fall too fast do not come back."""
_EVERY = 10
"""One step in so many is a sweep of `Adaptive`, whose ratios bring small entries back that should not be small."""
_FLAT = 1e-4
"""A curvature below this share of what the weights say teaches nothing, or, if it is negative, the wrong thing."""


@dataclass(frozen=True)
class Correction:
    """What one step has taught."""

    move: Array
    """How U changed."""
    change: Array
    """How the gradient changed."""
    inverse: Array
    """1/⟨move, change⟩; 0 for a correction that is not to be used."""


@dataclass
class QuasiNewtonState(AdaptiveState):
    """What has been learned so far."""

    steps: int = 0
    corrections: list[Correction] = field(default_factory=list)
    """Of the last steps, the oldest first."""
    roots: Array | None = None
    """U before the last step."""
    gradient: Array | None = None
    """The gradient by it."""
    exponent: Any = 1.0
    """Of the first guess: what would have suited the last step. A number, or a 0-d array for which no device has to wait."""
    attempt: int = 0
    """Which attempt at a step is next, where each takes an iteration: lengths of a quasi-Newton step, then a multiplicative one."""
    share: float = 0.0
    """Of the exponents of single factors, what a multiplicative step of all of them together is to take; 0 for the proven one."""
    made_of: ClassVar[tuple[type, ...]] = (Correction,)


@dataclass(frozen=True)
class QuasiNewton(Solver):
    """L-BFGS for the square roots of all factors together, preconditioned by the multiplicative rules.

    A step that would raise the objective is tried again with a quarter of its length. If that raises it too, what was learned is
    forgotten, and a sweep of `Adaptive` is taken in its place, whose promises are therefore kept: a factor without a constraint
    never raises the objective but by rounding. Constraints enter as in any rule, by their multiplier terms and by `restore`.

    Parameters
    ----------
    memory : int, default=10
        From how many steps to learn. Each takes the memory of the factors twice.
    warmup : int, default=10
        Sweeps of `Adaptive` to begin with: from a random start, entries would be decided before the components have taken shape.
    together : bool, default=False
        Whether multiplicative steps move all factors at once, too, and an attempt that would raise the objective ends an iteration
        as one that is taken does. Each iteration then looks at the data once, which is what counts where a look takes long.
    """

    title: ClassVar[str] = "quasi-Newton steps"
    searches: ClassVar[bool] = True
    memory: int = 10
    warmup: int = 10
    together: bool = False
    trial: ClassVar[int] = 50
    window: ClassVar[float] = 1 / 5

    def __post_init__(self) -> None:
        for name, least in (("memory", 1), ("warmup", 0)):
            if not is_count(getattr(self, name), least):
                raise IncompatibleError(f"{name} must be an int of at least {least}; got {getattr(self, name)!r}.")
        if not isinstance(self.together, bool):
            raise IncompatibleError(f"together must be True or False; got {self.together!r}.")

    @property
    def shape_by(self) -> int:  # type: ignore[override]
        """Fewer from a refined start, unless an iteration is a single attempt, which may fail."""
        return 40 if self.warmup or self.together else 20

    def obstacle(self, signature: Signature) -> str | None:
        signed = [name for name in signature.model.learned if signature.model.constraints[name].is_signed]
        return f"it is about square roots, and {signed[0]} is of either sign" if signed else None

    def suits(self, signature: Signature) -> bool:
        """Steps of single factors serve better if a constraint does not hold after each step, or takes a loop to restore."""
        constraints = (signature.model.constraints[name] for name in signature.model.learned)
        restored = all(c.is_free or (c.restores_fully and not c.restores_by_iteration) for c in constraints)
        return restored and self.obstacle(signature) is None

    def new_state(self, problem: Problem) -> QuasiNewtonState:
        obstacle = self.obstacle(problem.signature)
        if obstacle is not None:
            raise IncompatibleError(f"Quasi-Newton steps cannot be used here: {obstacle}. Use solver='adaptive'.")
        first = _SWEEP.new_state(problem)
        return QuasiNewtonState(first.exponents, trials=first.trials, exponent=min(first.exponents.values()))

    def step(self, point: Point, state: QuasiNewtonState) -> Point:
        if self.together:
            return self._attempt(point, state)
        state.steps += 1
        if state.steps <= self.warmup or state.steps % _EVERY == 0:
            return _swept(point, state)
        point.prepare()
        before, _ = point.objective()
        roots, gradient, weight = self._learned(point, state)
        if state.corrections:
            direction = _direction(state.corrections, state.exponent, gradient, weight)
            for length in _LENGTHS:
                values = _moved(point, roots, length * direction)
                candidate = _restored(point, values)
                candidate.prepare()
                if candidate.objective()[0] <= before:
                    state.stalled = False
                    state.unrestored.update(values)
                    return candidate
            state.corrections = []
        return _swept(point, state)

    def _learned(self, point: Point, state: QuasiNewtonState) -> tuple[Array, Array, Array]:
        """U, the gradient by it and the weights, all in one vector; what they teach beside those of the last step is remembered."""
        roots, gradient, weight = _in_one_vector(point)
        if state.roots is not None:
            _learn(point.problem.namespace.xp, state, roots, gradient, weight)
            state.corrections = state.corrections[-self.memory :]
        state.roots, state.gradient = roots, gradient
        return roots, gradient, weight

    def _attempt(self, point: Point, state: QuasiNewtonState) -> Point:
        """A step of all factors, if it does not raise the objective; the point as it is, if it would, and then another is next."""
        point.prepare()
        if state.attempt == 0:
            state.steps += 1
            roots, gradient, weight = self._learned(point, state)
            if not state.corrections or state.steps <= self.warmup or state.steps % _EVERY == 0:
                state.attempt = len(_LENGTHS)
        else:
            roots, gradient, weight = _in_one_vector(point)
        is_learned = state.attempt < len(_LENGTHS)
        proven = 1 / len(point.factors)  # of as many as move together
        share = max(state.share, proven)
        if is_learned:
            step = _LENGTHS[state.attempt] * _direction(state.corrections, state.exponent, gradient, weight)
            values = _moved(point, roots, step)
        else:
            state.exponents = {name: share * point.problem.model.rules[name].exponent for name in point.factors}
            values = {name: moved(point, name, exponent) for name, exponent in state.exponents.items()}
        candidate = _restored(point, values)
        candidate.prepare()
        state.stalled = False
        if candidate.objective()[0] <= point.objective()[0]:
            state.unrestored.update(values)
            state.share = state.share if is_learned else min(share * _SWEEP.growth, _SWEEP.largest)
            state.attempt = 0
            return candidate
        if is_learned:
            state.attempt += 1
            state.corrections = state.corrections if state.attempt < len(_LENGTHS) else []
            return point
        state.share = 0.0
        if share > proven:
            return point
        state.attempt = 0
        return _SWEEP.step(point, state)  # what is left is rounding, or constraints


def _swept(point: Point, state: QuasiNewtonState) -> Point:
    """A sweep of `Adaptive`; where that moves nothing, entries that should grow and do not are begun anew."""
    swept = _SWEEP.step(point, state)
    return _revived(point, state) or swept if state.stalled else swept


def _revived(point: Point, state: QuasiNewtonState) -> Point | None:
    """A point with some of the entries that are next to nothing and should grow, where the objective is lower there.

    Long steps may leave an entry so small that to grow again, by a factor in each step, takes hundreds of steps which change the
    objective by less than rounding: then nothing seems to move.
    """
    xp, model = point.problem.namespace.xp, point.problem.model
    if not isinstance(model.divergence.law, PowerLaw):
        return None
    due = {}
    for name, F in point.factors.items():
        numerator, denominator = point.sides(name)
        due[name] = (_NOTHING * xp.mean(F) > F) & (numerator > denominator)
    if not any(bool(xp.any(which)) for which in due.values()):
        return None
    before, _ = point.objective()
    for share in _REVIVED:
        candidate = _restored(point, {name: xp.where(due[name], share * xp.mean(F), F) for name, F in point.factors.items()})
        if candidate.objective()[0] < before:
            state.stalled = False
            return candidate
    return None


def _in_one_vector(point: Point) -> tuple[Array, Array, Array]:
    """U, the gradient by it, and the weights of its entries, of all factors in one vector."""
    xp, divergence = point.problem.namespace.xp, point.problem.model.divergence
    pieces = []
    for name, F in point.factors.items():
        roots, (numerator, denominator) = xp.sqrt(F), point.sides(name)
        if isinstance(divergence.law, PowerLaw):
            gradient, weight = 2.0 * roots * (denominator - numerator), 2.0 * (denominator + numerator)
        else:  # F ← F∘exp(η · numerator/denominator)
            gradient, weight = -2.0 * roots * numerator, 4.0 * denominator
        if divergence.scale_invariant:  # the parts of the rules lack 1/ΣP∘X̂, which changes from step to step
            unit = point.problem.model.rules[name].degree / xp.sum(F * denominator)
            gradient, weight = gradient * unit, weight * unit
        gradient = point.problem.model.constraints[name].without_given(xp, gradient)  # what is given cannot move
        pieces.append([xp.reshape(array, (-1,)) for array in (roots, gradient, weight)])
    roots, gradient, weight = (xp.concat(arrays) for arrays in map(list, zip(*pieces, strict=True)))
    info = xp.finfo(weight.dtype)
    return roots, gradient, xp.clip(weight, float(info.smallest_normal) / float(info.eps), math.inf)


def _learn(xp: Any, state: QuasiNewtonState, roots: Array, gradient: Array, weight: Array) -> None:
    """Remember what the last step did, and the exponent that would have suited it. No device has to wait for what is decided."""
    move, change = roots - state.roots, gradient - state.gradient
    curvature, spread = move @ change, change @ (change / weight)
    useful = curvature > _FLAT * (move @ (weight * move))
    one = xp.ones_like(curvature)
    curvature, spread = xp.where(useful, curvature, one), xp.where(useful, spread, one)
    state.exponent = xp.where(useful, curvature / spread, state.exponent * one)
    state.corrections.append(Correction(move, change, xp.where(useful, one / curvature, 0.0 * one)))


def _direction(corrections: Sequence[Correction], exponent: Array, gradient: Array, weight: Array) -> Array:
    """Minus the gradient times the inverse Hessian, as the corrections tell it: Nocedal's two loops."""
    rest, shares = gradient + 0.0, []  # a copy, to be changed
    for correction in reversed(corrections):
        shares.append((correction.move @ rest) * correction.inverse)
        rest = plus(rest, -shares[-1], correction.change)
    ascent = rest * (exponent / weight)
    for correction, share in zip(corrections, reversed(shares), strict=True):
        ascent = plus(ascent, share - (correction.change @ ascent) * correction.inverse, correction.move)
    return -ascent


def _moved(point: Point, roots: Array, step: Array) -> dict[str, Array]:
    """The factors after a step of their roots."""
    xp, values, start = point.problem.namespace.xp, {}, 0
    roots = xp.maximum(roots + step, _LEAST * roots)
    for name, F in point.factors.items():
        stop = start + F.shape[0] * F.shape[1]
        values[name] = above_floor(xp, xp.reshape(roots[start:stop] ** 2, F.shape))
        start = stop
    return values


def _restored(point: Point, values: dict[str, Array]) -> Point:
    xp, constraints = point.problem.namespace.xp, point.problem.model.constraints
    return point.problem.point({name: constraints[name].restore(xp, value) for name, value in values.items()})
