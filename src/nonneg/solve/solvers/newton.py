"""Newton's method along one entry after the other, with momentum, for the divergences that are sums over entries.

Along an entry of a factor that occurs once, as both do in ``W H``, the objective is a sum of monomials in one number. Its slope and
its curvature follow from those of the divergence, and so does a bound that has its minimum in closed form: `kernels.newton`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...data import Curve, Data, Descent, Need
from ...divergences.base import Sums
from ...exceptions import IncompatibleError, is_count, is_number
from ...kernels.host import in_double, is_small
from ...kernels.namespace import Array
from ...kernels.tuned import tuned
from ..point import Point
from ..problem import Problem
from ..run import Solver
from ..signature import Signature
from .multiplicative import Adaptive, Multiplicative
from .quasi_newton import QuasiNewton, QuasiNewtonState
from .subproblems import Linear, Settings, Subproblem, subproblems


@dataclass
class NewtonState(QuasiNewtonState):
    """State of Newton's method between sweeps, and of a warm-up by `QuasiNewton`."""

    sweeps: int = 0
    momentum: float = 0.0
    last: dict[str, Array] = field(default_factory=dict)
    """The factors before the last sweep."""
    is_single: bool = False
    """Whether sweeps are made in single precision."""
    value: float | None = None
    """The objective after the last sweep, if that was in single precision."""


