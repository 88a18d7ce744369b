"""Quasi-Newton steps (L-BFGS): all factors move at once.

A multiplicative rule is a gradient step in disguise. Write F = U∘U. The gradient by U is 2U∘(∇⁺ − ∇⁻), and since ln(a/b) is
2(a − b)/(a + b) up to third order, F ← F∘(∇⁻/∇⁺)^η is, as long as it is not far,

    U ← U − η · gradient / weight,   weight = 2(∇⁺ + ∇⁻),

a gradient step in which each entry has a length of its own. L-BFGS takes 1/weight for its first guess of the inverse Hessian and
corrects it by the changes of the gradient in the last few steps. So the preconditioner of the rules and the multipliers of
constraints are kept, and the coupling of entries and factors is learned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...algebra.majorization import PowerLaw
from ...exceptions import IncompatibleError, is_count
from ...kernels.host import above_floor, plus
from ...kernels.namespace import Array
from ...kernels.tuned import tuned
from ..point import Point
from ..problem import Problem
from ..run import Solver
from ..signature import Signature
from .multiplicative import Adaptive, AdaptiveState, moved

_SWEEP = Adaptive()
_NOTHING, _REVIVED = tuned((1e-6, (1e-2, 1e-3, 1e-4)), by="acceleration", on="2026-11-16")
"""Shares of a factor's mean: an entry below the first is negligible, and may begin again with the others."""
_LENGTHS = tuned((1.0, 0.25), by="acceleration", on="2026-11-15")
"""Of the step, and of a second attempt if the first would raise the objective."""
_LEAST = tuned(0.6, by="acceleration", on="2026-11-15")
"""Share of an entry of U that a step keeps at least. Near zero gradients by U vanish: entries that fall too fast do not come
back."""
_EVERY = tuned(10, by="acceleration", on="2026-11-15")
"""One step in so many is a sweep of `Adaptive`, whose ratios bring small entries back that should not be small."""
_FLAT = tuned(1e-4, by="acceleration", on="2026-11-15")
"""A curvature below this share of that of the weights, or a negative one, is not learned."""


@dataclass(frozen=True)
class Correction:
    """A correction pair of L-BFGS."""

    move: Array
    """Change of U."""
    change: Array
    """Change of the gradient."""
    inverse: Array
    """1/⟨move, change⟩; 0 for a correction that is not to be used."""


@dataclass
class QuasiNewtonState(AdaptiveState):
    """State of L-BFGS."""

    steps: int = 0
    corrections: list[Correction] = field(default_factory=list)
    """Of the last steps, the oldest first."""
    roots: Array | None = None
    """U before the last step."""
    gradient: Array | None = None
    """The gradient by it."""
    exponent: Any = 1.0
    """Scale of the initial inverse Hessian: the best for the last step. A number, or a 0-d array, so that devices need not wait."""
    attempt: int = 0
    """The next attempt at a step, if each takes an iteration: lengths of a quasi-Newton step, then a multiplicative one."""
    share: float = 0.0
    """Share of the exponents of single factors in a multiplicative step of all together; 0 for the proven one."""
    made_of: ClassVar[tuple[type, ...]] = (Correction,)


@dataclass(frozen=True)
class QuasiNewton(Solver):
    """L-BFGS for the square roots of all factors together, preconditioned by the multiplicative rules.

    A step that would raise the objective is tried again with a quarter of its length. If that raises it too, the corrections are
    dropped, and a sweep of `Adaptive` is taken instead, whose promises therefore hold: a factor without a constraint never raises
    the objective but by rounding. Constraints enter as in any rule, by their multiplier terms and by `restore`.

    Parameters
    ----------
    memory : int, default=10
        Correction pairs. Each takes the memory of the factors twice.
    warmup : int, default=10
        Sweeps of `Adaptive` to begin with: from a random start, entries would be decided before the components have taken shape.
    together : bool, default=False
        Whether multiplicative steps, too, move all factors at once, and a failed attempt ends an iteration. Each iteration is then
        one pass over the data, which counts for data out of core.

    See Also
    --------
    Adaptive : Its first and its fallback steps.
    Newton : Divergences that are sums over entries.
    get_solver : This one is "quasi-newton".

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.solvers import QuasiNewton
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, divergence="hellinger", solver=QuasiNewton(), random_state=0)
    >>> solution.solver, str(solution.status)
    ('quasi-newton', 'converged')
    """

    name: ClassVar[str] = "quasi-newton"
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
        """U, the gradient by it and the weights, as vectors; updates the correction pairs."""
        roots, gradient, weight = _in_one_vector(point)
        if state.roots is not None:
            _learn(point.problem.namespace.xp, state, roots, gradient, weight)
            state.corrections = state.corrections[-self.memory :]
        state.roots, state.gradient = roots, gradient
        return roots, gradient, weight

    def _attempt(self, point: Point, state: QuasiNewtonState) -> Point:
        """A step of all factors, if it does not raise the objective; else the same point, and another attempt is next."""
        point.prepare()
        if state.attempt == 0:
            state.steps += 1
            roots, gradient, weight = self._learned(point, state)
            if not state.corrections or state.steps <= self.warmup or state.steps % _EVERY == 0:
                state.attempt = len(_LENGTHS)
        else:
            roots, gradient, weight = _in_one_vector(point)
        is_learned = state.attempt < len(_LENGTHS)
        proven = 1 / len(point.factors)  # all move together
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
        return _SWEEP.step(point, state)  # only rounding, or constraints, remain


def _swept(point: Point, state: QuasiNewtonState) -> Point:
    """A sweep of `Adaptive`; if it moves nothing, entries that should grow and do not begin anew."""
    swept = _SWEEP.step(point, state)
    return _revived(point, state) or swept if state.stalled else swept


def _revived(point: Point, state: QuasiNewtonState) -> Point | None:
    """A point with larger values of negligible entries that should grow, if its objective is lower.

    Long steps may leave an entry so small that its growth, geometric, takes hundreds of steps with changes below rounding.
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
        gradient = point.problem.model.constraints[name].without_given(xp, gradient)  # given entries cannot move
        pieces.append([xp.reshape(array, (-1,)) for array in (roots, gradient, weight)])
    roots, gradient, weight = (xp.concat(arrays) for arrays in map(list, zip(*pieces, strict=True)))
    info = xp.finfo(weight.dtype)
    return roots, gradient, xp.clip(weight, float(info.smallest_normal) / float(info.eps), math.inf)


def _learn(xp: Any, state: QuasiNewtonState, roots: Array, gradient: Array, weight: Array) -> None:
    """Append the correction pair of the last step, and update the scale; without branches, so that devices need not wait."""
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
