"""A user's own objective J(W): its gradient in two non-negative parts, solved by the free or the orthogonal rule (ONL Eq. 9–20).

>>> import numpy as np
>>> A = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
>>> parts = Objective("tr(W.T A W)", given={"A": A}, constraints="orthogonal", maximize=True)
>>> print(parts)
maximise  tr(W.T A W)
over      W ≥ 0, Wᵀ W = I
<BLANKLINE>
W ← W ∘ [(A W) / (W Wᵀ A W)]^(1/2)
    ONL Eq. 20, the orthogonal rule of any J(W); QNMF Theorem 3, Eq. 11
<BLANKLINE>
with  A given
>>> W = parts.optimize((6, 2), random_state=0).factors["W"]
>>> W.argmax(axis=1)
array([0, 0, 0, 1, 1, 1])
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from .algebra.expression import Letter, Word
from .algebra.majorization import Bounds, PowerLaw, bounds_of_products, fraction
from .algebra.rewriting import SIGNS, Difference, Sum, by_sign, split_signs, symmetric
from .algebra.traces import derivative_of_trace, names_in, parse_sum, parse_traces
from .constraints import Constraint, get_constraint
from .data import Data, as_dense, read_data
from .exceptions import DataError, IncompatibleError, ShapeError, Stopped, is_count, is_number, unknown, users_line
from .kernels.host import as_type
from .kernels.namespace import Array, Namespace, is_array, namespace_of
from .model import Rule
from .planning.plans import multiply
from .solve.context import Context, StartContext
from .solve.initialization import RandomState, make_generator
from .solve.point import Point
from .solve.problem import Problem, Units
from .solve.run import Callback, Solver, State, begin, solve
from .solve.solution import Explanation, History, Solution, Status, Step
from .solve.solvers import Adaptive, Additive, Multiplicative, Stopping
from .solve.solvers.multiplicative import AdaptiveState, moved, restored

Part = str | Callable[..., Array]
"""One part of a gradient: a sum of words as text, or a function of the factors."""


@dataclass(frozen=True)
class OwnRule(Rule):
    """The rule of one factor of a user's objective."""

    sources: tuple[str, ...] = ()
    is_proven: bool = True
    """Whether bounds on the exponent are known."""

    @property
    def published(self) -> tuple[str, ...]:
        return self.sources

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.is_proven else f"{text}{'' if self.exponent != 1 else '^η'}, η unknown: by line search"


@dataclass(frozen=True)
class LineSearch(Adaptive):
    """An exponent that is halved until the objective does not rise, and grows again after: for rules without a proven one.

    Parameters
    ----------
    growth : float, default=1.3
    largest : float, default=8
        As in `Adaptive`.
    halvings : int, default=30
        How often an exponent is halved before the factor is left as it is.
    """

    title: ClassVar[str] = "multiplicative updates with a line search of the exponent"
    halvings: int = 30

    def step(self, point: Point, state: AdaptiveState) -> Point:
        state.stalled = True
        for factor in point.problem.learned:
            constraint, before = point.problem.model.constraints[factor], point.objective()[0]
            can_near = not constraint.is_free and not constraint.restores_fully
            for halving in range(self.halvings):
                exponent = state.trials[factor] / 2**halving
                value = moved(point, factor, exponent)
                candidate = restored(point, factor, value)
                improves = candidate.objective()[0] <= before
                if improves or (can_near and candidate.violation(factor) < point.violation(factor)):
                    point, state.stalled = candidate, False
                    state.exponents[factor], state.unrestored[factor] = exponent, value
                    state.trials[factor] = min(self.largest, exponent * self.growth)
                    break
        return point