@dataclass(frozen=True)
class Newton(Solver):
    """Newton steps, one entry at a time, for every divergence that is a sum over entries.

    For factors that occur once, the first and the last of the form entry by entry; factors between them, such as S in ``W S H``,
    take the proven multiplicative step. Each step is the minimum of a bound (see `kernels.newton`), for any sign of the curvature:
    concave parts of the divergence, such as the logarithm of Itakura and Saito, are replaced by their tangent. So a sweep never
    raises the objective but by rounding; one that would is replaced by a sweep of `Adaptive`. Entries reach zero, and leave it
    again.

    γ- and Rényi divergences are not sums over entries, since every entry of X̂ changes the scale of all others: they keep
    `QuasiNewton`. If a factor occurs twice, as in ``W W.T X``, an entry changes X̂ in other rows than its own, and a sweep would
    take as many passes over the data as the factor has rows.

    Large dense data in double precision are swept in single precision as long as every sweep gains much more than that loses: each
    entry of X̂ takes a division, of which a core makes twice as many at a time. Objectives are always measured in double precision.

    At X̂ = 0 the bound is relative to X̂, and entries with a curved divergence cannot grow: with β above 1, other than 2, and zeros
    in X, entries stay zero that should not, and `QuasiNewton` serves better.

    Parameters
    ----------
    warmup : int, default=3
        Sweeps of `Adaptive` to begin with: from a random start, entries would be decided before the components have taken shape.
        For divergences that are not convex, such as that of Itakura and Saito, bounds are loose far from a minimum, and it is ten
        times as many steps of `QuasiNewton`.
    passes : int, default=1
        Visits of a row in a sweep, at most.
    enough : float, default=1e-3
        A row is left if none of its entries changes by more than this share of its largest.
    momentum : float, default=0.8
        A sweep begins this share of the last step further on (after Ang and Gillis, 2019). It grows slowly up to 0.98, and is
        halved if the objective would rise; the sweep then begins at the current factors. 0 does without.

    See Also
    --------
    Coordinate : The Euclidean distance.
    QuasiNewton : Divergences that are no sum over entries.
    get_solver : This one is "newton".

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.solvers import Newton
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, divergence="kullback-leibler", solver=Newton(), random_state=0)
    >>> solution.solver, str(solution.status)
    ('newton', 'converged')
    """

    name: ClassVar[str] = "newton"
    title: ClassVar[str] = "Newton steps, row by row"
    warmup: int = 3
    passes: int = 1
    enough: float = 1e-3
    momentum: float = 0.8
    trial: ClassVar[int] = 30
    window: ClassVar[float] = 1 / 5

    def __post_init__(self) -> None:
        for name, least in (("warmup", 0), ("passes", 1)):
            if not is_count(getattr(self, name), least):
                raise IncompatibleError(f"{name} must be an int of at least {least}; got {getattr(self, name)!r}.")
        if not is_number(self.momentum) or not 0 <= self.momentum < 1:
            raise IncompatibleError(f"momentum must be a share from 0, and below 1; got {self.momentum!r}.")
        if not is_number(self.enough) or not 0 <= self.enough < 1:
            raise IncompatibleError(f"enough must be a share from 0, and below 1; got {self.enough!r}.")

    def obstacle(self, signature: Signature) -> str | None:
        model, data = signature.model, signature.data
        if signature.derived(_curve) is None:
            return f"{model.divergence!r} is not a sum over entries"
        if not data.on_host:
            return "it is compiled for NumPy and SciPy arrays, and no other library's"
        if Need.ENTRIES not in data.gives:
            return "the data do not give their entries"
        if model.signed or data.has_negatives:
            return "it is about numbers that are not negative"
        if model.weighted:
            return "the data have weights, or missing values, which its kernels do not take"
        found = signature.derived(subproblems)
        for name, subproblem in found.items():
            terms = model.constraints[name].entrywise
            if terms is None:
                return f"{model.constraints[name]!r} ties the entries of {name} together"
            if not isinstance(subproblem, Linear):
                return f"{name} occurs in {model.form.text!r} more than once"
            if terms.ridge:
                return subproblem.obstacle_of_ridge()
            if not subproblem.before and not subproblem.after:
                return f"{name} stands alone in {model.form.text!r}"
            if _is_at_end(subproblem) and subproblem.is_turned not in data.swept_sides:
                return "the data cannot be gone over row by row"
            if terms.overlap and not subproblem.is_by_columns:
                return f"{model.constraints[name]!r} is about the wrong axis of {name} in {model.form.text!r}"
        if not any(_is_at_end(subproblem) for subproblem in found.values()):
            return f"no learned factor stands at an end of {model.form.text!r}"
        return None

    def suits(self, signature: Signature) -> bool:
        """Sweeps serve well if few visited entries are zeros: X̂ is needed anew for every component."""
        if self.obstacle(signature) is not None:
            return False
        data, curve = signature.data, signature.derived(_curve)
        if not curve.on_pattern and data.non_zeros < _FEW * data.shape[0] * data.shape[1]:
            return False
        return bool(curve.is_suited)

    def new_state(self, problem: Problem) -> NewtonState:
        obstacle = self.obstacle(problem.signature)
        if obstacle is not None:
            raise IncompatibleError(f"Newton steps cannot be used here: {obstacle}. Use solver='quasi-newton'.")
        first = _SAFE.new_state(problem)
        return NewtonState(first.exponents, trials=first.trials, momentum=self.momentum, is_single=_may_be_single(problem))

    def step(self, point: Point, state: NewtonState) -> Point:
        state.sweeps += 1
        solver, count = point.problem.signature.derived(_beginning)
        if state.sweeps <= self.warmup * count:
            return solver.step(point, state)
        if state.roots is not None:  # of no use any more
            state.corrections, state.roots, state.gradient = [], None, None
        last, state.last, state.stalled = state.last, point.factors, False
        found = self._moved(point, last, state) if state.is_single else None
        if found is None and state.is_single:
            state.is_single, state.value = False, None
        found = found or self._moved(point, last, state)
        return found or _SAFE.step(point, state)

    def _moved(self, point: Point, last: dict[str, Array], state: NewtonState) -> Point | None:
        """A sweep that lowers the objective, with momentum if that helps; in single precision, by more than rounding may do."""
        before = point.objective()[0] if state.value is None else state.value
        momentum, starts = state.momentum, [point]
        if last and momentum:
            ahead = {name: np.maximum(F + momentum * (F - last[name]), _LEAST * F) for name, F in point.factors.items()}
            starts = [point.problem.point(ahead), point]
        for start in starts:
            candidate, (value, magnitude) = self._swept(start, state.is_single)
            least = max(_GAIN * abs(value), _SINGLE_EPS * magnitude) if state.is_single else 0.0
            if before - value >= least:
                state.momentum = min(_MOST, momentum * _GROWTH) if start is not point else state.momentum
                if state.is_single:
                    state.value = value
                else:
                    candidate.measured = value, magnitude
                return candidate
            if abs(before - value) < least:
                return None
            state.momentum = momentum / 2
        return None

    def _swept(self, point: Point, is_single: bool) -> tuple[Point, tuple[float, float]]:
        """A sweep over all factors, ends of the form last, which leave the sums of the objective; with the objective."""
        ordered = sorted(point.problem.signature.derived(subproblems).values(), key=_is_at_end)
        for subproblem in ordered:
            if _is_at_end(subproblem):
                point, descent = self._descended(point, subproblem, is_single, is_last=subproblem is ordered[-1])
            else:
                point = _PROVEN.of_factor(point, subproblem.letter.name)
        return point, point.objective_from(_sums(point.problem.model.divergence, point.problem.data, descent))

    def _descended(self, point: Point, subproblem: Subproblem, is_single: bool, *, is_last: bool) -> tuple[Point, Descent]:
        data, curve = point.problem.data, point.problem.signature.derived(_curve)
        F, V = (
            subproblem.value(point),
            np.ascontiguousarray(point.product(subproblem.after), dtype=point.problem.namespace.dtype),
        )
        if is_single:
            F, V = F.astype(np.float32), V.astype(np.float32)
        elif is_small(math.prod(data.shape)):
            F, V = in_double(F), in_double(V)
        options = subproblem.options(Settings(self.passes, self.enough, keeps=False))
        totals = np.empty((F.shape[0], max(len(curve.slopes), 1)) if is_last else (0, 0))
        descent = Descent(F, V, curve, options, subproblem.first_row, totals)
        data.descend(descent, transposed=subproblem.is_turned)
        return subproblem.replaced(point, F.astype(data.namespace.dtype, copy=False)), descent


