"""A problem solved from one start, and measured at given factors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data import Data, Need, Request
from ..data.weighted import count_missing
from ..divergences.base import Operand
from ..exceptions import DataError
from ..kernels.namespace import Array
from ..kernels.threads import suited_to
from ..model import Model
from .checkpoints import CheckpointWriter
from .filling import Filling, inside, with_first_fill
from .initialization import RandomState, initial_factors
from .point import Point
from .problem import Problem, Units, point_at, read_init
from .run import Callback, Run, begin, solve, solve_all
from .signature import component_axes
from .solution import Solution, Status
from .solvers import Solver, solver_for
from .stopping import Stopping
from .surrogate import Surrogate

_CANCELLED, _CANCELLED_FAR = 1e6, 1e3
"""Multiples of rounding below which a difference of large terms has lost too many digits; the second for data out of core, of which
an exact sum takes a pass or two."""


def solve_from(
    problem: Problem,
    init: str | Mapping[str, Any],
    solver: str | Solver,
    stopping: Stopping,
    random_state: RandomState = None,
    callback: Callback | None = None,
    *,
    surrogate: Surrogate | None = None,
    writer: CheckpointWriter | None = None,
) -> Solution:
    """The solution that one solver reaches from one initialization: of X itself, or in rounds on its surrogate."""
    solver = solver_for(problem.signature, solver)
    size = problem.data.size * max(min(shape) for shape in problem.shapes.values())
    with suited_to(size), np.errstate(over="ignore", invalid="ignore"):  # the status says if something is not finite
        near = surrogate.small if surrogate is not None and problem.signature.data.out_of_core else problem
        is_begun = writer is not None and writer.is_begun
        factors = {} if is_begun else start_factors(near, init, random_state, keeps_zeros=not stopping.max_iter)
        if surrogate is None:
            stepper = solver if problem.partial is None else Filling(solver)
            filled = problem if problem.partial is None else with_first_fill(problem, factors)
            run = (writer.run(problem) if writer is not None else None) or begin(filled, factors, stepper, stopping)
            factors.clear()  # frees memory: the run needs them no more
            run = solve(run, stepper, stopping, callback, write=None if writer is None else writer.write)
        else:
            run = surrogate.solve(factors, solver, stopping, callback, writer)
    if writer is not None:
        writer.filling = run.best.problem.filling
    return solution_of(problem, run, solver)


def solve_all_from(
    problem: Problem,
    inits: Sequence[str | Mapping[str, Any]],
    solver: Solver,
    stopping: Stopping,
    seeds: Sequence[RandomState],
    callbacks: Sequence[Callback],
    surrogate: Surrogate | None = None,
    ranks: Sequence[int] | None = None,
) -> list[Solution]:
    """The solutions that one solver reaches from several initializations, of which it moves a batch at a time.

    With `ranks`, later components of each are zero from the beginning, and stay so.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        several = [start_factors(problem, init, seed) for init, seed in zip(inits, seeds, strict=True)]
        if ranks is not None:
            several = [_with_few(problem, factors, rank) for factors, rank in zip(several, ranks, strict=True)]
        if surrogate is None:
            begun = [begin(problem, factors, solver, stopping) for factors in several]
            runs = solve_all(begun, solver, [stopping] * len(begun), callbacks)
        else:
            runs = surrogate.solve_all(several, solver, stopping, callbacks)
        return [solution_of(problem, run, solver) for run in runs]


def _with_few(problem: Problem, factors: Mapping[str, Array], rank: int) -> dict[str, Array]:
    """Factors with zeros for all but the first components."""
    namespace, axes = problem.namespace, component_axes(problem.model)
    few = {name: namespace.asarray(np.arange(factor.shape[axes[name]]) < rank) for name, factor in factors.items()}
    return {name: factor * (few[name][:, None] if axes[name] == 0 else few[name]) for name, factor in factors.items()}