class Objective:
    """A user's own objective, minimised or maximised over non-negative factors by multiplicative rules.

    Parameters
    ----------
    value : str or callable, optional
        J. As text, a sum of traces and squared norms of named matrices, such as ``"‖X - W H‖² + 0.1 tr(W.T L W)"``: its gradient is
        derived, and split into two parts without negative entries. As a function, of the factors; `positive` and `negative` are
        then needed. Without it no step can be compared, and the status says so.
    positive, negative : callable or str, or dict of them
        The two parts of the gradient, ∇ = ∇⁺ − ∇⁻, without negative entries: functions of the factors, NumPy's or of any array
        library that W is from; or sums of words as text. With several factors a dict for each part; functions are called
        with all factors, in the order of the dict.
    given : dict of arrays, optional
        The matrices that texts name, dense or sparse, of either sign. All other names are factors to be learned.
    constraints : str or Constraint, or dict of them, default="free"
        Of the factor, or of each by name; see `nonneg.constraints`.
    bounds : pair of float, or dict of pairs, optional
        (ψmax, ψmin) of an upper bound of J as in QNMF Eq. 6, so that the exponent 1/(ψmax − ψmin) never raises it. They follow
        from `value` as text. Without them the exponent is found by a line search.
    maximize : bool, default=False
        Whether J is maximised rather than minimised.

    Attributes
    ----------
    learned : tuple of str
    rules : dict of Rule
    constraints : dict of Constraint

    See Also
    --------
    Model : Forms and divergences that are known.
    testing.check_gradient : Checks the gradient of a model.

    Notes
    -----
    The free rule is W ∘ (∇⁻/∇⁺)^η (ONL Eq. 9, 18; QNMF Theorem 1), the orthogonal one W ∘ [(∇⁻ + WWᵀ∇⁺)/(∇⁺ + WWᵀ∇⁻)]^η (ONL Eq.
    12, 20; QNMF Theorem 3). ONL maximises: its ∇⁺ and ∇⁻ change places. If parts are texts, WᵀW = I is used and common words
    are cancelled (ONL Fig. 4), unless the constraint is ``Orthogonal(steps=1)``.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> objective = nonneg.Objective("‖X - W H‖² + 0.1 tr(W.T W)", given={"X": X})
    >>> solution = objective.optimize({"W": np.ones((12, 2)), "H": np.random.default_rng(1).random((2, 8))})
    >>> str(solution.status)
    'converged'
    """

    form: ClassVar[Word] = Word()
    data: ClassVar[str] = ""

    def __init__(
        self,
        value: str | Callable[..., float] | None = None,
        *,
        positive: Part | Mapping[str, Part] | None = None,
        negative: Part | Mapping[str, Part] | None = None,
        given: Mapping[str, Any] | None = None,
        constraints: str | Constraint | Mapping[str, str | Constraint | None] = "free",
        bounds: tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
        maximize: bool = False,
    ) -> None:
        if (positive is None) != (negative is None) or (positive is None and not isinstance(value, str)):
            raise IncompatibleError(
                "Objective needs both parts of the gradient, positive and negative, or value as text, from which they are derived."
            )
        self.given = {name: _read_given(name, matrix) for name, matrix in (given or {}).items()}
        self.value, self.maximize = value, bool(maximize)
        self._traces = parse_traces(value) if isinstance(value, str) else None
        self._functions: dict[str, Callable[..., Array]] = {}
        self._split: dict[str, Array] = {}
        """The positive and the negative entries of products of given matrices, by the letters that stand for them."""
        self._is_derived = positive is None
        self.learned = self._names(positive, negative)
        self.constraints = _by_name(constraints, self.learned, "constraints", get_constraint)
        self.divergence = SimpleNamespace(
            maximised=self.maximize, infinite_at_zero=False, scale_invariant=False, law=PowerLaw(), signed=False
        )
        parts = {name: self._parts(name, positive, negative) for name in self.learned}
        known = {} if bounds is None else _by_name(bounds, self.learned, "bounds", _read_bounds)
        self.rules = {name: self._rule(name, *parts[name], known.get(name)) for name in self.learned}

    # ---- parameters

    def _names(self, positive: Any, negative: Any) -> tuple[str, ...]:
        """The factors, in the order of the parts, or of appearance."""
        if isinstance(positive, Mapping) or isinstance(negative, Mapping):
            if not (isinstance(positive, Mapping) and isinstance(negative, Mapping)) or set(positive) != set(negative):
                raise IncompatibleError("positive and negative must both be dicts with a part for each factor, the same ones.")
            return tuple(positive)
        texts = [text for text in (self.value, positive, negative) if isinstance(text, str)]
        found = tuple(dict.fromkeys(name for text in texts for name in names_in(text) if name not in self.given))
        if positive is not None and len(found) > 1:
            raise IncompatibleError(
                f"The texts name {' and '.join(found)}, of which one is to be learned: give the others in `given`, or each part as "
                "a dict by factor."
            )
        if not found and texts:
            raise IncompatibleError("There is nothing to learn: every matrix of the text is given.")
        return found or ("W",)

    def _parts(self, factor: str, positive: Any, negative: Any) -> tuple[Sum, Sum]:
        """∇⁺ and ∇⁻ of the minimised objective, as sums of words; a function is a word of one letter."""
        if positive is None:
            assert self._traces is not None
            gradient = derivative_of_trace(self._traces, factor).rewritten(lambda word: symmetric(word, self._symmetric))
            up, down = by_sign(split_signs(gradient, set(self.learned), self._by_signs))
        else:
            both = (part[factor] if isinstance(part, Mapping) else part for part in (positive, negative))
            up, down = (self._read_part(part, factor, mark) for part, (mark, _) in zip(both, SIGNS, strict=True))
        return (down, up) if self.maximize else (up, down)

    def _read_part(self, part: Any, factor: str, mark: str) -> Sum:
        """A part of the gradient as a sum of words; a function becomes a word of its own."""
        if isinstance(part, str):
            return parse_sum(part)
        if not callable(part):
            raise IncompatibleError(f"A part of the gradient must be a function of the factors, or text; got {part!r:.60}.")
        name = f"∇{mark}" if len(self.learned) == 1 else f"∇{mark}({factor})"
        self._functions[name] = part
        return Sum.of(Word([Letter(name)]))

    @property
    def _symmetric(self) -> set[str]:
        return {name for name, M in self.given.items() if M.shape[0] == M.shape[1] and not abs(M - M.T).max() > 0}

    def _by_signs(self, piece: Word) -> Difference:
        """A product of given matrices, as the difference of two without negative entries."""
        if all(self.given[name].min() >= 0 for name in piece.names):
            return [(piece, 1)]
        value = _product(piece, {name: _source_of(self.given[name]) for name in piece.names})
        name = str(piece) if len(piece) == 1 else f"({piece})"
        parts = [(name + mark, (abs(value) + sign * value) / 2, sign) for mark, sign in SIGNS]
        self._split |= {letter: part for letter, part, _ in parts}
        return [(Word([Letter(letter)]), sign) for letter, part, sign in parts if part.max() > 0]

    def _rule(self, factor: str, positive: Sum, negative: Sum, given: Bounds | None) -> OwnRule:
        """The multiplicative rule of a factor, and whether its exponent is proven."""
        constraint, law = self.constraints[factor], PowerLaw()
        if constraint.is_signed or not constraint.is_learned:
            raise IncompatibleError(f"{factor} is to be non-negative and learned; the constraint {constraint!r} says otherwise.")
        is_proven = given is not None or self._is_derived
        bounds = given or (self._bounds(factor, positive, negative) if is_proven else Bounds(1.0, 0.0))
        numerator, denominator, widened, simplified = constraint.lagrangian(factor, positive, negative, bounds, law)
        if not numerator or not (denominator or type(constraint).multipliers is not Constraint.multipliers):
            raise IncompatibleError(
                f"The rule of {factor} has nothing to {'multiply with' if not numerator else 'divide by'}: all of its gradient has "
                f"one sign{'' if constraint.is_free else f', or cancels under {constraint.text(factor)}'}. Constrain {factor}, or "
                "add a term that bounds it."
            )
        return OwnRule(
            factor=factor,
            degree=1,
            positive=positive,
            negative=negative,
            terms=(),
            numerator=numerator,
            denominator=denominator,
            bounds=widened if is_proven else Bounds(1.0, 0.0),
            constraint=constraint,
            law=law,
            subject=None,  # type: ignore[arg-type]
            is_simplified=simplified,
            sources=(_source(constraint, widened if is_proven else None, simplified),),
            is_proven=is_proven,
        )

    def _bounds(self, factor: str, positive: Sum, negative: Sum) -> Bounds:
        """The bounds of a polynomial (Ding, Li and Jordan 2010), or of a concave negative part (QNMF §5.1)."""
        rising, falling = ([word.count(factor) + 1 for word, _ in part] for part in (positive, negative))
        bounds = bounds_of_products(rising or [1], falling or [1])
        F = Word([Letter(factor)])
        is_concave = all(word[-1:] == F and word[:-1].is_gram and word.count(factor) == 1 for word, _ in negative)
        return bounds.concave() if negative and is_concave else bounds

    # ---- print

    @property
    def title(self) -> str:
        """J in a few letters."""
        return self.value if isinstance(self.value, str) else f"J({', '.join(self.learned)})"

    @property
    def line(self) -> str:
        """The objective in one line, without its rules."""
        over = "; ".join(constraint.text(name) for name, constraint in self.constraints.items())
        return f"{'max' if self.maximize else 'min'} {self.title}, {over}"

    def __str__(self) -> str:
        over = "; ".join(constraint.text(name) for name, constraint in self.constraints.items())
        lines = [f"{'maximise' if self.maximize else 'minimise'}  {self.title}", f"over      {over}"]
        for rule in self.rules.values():
            lines += ["", str(rule), *(f"    {where}" for where in rule.published)]
        notes = [f"{', '.join(sorted(self.given))} given"] if self.given else []
        notes += [f"{', '.join(self._functions)} the user's functions"] if self._functions else []
        notes += ["J itself not given: its descent cannot be checked"] if self.value is None else []
        return "\n".join([*lines, *(["", "with  " + ",  ".join(notes)] if notes else [])])

    def __repr__(self) -> str:
        return f"Objective({self.title!r}, learned={list(self.learned)})"

    # ---- solve

    def optimize(
        self,
        start: tuple[int, int] | Any | Mapping[str, Any],
        *,
        solver: str | Solver = "auto",
        n_init: int = 1,
        max_iter: int = 5000,
        tol: float = 1e-5,
        check_every: int = 10,
        random_state: RandomState = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> Solution:
        """Minimise, or maximise, the objective.

        Parameters
        ----------
        start : array, or shape (rows, columns), or dict of these by factor
            Start; a shape stands for random numbers, uniform in (0, 1).
        solver : {"auto", "adaptive", "line-search", "multiplicative"} or Solver, default="auto"
            "auto" is "adaptive", exponents that grow from the proven one, if bounds are known; "line-search" if they are not;
            and "multiplicative", with the proven exponent or else 1/2, if J is not given. `solvers.Additive` runs ONL Eq. 8, NNP
            Eq. 7 and, with the terms of the normalisation in the parts, Eq. 14 with any B.
        n_init : int, default=1
            Starts; the best end is returned.
        max_iter : int, default=5000
        tol : float, default=1e-5
            As in `nonneg.factorize`; without J, the largest relative change of a factor in one iteration. 0 runs to `max_iter`.
        check_every : int, default=10
        random_state : int, Generator, RandomState or None
        verbose : int, default=0
        callback : callable, optional
            Called at every check with a `Progress`; returning True ends the run.

        Returns
        -------
        Solution
            ``status`` is "unchecked" if the run came to rest and J is not given.
        """
        if not is_count(n_init, 1):
            raise IncompatibleError(f"n_init must be an int of at least 1; got {n_init!r}.")
        given, generator = self._read_start(start), make_generator(random_state)
        stepper = self._solver(solver)
        if n_init > 1 and self.value is None:
            raise IncompatibleError(f"n_init={n_init} starts cannot be compared without the value of J; use n_init=1.")
        if n_init > 1 and not any(isinstance(one, tuple) for one in given.values()):
            raise IncompatibleError(f"start gives the factors, so n_init={n_init} would repeat the same run. Use n_init=1.")
        has_value = self.value is not None
        stopping = Stopping(tol if has_value else 0.0, max_iter, check_every, step_tol=0.0 if has_value else tol)
        context = Context(callback, verbose=bool(verbose))
        found: list[Solution] = []
        with context.watching():
            for number in range(n_init):
                own = StartContext(context, number, n_init)
                factors = {name: self._drawn(name, one, given, generator) for name, one in given.items()}
                problem = OwnProblem(self, factors)
                point = problem.point(factors) if number else _checked(problem, factors)
                found.append(own.solved(point.problem, stopping, partial(self._solution, point, stepper, stopping, own)))
                if context.interrupt.is_set():
                    break
        best = min(found, key=lambda solution: solution.scaled_objective if len(found) > 1 else 0.0)
        best = replace(best, strategy=self.explain(start, solver))
        if context.interrupt.is_set():
            stopped = Stopped("The optimisation was interrupted; `solution` is the best so far.")
            stopped.solution = best
            raise stopped
        return best

    def explain(self, start: Any, solver: str | Solver = "auto") -> Explanation:
        """Explain how `optimize` would be done, without doing it."""
        given, stepper = self._read_start(start), self._solver(solver)
        shapes = ", ".join(f"{name} {' × '.join(map(str, _shape(one)))}" for name, one in given.items())
        is_drawn = any(isinstance(one, tuple) for one in given.values())
        exponents = ", ".join(fraction(rule.exponent) if rule.is_proven else "none known" for rule in self.rules.values())
        steps = (
            Step("start", "uniform in (0, 1)" if is_drawn else "given"),
            Step("descend", stepper.title, f"proven exponent: {exponents}; J {'is' if self.value is not None else 'is not'} given"),
        )
        held = sum(int(getattr(matrix, "nnz", matrix.size)) for matrix in (*self.given.values(), *self._split.values()))
        memory = f"{held} entries of given matrices and their parts"
        return Explanation(f"none; learned: {shapes}", self.line, "none", steps, memory, "none")

    def _solver(self, solver: str | Solver) -> Solver:
        """The solver of a name; without proven exponents, the multiplicative one has ½."""
        is_proven = all(rule.is_proven for rule in self.rules.values())
        named: dict[str, Solver] = {
            "adaptive": Adaptive(),
            "line-search": LineSearch(),
            "multiplicative": Multiplicative() if is_proven else Multiplicative(exponent=0.5),
        }
        auto = "multiplicative" if self.value is None else "adaptive" if is_proven else "line-search"
        if isinstance(solver, str) and solver not in ("auto", *named):
            raise unknown("solver", solver, ("auto", *named), "an object of nonneg.solvers")
        found = named[auto if solver == "auto" else solver] if isinstance(solver, str) else solver
        if not isinstance(found, Adaptive | Additive | Multiplicative) or getattr(found, "rescale", False):
            raise IncompatibleError(
                f"{solver!r} is for products with X, and a user's objective has none; use one of {', '.join(map(repr, named))}, or "
                "nonneg.solvers.Additive()."
            )
        if isinstance(found, Adaptive) and self.value is None:
            raise IncompatibleError(f"solver={solver!r} compares values of J; give value, or use 'multiplicative'.")
        if type(found) is Adaptive and not is_proven:
            raise IncompatibleError(
                f"solver={solver!r} falls back on a proven exponent, and none is known. Give bounds, or use 'line-search'."
            )
        return found

    def _read_start(self, start: Any) -> dict[str, Any]:
        """For each factor its shape, or an array, checked."""
        if not isinstance(start, Mapping):
            if len(self.learned) > 1:
                raise IncompatibleError(f"start must be a dict with an array or a shape for each of {', '.join(self.learned)}.")
            start = {self.learned[0]: start}
        if set(start) != set(self.learned):
            raise IncompatibleError(f"start is for {', '.join(map(str, start))}; the factors are {', '.join(self.learned)}.")
        found = {name: _read_factor(name, start[name]) for name in self.learned}
        for name, one in found.items():
            reason = self.constraints[name].problem_with(name, _shape(one))
            if reason is not None:
                raise ShapeError(reason)
        return found

    def _drawn(self, name: str, one: Any, given: Mapping[str, Any], generator: Any) -> Array:
        """A factor to begin with."""
        if not isinstance(one, tuple):
            return one
        arrays = [array for array in (*given.values(), *self.given.values()) if is_array(array)]
        namespace = namespace_of(arrays[0]) if arrays else Namespace(np, np.dtype(np.float64), "cpu")
        factor = namespace.asarray(generator.uniform(np.nextafter(0, 1), 1, one))
        return self.constraints[name].restore(namespace.xp, factor)

    def _solution(self, point: OwnPoint, solver: Solver, stopping: Stopping, callback: Callback) -> Solution:
        """The end of a run from a point."""
        own = callback if self.value is not None else lambda progress: callback(replace(progress, objective=math.nan))
        guarded = _Guarded(solver)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            run = solve(begin(point.problem, point.factors, guarded, stopping), guarded, stopping, own)
        status, objective, history = run.status, point.problem.objective_to_user(run.best.objective()[0]), run.history
        assert status is not None
        if point.problem.refusals:
            status = Status.NO_PROGRESS
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"{point.problem.refusals[0]}; stopped after {run.n_iter - 1} iterations.",
                ConvergenceWarning,
                stacklevel=users_line(),
            )
        if self.value is None:
            objective, history = math.nan, History([replace(record, objective=math.nan) for record in history])
            status = Status.UNCHECKED if status is Status.CONVERGED else status
        return Solution(
            factors=dict(run.best.factors),
            objective=objective,
            history=history,
            n_iter=run.n_iter,
            status=status,
            model=self,  # type: ignore[arg-type]
            scaled_objective=run.best.objective()[0],
            solver="line-search" if isinstance(solver, LineSearch) else type(solver).__name__.lower(),
        )


