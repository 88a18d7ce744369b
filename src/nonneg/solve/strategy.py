"""The strategy of a fit: first pass, starts, surrogate and solver, chosen before anything is read or run; and its explanation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..data import Need
from ..exceptions import IncompatibleError
from ..kernels.tuned import tuned
from ..planning.steps import Multiply, SignedPart
from .initialization.sides import outer_sides
from .run import Solver
from .signature import FORMED, Signature
from .solution import Explanation, Step, Took
from .solvers import BlockCoordinate, Coordinate, best_solver, solver_for
from .starts import Batch, Euclidean, Given, Named, OnRows, OnSurrogate, Projective, Search, Start
from .stopping import Stopping
from .surrogate import (
    PER_COMPONENT,
    FirstPass,
    Kind,
    can_compress,
    directions,
    euclidean,
    is_little,
    kind_for,
    most_rounds,
    possible_kind,
    side_of,
)

SEARCH: tuple[Start, ...] = (Search(), Batch(), Named("angular"), Named("angular"), Named("angular"), Named("kmeans"))
"""Starts of a factor F beside the data as F Fᵀ: a search, or the best of clusters."""
PROJECTIVE: tuple[Start, ...] = (Projective(), Named("kmeans"))
"""Starts of W H with one orthogonal factor: its projective form, or clusters."""
FREE_SIDES: tuple[Start, ...] = (Named("angular"), Named("kmeans"), Named("nndsvda"))
"""Starts of free factors of rows and of columns with a matrix between them."""
RANDOM, NNDSVDA = Named("random"), Named("nndsvda")
_SHARED = tuned(2, by="curves", on="2026-11-19")
"""Rounds of a surrogate that several starts share before the best goes on."""


@dataclass(frozen=True)
class Options:
    """The wishes of the user.

    Parameters
    ----------
    init : str, tuple of Start or dict of arrays
        "auto", the name of an initialization, starts to try, or factors.
    solver : str or Solver
    stopping : Stopping
    number : int
        Number of the restart.
    is_warm : bool
        Whether given factors are the end of an earlier fit.
    """

    init: str | tuple[Start, ...] | Mapping[str, Any] = "auto"
    solver: str | Solver = "auto"
    stopping: Stopping = field(default_factory=Stopping)
    number: int = 0
    is_warm: bool = False


@dataclass(frozen=True)
class Stage:
    """Runs of one solver from several points, of which the best goes on.

    Attributes
    ----------
    starts : tuple of Start
        Tried one after the other; empty for the point that the last stage kept.
    solver : Solver
    stopping : Stopping
    on : Kind, optional
        The surrogate that stands for X; None for X itself.
    rounds : int, optional
        Rounds in which starts share passes over X; 0 takes the surrogate as it is, None goes on until the end is a solution for X.
    why : str
        The reason, for people.
    """

    starts: tuple[Start, ...]
    solver: Solver
    stopping: Stopping
    on: Kind | None = None
    rounds: int | None = None
    why: str = ""


@dataclass(frozen=True)
class Strategy:
    """The stages of a fit, and the results of its first pass."""

    stages: tuple[Stage, ...]
    first_pass: FirstPass


def choose(signature: Signature, options: Options) -> Strategy:
    """The strategy for a problem. Nothing is read, nothing is run."""
    solver, stopping = solver_for(signature, options.solver), options.stopping
    kind = _surrogate(signature, options)
    starts, rounds, why = _starts(signature, options, solver, kind)
    last = Stage((), solver.warm(), stopping, kind)
    if len(starts) == 1:
        stages: tuple[Stage, ...] = (replace(last, starts=starts, solver=solver.warm() if starts[0].is_warm else solver, why=why),)
    elif rounds:
        stages = Stage(starts, solver, stopping, kind, rounds, why), last
    else:
        length = max(1, min(solver.trial, stopping.max_iter))
        stages = Stage(starts, solver, replace(stopping, max_iter=length), kind, 0, why), last
    return Strategy(stages, _first_pass(signature, options))


def choose_directly(signature: Signature, options: Options) -> Strategy:
    """The strategy that begins at a given or named start as it is, for `factorize`."""
    start = Given(options.init) if isinstance(options.init, Mapping) else Named(str(options.init))
    solver, kind = solver_for(signature, options.solver), _surrogate(signature, options)
    return Strategy((Stage((start,), solver, options.stopping, kind),), _first_pass(signature, options))


def _surrogate(signature: Signature, options: Options) -> Kind | None:
    """The surrogate, if no solver is asked for, coordinate descent serves, and its end is compared with X.

    Weights are of entries, and other fills would need another sketch. Without a tolerance a run in memory never comes to its end.
    """
    if getattr(options.solver, "surrogate", False):
        kind = possible_kind(signature)
        if kind is None:
            raise IncompatibleError(
                "Coordinate(surrogate=True) is for forms such as 'X W W.T' or 'W H' of data without weights or missing entries; "
                f"got {signature.model.form.text!r}{' with weights' if signature.has_weights else ''}. Use solver='auto'."
            )
        return kind
    is_certified = bool(options.stopping.tol) or signature.data.out_of_core
    if signature.is_filled or options.solver != "auto" or not is_certified:
        return None
    return kind_for(signature) if isinstance(best_solver(signature), Coordinate | BlockCoordinate) else None


def _starts(signature: Signature, options: Options, solver: Solver, kind: Kind | None) -> tuple[tuple[Start, ...], int, str]:
    """Starts to try, rounds that they share, and why."""
    if isinstance(options.init, Mapping):
        return (Given(options.init, is_warm=options.is_warm),), 0, ""
    candidates = _candidates(signature, options.init, is_restart=options.number > 0)
    made = [start for start in candidates if not isinstance(start, Named)]
    named = tuple(start for start in candidates if isinstance(start, Named))
    if signature.data.out_of_core and kind is None:
        candidates = () if named[0] == RANDOM else (OnSurrogate(named[0].name),)
        named = named[:1]
    elif candidates == (NNDSVDA,) and options.init != NNDSVDA.name:
        if kind is Kind.LOW_RANK and is_little(signature):
            return (NNDSVDA, RANDOM, RANDOM), _SHARED, "three starts share the passes of one"
        candidates = (Euclidean(NNDSVDA.name), *(() if kind else (OnRows(NNDSVDA.name),)))
    else:
        candidates = ()
    for start in (*candidates, *made):
        if start.applies(signature, solver):
            return (start,), 0, start.why
    return named, 0, "local minima differ, and it shows early" if len(named) > 1 else ""


def _candidates(signature: Signature, init: str | tuple[Start, ...], *, is_restart: bool) -> tuple[Start, ...]:
    """The user's starts, or the form's default ones; restarts of a deterministic start are random."""
    if isinstance(init, str) and init != "auto":
        return (Named(init),)
    candidates = init if isinstance(init, tuple) else default_starts(signature)
    return (RANDOM,) if is_restart and not any(start.varies for start in candidates) else candidates


def default_starts(signature: Signature) -> tuple[Start, ...]:
    """The starts that suit a form, best first.

    A factor beside its own transpose groups rows or columns: by a search, or by clusters of them. Factors of rows and of columns
    with dimensions of their own are co-clusters, or, if they are free, the best of clusters and singular vectors. Two free factors
    that share a dimension are best made of singular vectors; if one is orthogonal, of the projective form, or of clusters. With
    more components than items there are no clusters of them.
    """
    model = signature.model
    if not model.divergence.approximates:
        return (RANDOM,)
    outer = outer_sides(model)
    inner = {dimension for *_, dimension in outer}
    if not outer or any(signature.shapes[name][1 - axis] > signature.shapes[name][axis] for name, axis, *_ in outer):
        return (RANDOM,)
    is_orthogonal = any(constraint.orthogonal_axis is not None for constraint in model.constraints.values())
    if len(model.learned) == 1 and model.form.count(model.learned[0]) == 2 and len(inner) == 1:
        return SEARCH
    if len(inner) == 2:
        return (Named("coclusters"),) if is_orthogonal or len(model.form) > 3 else FREE_SIDES
    if len(model.learned) == 2 and len(model.form) == 2:
        return PROJECTIVE if is_orthogonal else (NNDSVDA,)
    return RANDOM, Named("kmeans")


# ---- the first pass


def _first_pass(signature: Signature, options: Options) -> FirstPass:
    """The sums of the objective; of data out of core also the beginning of a surrogate, for starts or runs."""
    model = signature.model
    sums = FirstPass(model.divergence.totals, signed=model.data in model.signed)
    is_wanted = options.solver == "auto" or getattr(options.solver, "surrogate", False)
    if not signature.data.out_of_core or signature.data.weighted or not is_wanted:
        return sums
    twin = signature if Need.ENTRIES not in model.needs else replace(signature, model=euclidean(model) or model)
    if can_compress(twin):
        return replace(sums, surrogate=Kind.LOW_RANK, size=directions(twin))
    side = side_of(twin)
    if side is not None and signature.data.shape[1 if side == "rows" else 0] > FORMED * signature.rank:
        return replace(sums, surrogate=Kind.SKETCH, size=signature.rank, side=side)
    return sums


# ---- the explanation

_COPIES = 5
"""Arrays of the size of the factors that a run holds: the point, the best, the last, and two during an update."""
_PRODUCTS = 4
"""Products of X with its factors that a run holds."""
_FORMED = 5
"""Arrays of the size of a formed product: itself, its root, and their decomposition."""
_SIDES = {"rows": "XᵀX", "columns": "XXᵀ"}


def explain_strategy(
    signature: Signature, strategy: Strategy, solved: str, restarts: int = 1, took: Sequence[Took] = ()
) -> Explanation:
    """The explanation of a strategy for a problem.

    Parameters
    ----------
    signature : Signature
    strategy : Strategy
    solved : str
        The model, in a line.
    restarts : int
    took : sequence of Took
        After a fit, the cost of each step.
    """
    data, first, costs = signature.data, strategy.first_pass, signature.planner.costs
    rows, columns = data.shape
    name = signature.model.data
    words = sorted((word for word in signature.planner.constants if name in word.names and len(word) > 1), key=str)
    texts = (str(word).replace(" ", "") if word.is_gram else str(word) for word in words)
    formed = [f"{text} ({' × '.join(map(str, costs.shape(word)))})" for text, word in zip(texts, words, strict=True)]
    is_whole = data.non_zeros >= rows * columns or data.out_of_core
    entries = f", {data.non_zeros / max(rows * columns, 1):.3g} of its entries non-zero" if not is_whole else ""
    known = ", entries weighted" if data.weighted or signature.has_weights else ", all entries known"
    known = ", missing entries filled by the model" if signature.is_filled else known
    place = "read in blocks" if data.out_of_core else "in memory" if data.on_host else "on a device"
    dtype = getattr(data.dtype, "__name__", None) or str(data.dtype).rsplit(".", 1)[-1]  # of numpy.float32 and of torch.float32
    collected = ["extremes"]
    for kind, power in first.totals:
        of = {1.0: "X", 2.0: "X²"}.get(power, f"X^{power:g}")
        collected.append(f"Σ{of}" if kind == "power" else f"Σ{of} ln X")
    if first.side is not None:
        collected.append(f"{PER_COMPONENT * first.size} directions of {_SIDES[first.side]}")
    if first.surrogate is Kind.LOW_RANK:
        collected.append(f"{first.size} directions of rows and of columns")
    return Explanation(
        data=f"{rows} × {columns}, {data.storage} {dtype}{entries}{known}, {place}",
        solved=solved,
        first_pass=", ".join(dict.fromkeys(collected)) + (f"; then {' and '.join(formed)}" if formed else ""),
        steps=_steps(signature, strategy, restarts, formed, took),
        memory=f"about {_memory(signature, strategy)} beyond X",
        passes=_passes(signature, strategy.stages[-1]),
        device=data.device,
    )


def _steps(signature: Signature, strategy: Strategy, restarts: int, formed: list[str], took: Sequence[Took]) -> tuple[Step, Step]:
    """The start, and the descent."""
    first, last, side = strategy.stages[0], strategy.stages[-1], side_of(signature)
    stopping, tol = last.stopping, last.stopping.tol or last.stopping.step_tol
    on = next((f" on {text}" for text in ("XᵀX", "XXᵀ") if any(word.startswith(text) for word in formed)), "")
    why = ""
    if last.on is not None:
        is_sketch = last.on is Kind.SKETCH
        of = f"a sketch of {_SIDES[side] if side else 'X'}"
        on = f" on {of}" if is_sketch else f" on a low-rank surrogate of X, {directions(signature)} directions"
        why = "a round on it takes one pass" if signature.data.out_of_core else "it is much smaller than X"
    if first is last:
        (start,) = last.starts
        text = f"{start}{on if start.searches else ''}"
    else:
        names = [str(start) for start in first.starts]
        counted = (f"{name} × {names.count(name)}" if names.count(name) > 1 else name for name in dict.fromkeys(names))
        length = f"{first.rounds} passes that they share" if first.rounds else f"{first.stopping.max_iter} iterations"
        text = f"the best of {', '.join(counted)} after {length}"
    parts = [
        f"{last.solver.title or type(last.solver).__name__}{on}",
        *([f"until steady within {tol:g}"] if tol else []),
        f"at most {stopping.max_iter} iterations" if stopping.tol else f"{stopping.max_iter} iterations",
        *([f"{restarts} restarts"] if restarts > 1 else []),
    ]
    of_start, of_descent = took or (None, None)
    return Step("start", text, first.why, of_start), Step("descend", ", ".join(parts), why, of_descent)


def _passes(signature: Signature, last: Stage) -> str:
    if last.on is not None:
        return f"the first, then one each round, at most {most_rounds(last.on, signature)} rounds"
    planner = signature.planner
    updates = [planner.plan(rule.words, frozenset()) for rule in planner.rules.values()]
    reads = sum(any(not isinstance(step, Multiply | SignedPart) for step in steps) for steps in updates)
    if not reads:
        return "the first; none in an iteration"
    return f"the first, then at most {reads} in an iteration{', more for line searches' if last.solver.searches else ''}"


def _memory(signature: Signature, strategy: Strategy) -> str:
    """Memory of a fit beyond X: factors, their products with X, formed products, the surrogate and the start's own."""
    data, costs, kind = signature.data, signature.planner.costs, strategy.stages[-1].on
    first, side = strategy.stages[0], side_of(signature)
    factors = sum(rows * columns for rows, columns in signature.shapes.values())
    entries: float = (len(first.starts) if first.rounds else 1) * (_COPIES * factors + _PRODUCTS * sum(data.shape) * signature.rank)
    entries += _FORMED * sum(math.prod(costs.shape(word)) for word in signature.planner.constants)
    entries += max((start.entries(signature) for start in first.starts if start.entries is not None), default=0.0)
    if kind is Kind.LOW_RANK:
        entries += 4 * directions(signature) * sum(data.shape)
    if kind is Kind.SKETCH:
        entries += 3 * PER_COMPONENT * signature.rank * data.shape[1 if side == "rows" else 0]
    count = entries * 8.0
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.2g} {unit}" if count < 10 else f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