def solution_of(problem: Problem, run: Run, solver: Solver) -> Solution:
    """The solution at the end of a run."""
    assert run.status is not None
    own, model = run.best.problem, problem.user_model
    everything = _final_factors(problem, run.best)
    is_plain = own.partial is None and not problem.model.weighted
    return Solution(
        factors={name: everything[name] for name in model.form.names if name != model.data},
        objective=_objective(run.best, everything),
        history=run.history,
        n_iter=run.n_iter,
        status=run.status,
        model=model,
        data=None if model.data not in model.form.names else own.user_data if is_plain else inside(own),
        scaled_objective=run.best.objective()[0],
        solver=vars(type(solver)).get("name") or type(solver).__name__,
    )


def _final_factors(problem: Problem, point: Point) -> dict[str, Array]:
    """The factors to return: in the units of the user, and with the sum of X if the divergence leaves the scale open."""
    own, model, factors = point.problem, problem.model, point.factors
    free = [name for name in model.learned if model.constraints[name].is_free]
    if model.divergence.scale_invariant and free:
        scale = problem.point(factors).best_scale() if model.divergence.approximates else 1.0
        factors = factors | {free[0]: factors[free[0]] * scale ** (1 / model.form.count(free[0]))}
    if own.partial is not None or problem.model.weighted:
        factors = _without_unknown(own, factors)
    return problem.units.to_user(factors | problem.fixed)


def with_all_digits(problem: Problem, solution: Solution) -> Solution:
    """The solution with its objective summed entry by entry, if the difference of sums as large as ΣX² has lost digits."""
    model, data, units = problem.model, problem.data, problem.units
    out_of_core = problem.signature.data.out_of_core
    stopped = (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK) if out_of_core else ()  # a pass takes long
    is_over = bool(solution.history) and solution.status not in (*stopped, Status.NON_FINITE)
    is_partial = model.weighted or problem.partial is not None or model.signed
    has_penalty = any(constraint.has_penalty for constraint in model.constraints.values())
    if not model.divergence.is_quadratic or is_partial or has_penalty or not is_over:
        return solution
    rounding = data.namespace.eps * data.power_sum(2)
    if solution.scaled_objective >= (_CANCELLED_FAR if out_of_core else _CANCELLED) * rounding or not _has_all_entries(data):
        return solution
    learned = {name: solution.factors[name] for name in problem.learned}
    value = problem.point(units.from_user(learned)).objective_by_entries()
    objective = units.objective_to_user(value)
    is_last = solution.objective == solution.history[-1].objective  # or an earlier point was lower
    last = {"objective": objective} if is_last else {}
    history = solution.history.ending_with(**last, readings=problem.passes)
    return replace(solution, objective=objective, scaled_objective=value, history=history)


def _has_all_entries(data: Data) -> bool:
    """Whether data can be gone over entry by entry, and zeros are stored as others are: they would not be gone over."""
    return Need.ENTRIES in data.costs.gives and data.size == data.shape[0] * data.shape[1]


def _without_unknown(problem: Problem, factors: dict[str, Array]) -> dict[str, Array]:
    """The factors with zeros for rows and columns of X without a known entry."""
    data, form, xp = problem.data, problem.model.form, problem.namespace.xp
    if problem.partial is not None and problem.model.data not in form.names:
        data = problem.partial
    if not count_missing(data):
        return factors
    known = data.visit(
        problem.namespace.ones(data.shape[0], 1),
        problem.namespace.ones(1, data.shape[1]),
        [
            Request(Operand(0, 0), "right", problem.namespace.ones(data.shape[1], 1)),
            Request(Operand(0, 0), "left", problem.namespace.ones(1, data.shape[0])),
        ],
    )[0]
    found = dict(factors)
    for letter, counts, is_last in ((form[0], known[0], False), (form[-1], known[1], True)):
        if letter.name in factors and form.count(letter.name) == 1 and not bool(xp.all(counts > 0)):
            by_rows = letter.transposed == is_last
            seen = xp.reshape(counts > 0, (-1, 1) if by_rows else (1, -1))
            found[letter.name] = xp.where(seen, found[letter.name], 0.0 * found[letter.name])
    return found