def _source(constraint: Constraint, bounds: Bounds | None, simplified: bool) -> str:
    """The equation of a rule of any J(W)."""
    kinds = {"QNMF Theorem 1, Eq. 8": ("free", 9, 18), "QNMF Theorem 3, Eq. 11": ("orthogonal", 12, 20)}
    theorem = "QNMF Theorem 1, Eq. 8" if constraint.is_free else constraint.theorem
    if theorem not in kinds:
        return theorem
    kind, plain, root = kinds[theorem]
    number = f"{root}" if bounds is not None and bounds.exponent == 0.5 else f"{plain}"
    other = "" if bounds is not None and bounds.exponent in (0.5, 1.0) else f" (exponent 1; Eq. {root}, 1/2)"
    return f"ONL Eq. {number}{other}, the {kind} rule of any J(W); {theorem}" + (", simplified (ONL Fig. 4)" if simplified else "")


def _by_name(given: Any, names: tuple[str, ...], what: str, read: Callable[[Any], Any]) -> dict[str, Any]:
    """One for each factor, from one for all or a dict."""
    if not isinstance(given, Mapping):
        return {name: read(given) for name in names}
    for name in given:
        if name not in names:
            raise IncompatibleError(f"{what} names {name!r}, which is no factor; the factors are {', '.join(names)}.")
    return {name: read(given.get(name)) for name in names if what == "constraints" or name in given}