def _may_be_single(problem: Problem) -> bool:
    """Whether sweeps in single precision pay, and all numbers that they meet are within its range."""
    data, curve = problem.data, problem.signature.derived(_curve)
    if problem.namespace.dtype != np.float64 or not data.costs.mixed_precision:
        return False
    if data.shape[0] * data.shape[1] * max(min(shape) for shape in problem.shapes.values()) < _LARGE:
        return False
    lowest, highest, *_ = data.facts
    return 1 / _RANGE < highest < _RANGE and (curve.on_pattern or lowest > highest / _RANGE)


def _is_at_end(subproblem: Subproblem) -> bool:
    """Whether rows of the factor do not depend on each other."""
    return not subproblem.before


def _sums(divergence: Any, data: Data, descent: Descent) -> Sums:
    """The sums of a divergence, from the totals of a descent."""
    found = np.sum(descent.totals, axis=0)
    approximation = float(descent.F.sum(axis=0, dtype=np.float64) @ descent.V.sum(axis=1, dtype=np.float64))
    if descent.curve.is_dual:
        return Sums((approximation, -float(found[0])))
    terms, logarithms, left = [], [], iter(found.tolist())
    for monomial in divergence.monomials:
        total = approximation if monomial.is_linear else next(left)
        terms.append(total if monomial.power else data.power_sum(monomial.data_power))
        logarithms += [] if monomial.power else [total]
    return Sums(tuple(terms), tuple(logarithms))


def _curve(signature: Signature) -> Curve | None:
    """The curve of the divergence, if it has one."""
    return signature.model.divergence.curve


def _beginning(signature: Signature) -> tuple[Solver, int]:
    """The solver of the warm-up, and how many of its steps stand for one sweep."""
    solver, curve = QuasiNewton(), _curve(signature)
    return (_SAFE, 1) if curve is None or curve.is_convex or not solver.suits(signature) else (solver, 10)


_GROWTH, _MOST = tuned((1.03, 0.98), by="divergence", on="2026-11-16")
"""Growth of the momentum with every sweep that it has helped, and its largest value."""
_LEAST = 0.1
"""Share of an entry that momentum keeps at least: a row of zeros would make X̂ zero beside positive X, for good."""
_GAIN, _SINGLE_EPS = 1e-5, float(np.finfo(np.float32).eps)
"""Share of the objective that a sweep in single precision must gain, and rounding error of its terms."""
_LARGE, _RANGE = tuned((2e6, 1e6), by="divergence", on="2026-11-16")
"""Entries times components from which single precision pays, and the largest ratio of an entry to one."""
_FEW = tuned(0.1, by="divergence", on="2026-11-16")
"""Share of non-zero entries below which data count as sparse, however they are stored."""
_SAFE = Adaptive()
_PROVEN = Multiplicative()
