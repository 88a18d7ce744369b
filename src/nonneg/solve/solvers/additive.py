"""Additive steps, negative entries made zero: the rules that multiplicative ones were made from (NNP Eq. 1–29, ONL Eq. 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from ...exceptions import IncompatibleError, is_number, is_one_of
from ...kernels.host import above_floor
from ...kernels.namespace import Array
from ..point import Point
from ..problem import Problem
from ..run import Solver, State
from .multiplicative import restored

_Direction = Literal["natural", "gradient", "oja", "stiefel"]


@dataclass(frozen=True)
class Additive(Solver):
    """A step along the gradient, in a metric; negative entries become zero.

    With G = ∇⁻ − ∇⁺, minus the gradient of the objective by the factor W (plus, of an objective to be maximised):

    Parameters
    ----------
    rate : float, default=1.0
        The learning rate, ζ or γ. G has the scale of the objective: tr(WᵀSW) has 2SW, and the γ of NNP is for half of it.
    along : {"natural", "gradient", "oja", "stiefel"}, default="natural"
        "natural" is W + ζ W ∘ G/∇⁺, NNP Eq. 7, the natural gradient in the metric ∇⁺/W, with both sides of the rule of W; ζ = 1 is
        the multiplicative rule with exponent 1. "gradient" is W + γG, NNP Eq. 1 and 23, ONL Eq. 8. "oja" is W + ½γ(2G − WWᵀG −
        WGᵀW), NNP Eq. 14 with B = I and 27; "stiefel" is W + γ(G − WGᵀW), NNP Eq. 29. For G = XXᵀW both are ONL Eq. 3 and NNP
        Eq. 39.

    See Also
    --------
    Multiplicative : Steps that cannot raise the objective.
    get_solver : Solvers by name.

    Notes
    -----
    For comparison: no rate is right for long, and nothing guarantees descent. "oja" and "stiefel" keep WᵀW near I by themselves;
    with them no constraint is restored.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.solvers import Additive
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, solver=Additive(rate=0.5), random_state=0)
    >>> solution.solver, str(solution.status)
    ('Additive', 'converged')
    """

    title: ClassVar[str] = "additive steps"
    rate: float = 1.0
    along: _Direction = "natural"

    def __post_init__(self) -> None:
        if not (is_number(self.rate) and self.rate > 0):
            raise IncompatibleError(f"rate must be a positive number; got {self.rate!r}.")
        if not is_one_of(self.along, get_args(_Direction)):
            raise IncompatibleError(f"along must be one of {', '.join(map(repr, get_args(_Direction)))}; got {self.along!r}.")

    def new_state(self, problem: Problem) -> State:
        signed = [name for name in problem.learned if problem.model.constraints[name].is_signed]
        if signed:
            raise IncompatibleError(f"Additive steps are for factors without negative entries, and {signed[0]} has some.")
        return State(exponents=dict.fromkeys(problem.learned, self.rate))

    def step(self, point: Point, state: State) -> Point:
        for factor in point.problem.learned:
            value = above_floor(point.problem.namespace.xp, self._moved(point, factor))
            state.unrestored[factor] = value
            point = point.with_factor(factor, value) if self.along in ("oja", "stiefel") else restored(point, factor, value)
        return point

    def _moved(self, point: Point, factor: str) -> Array:
        W, xp = point.factors[factor], point.problem.namespace.xp
        if self.along == "natural":
            numerator, denominator = point.sides(factor)
            return xp.clip(W + self.rate * (W * (numerator / denominator) - W), 0.0, None)
        positive, negative = point.gradient(factor)
        G = negative - positive
        if self.along == "oja":
            G = G - (W @ (W.T @ G) + W @ (G.T @ W)) / 2
        elif self.along == "stiefel":
            G = G - W @ (G.T @ W)
        return xp.clip(W + self.rate * G, 0.0, None)