def _read_bounds(given: Any) -> Bounds:
    try:
        psi_max, psi_min = given
    except (TypeError, ValueError):
        psi_max = psi_min = None
    if not (is_number(psi_max) and is_number(psi_min) and psi_max > psi_min):
        raise IncompatibleError(f"bounds must be (ψmax, ψmin), two numbers of which the first is larger; got {given!r}.")
    return Bounds(float(psi_max), float(psi_min))


def _read_given(name: str, matrix: Any) -> Array:
    """A given matrix, of either sign."""
    found = read_data(matrix, f"given[{name!r}]", signed=True).itself()
    if found.ndim != 2:
        raise ShapeError(f"given[{name!r}] must be a matrix; its shape is {found.shape}.")
    return found


def _shape(one: Any) -> tuple[int, int]:
    return one if isinstance(one, tuple) else tuple(one.shape)


def _read_factor(name: str, one: Any) -> Any:
    """A shape, or an array without negative entries."""
    if isinstance(one, tuple | list) and len(one) == 2 and all(is_count(size, 1) for size in one):
        return tuple(map(int, one))
    data = read_data(one, f"start[{name!r}]")
    if not data.facts.highest > 0:
        raise DataError(f"start[{name!r}] is zero everywhere, and a multiplicative rule cannot leave zero.")
    return as_dense(data.itself())