def start_factors(
    problem: Problem, init: str | Mapping[str, Any], random_state: RandomState, *, keeps_zeros: bool = False
) -> dict[str, Array]:
    """The factors that a run begins with, in the units of the problem; given zeros become tiny numbers, unless no step follows."""
    model, units, xp = problem.user_model, problem.units, problem.namespace.xp
    given = read_init(init, model, problem.namespace)
    learned = {name: array for name, array in given.items() if name not in model.fixed}
    for name, array in learned.items():
        array = array * units.sides[name] if name in units.sides else array
        learned[name] = _in_reach(problem, array, units.factors[name]) if units.factors.get(name, 1.0) != 1 else array
    factors = initial_factors(problem, "random" if isinstance(init, Mapping) else init, learned, random_state)
    if model.fixed and model.divergence.infinite_at_zero:
        _check_reach(problem.point(factors))
    if keeps_zeros and isinstance(init, Mapping):
        own = {name: problem.namespace.asarray(init[name]) for name in factors if name in init}
        factors |= {name: xp.where(array != 0, factors[name], 0.0 * factors[name]) for name, array in own.items()}
    return factors


def _in_reach(problem: Problem, factor: Array, unit: float) -> Array:
    """A given start in units of the problem; if it is so far from the scale of the data that it would over- or underflow, as far as
    floats reach.
    """
    namespace = problem.namespace
    if not bool(namespace.xp.any(factor != 0)):
        return factor
    largest, most = float(namespace.xp.max(abs(factor))), math.log2(namespace.largest)
    doublings = math.log2(largest) - math.log2(unit)
    return factor / unit if abs(doublings) <= most / 3 else factor / largest * 2.0 ** math.copysign(most / 8, doublings)


def _objective(point: Point, factors: Mapping[str, Array]) -> float:
    """The objective of the returned factors, with penalties as the user weighted them; units may have cut off weights."""
    problem, units, model = point.problem, point.problem.units, point.problem.user_model
    with np.errstate(over="ignore", invalid="ignore"):
        objective = problem.objective_to_user(point.objective()[0])
        if units.data == 1 or not any(constraint.has_penalty for constraint in model.constraints.values()):
            return objective
        divergence = units.objective_to_user(point.objective_from(point.sums(model.learned[0]), with_penalties=False)[0])
    return divergence + penalties(model, factors, problem.namespace.xp) if math.isfinite(divergence) else objective


def penalties(model: Model, factors: Mapping[str, Array], xp: Any, names: Sequence[str] | None = None) -> float:
    """Penalties of the constraints of a model, on these factors or on all."""
    constraints = {name: model.constraints[name] for name in (model.learned if names is None else names)}
    terms = (constraint.penalty(xp, factors[name]) for name, constraint in constraints.items())
    with np.errstate(over="ignore"):  # it may be more than a number can hold
        return sum(float(term) for term in terms if term is not None)


def objective_of(X: Any, model: Model, factors: Mapping[str, Array]) -> float:
    """The objective of a model at given factors, without forming X̂ if possible."""
    value, units = _measured(X, model, factors)
    return units.objective_to_user(0.0 - value if model.divergence.maximised else value)


def error_of(X: Any, model: Model, factors: Mapping[str, Array]) -> float:
    """√(2 D) of a model at given factors, also if D itself over- or underflows."""
    value, units = _measured(X, model, factors)
    return Units(doublings=units.doublings / 2).objective_to_user(math.sqrt(2 * max(value, 0.0)))


def _measured(X: Any, model: Model, factors: Mapping[str, Array]) -> tuple[float, Units]:
    """The minimised value, in units in which it is finite, and these units."""
    point = point_at(model, X, factors)
    value, magnitude = point.objective()
    data = point.problem.data
    is_small = value < _CANCELLED * data.namespace.eps * magnitude
    if model.divergence.is_quadratic and not point.problem.model.signed and _has_all_entries(data) and is_small:
        value = point.objective_by_entries()
    return value, point.problem.units


def _check_reach(start: Point) -> None:
    """Refuse fixed factors with X̂ = 0 at positive entries of X, whatever is learned: the divergence is infinite."""
    model = start.problem.model
    unreached = start.unreached()
    if unreached:
        raise DataError(
            f"With the {', '.join(model.fixed)} that is given, {model.form} is zero in {unreached} places where {model.data} is "
            f"not, and {model.divergence!r} is infinite there. Use a divergence that allows it, such as 'euclidean'."
        )
