"""Alternating least squares: a factor is solved for, and its negative entries become zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...algebra.expression import Letter, Word
from ...algebra.majorization import PowerLaw
from ...algebra.rewriting import Sum
from ...exceptions import IncompatibleError
from ...kernels.host import above_floor
from ...kernels.namespace import Array
from ...model import Rule
from ..point import Point
from ..problem import Problem
from ..run import Solver, State
from ..signature import Signature
from .multiplicative import moved, restored


@dataclass(frozen=True)
class AlternatingLeastSquares(Solver):
    """Solve for each factor in turn, clip negative entries, restore its constraint: FONT Eq. 21.

    A rule says at which point it does not move: numerator = denominator. If the factor stands first in every word of the
    denominator, W G = numerator, or last, G H = numerator, that is a linear system, solved with G of the last iterate
    and of the numerator. Fast, and not monotone: clipping is no projection.

    Parameters
    ----------
    factors : tuple of str, optional
        Which factors are solved for; the others take multiplicative steps with the proven exponent. All by default.

    See Also
    --------
    Coordinate : Least squares without clipping, entry by entry.
    nonneg.FONT : An estimator with this solver.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.solvers import AlternatingLeastSquares
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, solver=AlternatingLeastSquares(), random_state=0)
    >>> solution.solver, str(solution.status)
    ('least-squares', 'converged')
    """

    name: ClassVar[str] = "least-squares"
    title: ClassVar[str] = "alternating least squares"
    factors: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.factors is not None and not (isinstance(self.factors, tuple) and all(isinstance(f, str) for f in self.factors)):
            raise IncompatibleError(f"factors must be a tuple of names, or None for all of them; got {self.factors!r}.")

    def obstacle(self, signature: Signature) -> str | None:
        model = signature.model
        for name in model.rules if self.factors is None else self.factors:
            if name not in model.rules or not self._can_solve(model.rules[name]):
                return f"the rule of {name} in {model.form.text!r} with {model.divergence!r} is not linear in it"
        return None

    def new_state(self, problem: Problem) -> State:
        obstacle, rules = self.obstacle(problem.signature), problem.model.rules
        if obstacle is not None:
            raise IncompatibleError(
                f"Least squares cannot be used here: {obstacle}. Use the Euclidean distance and a form that has it once, or "
                "solver='adaptive'."
            )
        exponents = {name: 1.0 if self._is_solved(name) else rule.exponent for name, rule in rules.items()}
        return State(exponents=exponents)

    def _is_solved(self, factor: str) -> bool:
        return self.factors is None or factor in self.factors

    @staticmethod
    def _can_solve(rule: Rule) -> bool:
        return (
            isinstance(rule.law, PowerLaw)
            and rule.constraint.multipliers_text(rule.factor, Sum(), Sum()) is None
            and any(_system(rule, side) for side in (0, -1))
        )

    def step(self, point: Point, state: State) -> Point:
        for factor in point.problem.learned:
            if self._is_solved(factor):
                value = _solved(point, point.problem.model.rules[factor])
            else:
                value = moved(point, factor, state.exponents[factor])
            state.unrestored[factor] = value
            point = restored(point, factor, value)
        return point


def _system(rule: Rule, side: int) -> Sum | None:
    """The G of W G = numerator (side 0) or G H = numerator (side −1), as words; None if the denominator is not of this form."""
    F = Letter(rule.factor)
    if rule.degree != 1 or not all(word.matrices[side] == F and len(word) > 1 for word, _ in rule.denominator):
        return None
    return rule.denominator.rewritten(lambda word: Word(word[1:] if side == 0 else word[:-1]))


def _solved(point: Point, rule: Rule) -> Array:
    xp = point.problem.namespace.xp
    numerator, _ = point.sides(rule.factor)
    first, last = _system(rule, 0), _system(rule, -1)
    G = point.evaluate(first or last or Sum())
    # A dead component makes G singular; so small a ridge changes nothing else.
    ridge = xp.linalg.trace(G) * float(xp.finfo(G.dtype).eps) + float(xp.finfo(G.dtype).smallest_normal)
    G = G + ridge * xp.eye(G.shape[0], dtype=G.dtype, device=G.device)
    solution = xp.linalg.solve(G.T, numerator.T).T if first else xp.linalg.solve(G, numerator)
    return solution if rule.constraint.is_signed else above_floor(xp, xp.clip(solution, 0.0, None))