class OwnProblem:
    """A user's objective with factors of given shapes, as a problem of a run."""

    def __init__(self, model: Objective, factors: Mapping[str, Array]) -> None:
        self.model, self.learned = model, model.learned
        self.namespace = namespace_of(next(iter(factors.values())))
        self.eps, self.units, self.adrift = self.namespace.eps, Units(), frozenset[str]()
        self.data = self.user_data = SimpleNamespace(log=None)
        self.signature = SimpleNamespace(data=SimpleNamespace(out_of_core=False))
        self.matrices = {name: _source_of(matrix) for name, matrix in {**model.given, **model._split}.items()}
        self.refusals: list[str] = []
        """Why the last step could not be taken."""

    passes = 0
    objective_to_user = Problem.objective_to_user

    def point(self, factors: Mapping[str, Array]) -> OwnPoint:
        own: Any = self
        return OwnPoint(own, {name: self.namespace.in_rows(factors[name]) for name in self.learned}, {})


class _RefusalError(Exception):
    """A side of a rule has negative entries, or is not finite."""


class OwnPoint(Point):
    """The factors of a user's objective at one moment, with the products that are known."""

    __slots__ = ()
    problem: Any

    def bare(self) -> OwnPoint:
        bare = OwnPoint(self.problem, self.factors, {})
        bare.measured = self.measured
        return bare

    def copy(self) -> OwnPoint:
        same = OwnPoint(self.problem, self.factors, dict(self.known))
        same.measured = self.measured
        return same

    def with_factor(self, name: str, value: Array) -> OwnPoint:
        return OwnPoint(self.problem, {**self.factors, name: as_type(value, self.problem.namespace.dtype)}, {})

    def sides(self, factor: str) -> tuple[Array, Array]:
        rule, xp = self.problem.model.rules[factor], self.problem.namespace.xp
        numerator, denominator = (self._added(part, factor) for part in (rule.numerator, rule.denominator))
        terms = rule.constraint.multipliers(xp, self.factors[factor], denominator, numerator)
        sides = (numerator, denominator) if terms is None else rule.law.lagrangian(numerator, denominator, *terms)
        for name, side in zip(("numerator", "denominator"), sides, strict=True):
            if not bool(xp.all(side >= 0)):
                raise _RefusalError(f"The {name} of the rule of {factor} has negative entries, or such that are not finite")
        return sides

    def gradient(self, factor: str) -> tuple[Array, Array]:
        rule = self.problem.model.rules[factor]
        return self._added(rule.positive, factor), self._added(rule.negative, factor)

    def kkt_residual(self) -> float:
        try:
            return super().kkt_residual()
        except _RefusalError:
            return 1.0

    def objective(self, factor: str | None = None) -> tuple[float, float]:
        if self.measured is None:
            model = self.problem.model
            values = [(float(c), self._trace(word)) for word, c in model._traces] if model._traces is not None else []
            terms = [coefficient * value for coefficient, value in values]
            if callable(model.value):
                terms = [_number(model.value(*self.factors.values()))]
            elif model.value is None:  # zero, unless something went wrong
                terms = [0.0 * sum(float(self.problem.namespace.xp.sum(F)) for F in self.factors.values())]
            sign = -1.0 if model.maximize else 1.0
            xp, constraints = self.problem.namespace.xp, model.constraints
            penalties = (constraints[name].penalty(xp, F) for name, F in self.factors.items())
            added = sum(float(penalty) for penalty in penalties if penalty is not None)
            self.measured = sign * sum(terms) + added, sum(map(abs, terms)) + added
        return self.measured

    def best_scale(self, factor: str | None = None) -> float:
        raise IncompatibleError("A user's objective has no best scale.")

    def _added(self, part: Sum, factor: str) -> Array:
        """A sum of words."""
        total: Any = None
        for word, coefficient in part:
            value = self._value(word, factor)
            value = value if coefficient == 1 else value * float(coefficient)
            total = value if total is None else total + value
        return 0.0 * self.factors[factor] if total is None else total

    def _value(self, word: Word, factor: str) -> Array:
        """The value of a part of the gradient at the point, in the shape of the factor; computed once."""
        if word not in self.known:
            xp, F = self.problem.namespace.xp, self.factors[factor]
            named = {name: self._letter(name, factor) for name in word.names}
            try:
                value = as_dense(_product(word, named)) if word else xp.eye(*F.shape, dtype=F.dtype, device=F.device)
            except ValueError as error:
                raise ShapeError(f"The product {word} cannot be formed: {_shapes_of(word, named)}.") from error
            if tuple(value.shape) != tuple(F.shape):
                raise ShapeError(f"The part {word} must have the shape of {factor}, {tuple(F.shape)}; it is {tuple(value.shape)}.")
            self.known[word] = value
        return self.known[word]

    def _letter(self, name: str, factor: str) -> Array:
        """A matrix by its letter; a part of the gradient is computed once at a point."""
        if name in self.factors:
            return self.factors[name]
        if name in self.problem.matrices:
            return self.problem.matrices[name]
        key = Word([Letter(name)])
        if key not in self.known:
            F, function = self.factors[factor], self.problem.model._functions[name]
            value = function(*self.factors.values())
            if not is_array(value) or tuple(value.shape) != tuple(F.shape):
                raise ShapeError(
                    f"{name} must be an array of the shape of {factor}, {tuple(F.shape)}; the function gave "
                    f"{tuple(value.shape) if is_array(value) else repr(value)[:60]}."
                )
            self.known[key] = value
        return self.known[key]

    def _trace(self, word: Word) -> float:
        """tr(word), with a learned factor last, so that no large product is formed."""
        place = max((place for place, letter in enumerate(word) if letter.name in self.factors), default=len(word) - 1)
        last, rest = word[place : place + 1], word[place + 1 :] + word[:place]
        named = {name: self.factors.get(name, self.problem.matrices.get(name)) for name in word.names}
        xp = self.problem.namespace.xp
        matrix = _product(last, named)
        try:
            other = _product(rest.T, named) if rest else None
            return float((matrix if other is None else matrix * other).sum() if other is not None else xp.trace(as_dense(matrix)))
        except ValueError as error:
            raise ShapeError(f"tr({word}) cannot be formed: {_shapes_of(word, named)}.") from error


def _source_of(matrix: Array) -> Any:
    """A matrix as products take it: sparse ones as data."""
    return read_data(matrix, signed=True) if sparse.issparse(matrix) else matrix


def _product(word: Word, named: Mapping[str, Any]) -> Any:
    """The product of a word of arrays and data, in the cheapest order."""
    data = {name: one for name, one in named.items() if isinstance(one, Data)}
    return multiply(word, {name: one for name, one in named.items() if name not in data}, data)


def _shapes_of(word: Word, named: Mapping[str, Array]) -> str:
    return ", ".join(f"{name} is {' × '.join(map(str, named[name].shape))}" for name in word.names)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise IncompatibleError(f"value must give one number; it gave {value!r:.60}.") from None


@dataclass(frozen=True)
class _Guarded(Solver):
    """A solver that stops at a negative side of a rule, and says why."""

    solver: Solver

    def new_state(self, problem: Any) -> State:
        return self.solver.new_state(problem)

    def step(self, point: Any, state: Any) -> Any:
        try:
            return self.solver.step(point, state)
        except _RefusalError as refused:
            point.problem.refusals.append(str(refused))
            state.stalled = True
            return point


def _checked(problem: OwnProblem, factors: Mapping[str, Array]) -> OwnPoint:
    """The first point, its sides checked, and its gradient compared with differences of J."""
    point, model = problem.point(factors), problem.model
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for name in problem.learned:
            try:
                point.sides(name)
            except _RefusalError as refused:
                raise DataError(f"{refused} at the start. Each part of the gradient is to be non-negative for W ≥ 0.") from None
        if not math.isfinite(point.objective()[0]):
            raise DataError(f"J is {point.objective()[0]} at the start; begin where it is finite.")
        if model.value is not None and not model._is_derived:
            for name in problem.learned:
                _compare(point, name)
    return point


_STEP, _AGREES = 1 / 3, 1e-2
"""Step of a central difference, as a power of eps, and its tolerance, as a share of ∇⁺ + ∇⁻."""


def _compare(point: OwnPoint, factor: str) -> None:
    """Refuse parts whose difference is no positive multiple of the gradient of J, along two directions."""
    model, F = point.problem.model, point.factors[factor]
    xp, h = point.problem.namespace.xp, point.problem.namespace.eps**_STEP
    up, down = point.gradient(factor)
    pattern = np.random.default_rng(0).uniform(0.5, 1.5, (2, *F.shape))
    slopes, differences, sizes = [], [], []
    for weights in pattern:
        D = F * point.problem.namespace.asarray(weights)
        ahead, behind = (OwnPoint(point.problem, {**point.factors, factor: F + sign * h * D}, {}) for sign in (1, -1))
        penalty = model.constraints[factor].penalty
        own = sum(sign * float(penalty(xp, one.factors[factor]) or 0.0) for sign, one in ((1, ahead), (-1, behind)))
        differences.append((ahead.objective()[0] - behind.objective()[0] - own) / (2 * h))
        slopes.append(float(xp.sum((up - down) * D)))
        sizes.append(float(xp.sum((up + down) * D)))
    scale = sum(s * d for s, d in zip(slopes, differences, strict=True)) / (sum(s * s for s in slopes) or 1.0)
    agrees = all(abs(d - scale * s) <= _AGREES * abs(scale) * size for s, d, size in zip(slopes, differences, sizes, strict=True))
    if not (scale > 0 and agrees) and max(map(abs, differences)) > 0:
        raise IncompatibleError(
            f"positive − negative is not the gradient of J by {factor}: along a direction at the start it is {slopes[0]:.6g}, and "
            f"J has a difference quotient of {differences[0]:.6g}. For an objective to be maximised, give maximize=True."
        )
