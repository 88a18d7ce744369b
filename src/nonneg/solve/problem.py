"""A model bound to data: a `Problem` has shapes, plans, units and constants, and `bind` makes it. No iteration.

`bind` reads and checks the data, normalises weights, and chooses the units; a solver moves a `Point` of the problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

import numpy as np

from ..algebra.expression import Letter, Word, gram_of
from ..data import Data, as_dense, read_data
from ..data.base import items_of
from ..data.weighted import Levelled, Partial, has_gaps, has_weights, imputed, imputed_by, levelled
from ..data.weighted import absorbed as multiplied_in
from ..exceptions import DataError, IncompatibleError, ShapeError
from ..kernels.host import as_type, is_small
from ..kernels.memory import available_bytes, readable
from ..kernels.namespace import Array, Namespace, namespace_of
from ..model import Model
from ..planning import Step, canonical
from ..planning.planner import COLUMNS, ROWS, Term
from .execute import Executable, compile_plan
from .point import Point
from .signature import HORIZON, Signature, infer_shapes


@dataclass(frozen=True)
class Units:
    """Factors between a problem and the data of the user.

    Squares of 1e−200 are zero and squares of 1e200 infinite. Data of such a scale are solved as X/s, s a power of two, so that no
    digit changes.

    Attributes
    ----------
    data : float
        s.
    factors : dict of float
        Multiplies each factor of the solution.
    doublings : float
        Multiplies the objective, as a power of two, which may exceed a float.
    sides : dict of arrays
        Multiplies rows, or columns, of a factor that has taken up weights of the data.
    """

    data: float = 1.0
    factors: Mapping[str, float] = field(default_factory=dict)
    doublings: float = 0.0
    sides: Mapping[str, Array] = field(default_factory=dict)

    def objective_to_user(self, value: float) -> float:
        if not self.doublings or not math.isfinite(value):
            return value
        whole = math.floor(self.doublings)
        try:
            return math.ldexp(value * 2.0 ** (self.doublings - whole), whole)
        except OverflowError:
            return math.copysign(math.inf, value)

    def model_from_user(self, model: Model) -> Model:
        """The model with weights of penalties converted."""
        if self.data == 1 and not self.doublings:
            return model
        constraints = {
            name: constraint.in_units(self.doublings, math.log2(self.factors.get(name, 1.0)))
            for name, constraint in model.constraints.items()
        }
        divergence, _ = model.divergence.in_units(math.log2(self.data))
        return model.with_(divergence=divergence, constraints=constraints)

    def to_user(self, factors: Mapping[str, Array]) -> dict[str, Array]:
        scaled = {name: factor * self.factors[name] if name in self.factors else factor for name, factor in factors.items()}
        for name in self.sides.keys() & scaled.keys():
            side = self.sides[name]
            seen = namespace_of(side).xp.astype(side > 0, side.dtype)
            scaled[name] = scaled[name] * seen / (side + (1 - seen))  # nothing is known of a row without weight
        return scaled

    def from_user(self, factors: Mapping[str, Array]) -> dict[str, Array]:
        weighted = {name: factor * self.sides[name] if name in self.sides else factor for name, factor in factors.items()}
        return {name: factor / self.factors[name] if name in self.factors else factor for name, factor in weighted.items()}


class Problem:
    """A model with its data, in units in which both can be computed with; `bind` makes one.

    Parameters
    ----------
    signature : Signature
        Model, shapes, and the profile of the data.
    data : Data
    fixed : dict of arrays
        The factors that are given.
    units : Units, optional
        Divisors of data and factors.
    user_model : Model, optional
        The model in the user's units.
    user_data : Data, optional
        The data in the user's units.
    partial : Partial, optional
        The known entries of data that are filled.
    """

    def __init__(
        self,
        signature: Signature,
        data: Data,
        fixed: Mapping[str, Array],
        *,
        units: Units | None = None,
        user_model: Model | None = None,
        user_data: Data | None = None,
        partial: Partial | None = None,
    ) -> None:
        self.signature, self.data, self.fixed = signature, data, dict(fixed)
        self.model, self.shapes = signature.model, signature.shapes
        self.learned: tuple[str, ...] = self.model.learned
        """The learned factors, in the order of their updates."""
        self.units, self.user_model, self.user_data = units or Units(), user_model or self.model, user_data or data
        self.namespace: Namespace = data.namespace
        self.partial = partial
        self.filling: Any = None
        """The values of missing entries."""
        model = self.model
        missing = model.needs - data.costs.gives
        if missing:
            raise data.costs.refuse(missing)
        if model.divergence.signed:
            self._check_signs()
        self.adrift = {name for name in model.learned if model.divergence.scale_invariant and model.constraints[name].any_scale}
        """Factors whose scale the objective does not depend on, and may drift."""
        is_made_up = partial is not None and model.data not in model.form.names
        self.has_stray_signs = (data.facts.lowest < 0 or is_made_up) and not model.divergence.signed
        """Whether products may have negative entries: of a sketch, or of data with imputed weights."""
        m, n = data.shape
        self.matrices: dict[str, Array] = {**fixed, ROWS: self.namespace.ones(m, 1), COLUMNS: self.namespace.ones(n, 1)}
        """Constant matrices by name, without X."""
        with np.errstate(over="ignore"):
            self.constant = model.divergence.constant(data)
        if not math.isfinite(self.constant):
            raise DataError(
                f"{model.data} has entries of up to {data.facts.peak:g}, whose {model.divergence!r} is more, or less, than a "
                "number can hold, and no factor is free to take up its scale. Divide it by a number first."
            )
        grams = {side: data.with_itself(side, not side) for side in data.costs.formed_grams}
        X = Letter(model.data)
        self._formed = {canonical(gram_of(X, side))[0]: gram for side, gram in grams.items()}
        """Constant products computed so far."""
        self._lock = RLock()
        self._compiled: dict[Any, Executable] = {}
        self._derived: dict[Any, Any] = {}
        self.planner = signature.planner

    def on(
        self,
        data: Data,
        *,
        model: Model | None = None,
        shapes: Mapping[str, tuple[int, int]] | None = None,
        user_data: Data | None = None,
    ) -> Problem:
        """The same problem for other data: a surrogate, a part of them, or another divergence between the same."""
        signature = Signature.of(model or self.model, data, shapes or self.shapes, self.fixed)
        user_model = self.user_model if model is None else model
        return Problem(signature, data, self.fixed, units=self.units, user_model=user_model, user_data=user_data)

    def _check_signs(self) -> None:
        """Refuse an unconstrained trace whose rule has nothing to divide by, or to multiply with."""
        model, (lowest, highest, *_) = self.model, self.data.facts
        if lowest * highest >= 0 and any(model.constraints[name].needs_both_parts for name in model.learned):
            without = "positive" if highest <= 0 else "negative"
            raise DataError(
                f"{model.data} has no {without} entries, so {model.divergence.text(model.data, model.form)} without a constraint "
                "has no rule (ONL Eq. 39 and 40 are a ratio of the two). Constrain the factor to be 'orthogonal'."
            )

    def with_data(self, data: Data, filling: Any, besides: Any = None) -> Problem:
        """The same problem for data with other fills. Plans stay; `besides` adds a constant to the objective."""
        other, divergence = copy(self), self.model.divergence
        other.data, other.filling = data, filling
        other.constant = divergence.constant(data) + (divergence.constant(besides) if besides is not None else 0.0)
        other._formed, other._compiled, other._derived, other._lock = {}, {}, {}, RLock()
        return other

    @property
    def eps(self) -> float:
        """The rounding error of an objective, relative to its terms; sums of float32 may be in double precision."""
        eps = self.namespace.eps
        if not self.planner.costs.sums_in_double:
            return eps
        least = float(np.finfo(np.float64).eps)
        return least if is_small(math.prod(self.data.shape)) else max(least, eps / math.sqrt(self.data.facts.non_zeros))

    @property
    def passes(self) -> int:
        """Passes over X in this fit, if they are counted."""
        log = self.data.log or self.user_data.log
        return 0 if log is None else int(log.of_fit)

    def objective_to_user(self, value: float) -> float:
        """The objective in the user's units, from the minimised value."""
        value = 0.0 - value if self.model.divergence.maximised else value
        return self.units.objective_to_user(value) if self.units.doublings else value

    def point(self, factors: Mapping[str, Array]) -> Point:
        """The point at given factors, in the units of the problem."""
        for name in self.learned:
            if tuple(factors[name].shape) != tuple(self.shapes[name]):
                raise ShapeError(f"{name} must have shape {tuple(self.shapes[name])}; got {tuple(factors[name].shape)}.")
        own = {name: as_type(factors[name], self.namespace.dtype) for name in self.learned}
        return Point(self, {name: self.namespace.in_rows(factor) for name, factor in own.items()}, {})

    def constant_value(self, word: Word) -> Array:
        """The value of a constant product, in its canonical form: computed when first asked for, shared between threads."""
        with self._lock:
            if word not in self._formed:
                point = Point(self, {}, {})
                compile_plan(self, self.planner.plan_constant(word), frozenset()).execute(point)
                self._formed[word] = point.known.pop(word)
            return self._formed[word]

    def compiled(
        self, key: Any, plan: Callable[[], Sequence[Step]], known: frozenset[Word], sides: Sequence[Sequence[Term]] = ()
    ) -> Executable:
        """The plan of a key, compiled once.

        Parameters
        ----------
        key : hashable
        plan : callable
            Makes the steps.
        known : frozenset of Word
            Canonical words that points hold before them.
        sides : sequence of sequences of Term, optional
            The sides of a rule.
        """
        if key not in self._compiled:
            self._compiled[key] = compile_plan(self, plan(), known, sides, fuses=self.data.in_blocks is not None)
        return self._compiled[key]

    def derived(self, make: Callable[[Problem], Any]) -> Any:
        """The result of a function of the problem, computed once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return self._derived[make]


# ---- from a model and data to a problem


def read_for(model: Model, X: Any, given: Mapping[str, Any] | None = None) -> tuple[Model, Data]:
    """The data, checked in one pass, and the model with their signs.

    X may be negative if the model says so, or if given factors are.
    """
    divergence = model.divergence
    negative = {
        name
        for name in model.fixed
        if divergence.takes_signs
        and name in (given or {})
        and read_data((given or {})[name], f"init[{name!r}]", signed=True).facts.lowest < 0
    }
    signed = model.signed | negative | ({model.data} if negative else set())
    inner = model.with_signs(signed & {model.data, *model.fixed}) if signed and divergence.takes_signs else model
    data = read_data(
        X,
        model.data,
        signed=model.data in inner.signed,
        symmetric=divergence.signed,
        positive=divergence.requires_positive_data,
        totals=inner.divergence.totals,
    )
    if divergence.scale_invariant and data.facts.peak == 0:
        raise DataError(f"{model.data} is zero everywhere, and {divergence!r} compares {model.data}/Σ{model.data}, which is 0/0.")
    if signed and divergence.takes_signs:
        model = model.with_signs(negative | ({model.data} if data.facts.lowest < 0 and model.data in signed else set()))
    return model, data


def absorbed(model: Model, data: Data) -> Data:
    """The data multiplied by the roots of weights of rows, or columns, if the form begins, or ends, with X.

    With the Euclidean distance s‖x − x̂‖² = ‖√s x − √s x̂‖², and the form maps √s x to √s x̂.
    """
    form, X = model.form, Letter(model.data)
    if not model.divergence.takes_signs or form.count(model.data) != 1:
        return data
    rows, columns = form[0] == X, form[-1] == X
    return multiplied_in(data, rows, columns) if rows or columns else data


def must_be_filled(model: Model, data: Data) -> bool:
    """Whether X stands in the form and has missing entries."""
    return model.data in model.form.names and has_gaps(data)


def counts_fills(model: Model, data: Any) -> bool:
    """Whether the objective includes filled entries, so that steps and fills lower it in turn."""
    return bool(model.divergence.takes_signs) and not has_weights(data)


def counts_filled(model: Model, data: Data) -> bool:
    """Whether the objective of a solution may count filled entries: of a constraint's rule without weights, or of such a form."""
    return must_be_filled(model, data) or (data.costs.weighted and not data.costs.out_of_core)


def _levelled(model: Model, data: Data) -> Levelled | None:
    """Data with weights of mean one, for a constraint whose rule is for data without weights.

    Free factors at the ends of the form take up weights of rows and columns. With the Euclidean distance s‖x − w H‖² =
    ‖√s x − (√s w) H‖², w a row of a free factor.
    """
    wants = any(model.constraints[name].wants_whole for name in model.learned)
    if not wants or not model.divergence.takes_signs or model.signed or model.data in model.form.names:
        return None
    rows, columns = (
        letter.name in model.learned and model.constraints[letter.name].is_free and model.form.count(letter.name) == 1
        for letter in (model.form[0], model.form[-1])
    )
    return levelled(data, rows, columns)


def _with_level(units: Units, model: Model, level: Levelled) -> Units:
    """Units of data with normalised weights."""
    first, last = model.form[0], model.form[-1]
    sides = {}
    if level.rows is not None:
        sides[first.name] = level.rows[None, :] if first.transposed else level.rows[:, None]
    if level.columns is not None:
        sides[last.name] = level.columns[:, None] if last.transposed else level.columns[None, :]
    return replace(units, sides=sides, doublings=units.doublings + math.log2(level.level))


def _arrange(model: Model, data: Data) -> tuple[Levelled | None, Any, Any]:
    """Weighted data: with normalised weights, inside the form, and with missing entries to be filled, as the model needs them."""
    level = _levelled(model, data)
    if level is not None:
        inner = items_of(level.data)
        return level, inner, None if inner is level.data else level.data
    inner = absorbed(model, data)
    if not must_be_filled(model, inner):
        return None, inner, None
    filled = imputed(inner)
    return None, filled if counts_fills(model, inner) else imputed_by(inner, filled), inner


def signature_of(model: Model, data: Any, rank: Any, init: Mapping[str, Any] | None = None, horizon: int = HORIZON) -> Signature:
    """The signature of the problem that `bind` makes; without weights, data out of core are not read for it."""
    if not isinstance(data, Data) or not data.costs.out_of_core:
        return bind(model, data, rank, init, horizon).signature
    is_weighted = data.costs.weighted
    _, inner, partial = _arrange(model, data) if is_weighted else (None, data, None)
    shapes = infer_shapes(model, data.shape, rank, {name: np.shape(factor) for name, factor in (init or {}).items()})
    horizon = horizon if partial is None else 1
    return Signature.of(model, inner, shapes, None, horizon, is_filled=partial is not None, has_weights=is_weighted)


def bind(model: Model, X: Any, rank: Any = None, init: str | Mapping[str, Any] | None = None, horizon: int = HORIZON) -> Problem:
    """Bind a model to data: read, check, choose units, plan. Any number of starts share the problem.

    Parameters
    ----------
    model : Model
    X : array, sparse array, Gram, Signed, Sketch or Data
    rank : int or sequence of int, optional
        Open inner dimensions.
    init : str or dict of arrays
        Fixed factors, and sizes of others.
    horizon : int
        Expected iterations.
    """
    model, data = read_for(model, X, init if isinstance(init, Mapping) else None)
    is_weighted = data.costs.weighted
    level, inner, partial = _arrange(model, data) if is_weighted else (None, data, None)
    horizon = horizon if partial is None else 1  # products of X change with every fill
    given = read_init({} if init is None else init, model, data.namespace)
    shapes = infer_shapes(model, data.shape, rank, {name: array.shape for name, array in given.items()})
    _refuse_too_large(model, data, shapes)
    units = choose_units(model, data if level is None else level.data)
    of_fixed = {name: unit for name, unit in units.factors.items() if name in model.fixed}
    if any(float(abs(given[name]).max()) / data.namespace.largest ** (1 / 4) > unit for name, unit in of_fixed.items()):
        units = Units()  # given factors are too far from the scale of the data
    units = units if level is None else _with_level(units, model, level)
    fixed = units.from_user({name: given[name] for name in model.fixed}) if model.fixed else {}
    scaled = inner if units.data == 1 else inner.in_units(units.data)
    own, is_filled = units.model_from_user(model), partial is not None
    return Problem(
        Signature.of(own, scaled, shapes, fixed, horizon, is_filled=is_filled, has_weights=is_weighted),
        scaled,
        fixed,
        units=units,
        user_model=model,
        user_data=data,
        partial=partial if partial is None or units.data == 1 else partial.in_units(units.data),
    )


def _refuse_too_large(model: Model, data: Data, shapes: Mapping[str, tuple[int, int]]) -> None:
    """Refuse factors that do not fit into memory: a sparse X of any shape takes a few bytes."""
    needed = 8 * sum(rows * columns for rows, columns in shapes.values())
    available = available_bytes() if needed > _LARGE and data.namespace.is_host else None
    if available is not None and needed > available:
        rows, columns = data.shape
        raise DataError(
            f"{model.data} is {rows} × {columns}, so that {' and '.join(shapes)} would take {readable(needed)}, and "
            f"{readable(available)} of memory are free. Leave out empty rows and columns, or learn fewer components."
        )


_LARGE = 2**30
"""Bytes of factors from which the memory that is free is asked for."""


def read_init(init: str | Mapping[str, Any], model: Model, namespace: Namespace) -> dict[str, Array]:
    """The given factors, checked."""
    given = init if isinstance(init, Mapping) else {}
    model.check_given(given)
    found = {}
    for name in model.fixed:
        if name not in given:
            raise IncompatibleError(f"{name} is fixed but has no value: pass init={{{name!r}: array}}.")
    for name, value in given.items():
        label, is_fixed, is_signed = f"init[{name!r}]", name in model.fixed, name in model.signed
        data = read_data(value, label, signed=is_signed)
        if is_fixed and namespace.is_host and hasattr(data.itself(), "nnz"):
            found[name] = data.itself().astype(namespace.dtype)  # a fixed factor may be sparse
            continue
        found[name] = namespace.asarray(as_dense(data.itself()))
        if not is_fixed and not is_signed and not data.facts.highest > 0:
            raise DataError(
                f"{label} is zero everywhere, and a multiplicative rule cannot leave zero. Start from positive numbers."
            )
    return found


def point_at(model: Model, X: Any, factors: Mapping[str, Any]) -> Point:
    """The point of a model and its data at given factors."""
    model, data = read_for(model, X, factors)
    inner = absorbed(model, data)
    arrays = {name: data.namespace.asarray(as_dense(factor)) for name, factor in factors.items()}
    shapes = infer_shapes(model, data.shape, None, {name: array.shape for name, array in arrays.items()})
    units = choose_units(model, data)
    arrays, scaled = units.from_user(arrays), inner if units.data == 1 else inner.in_units(units.data)
    fixed = {name: arrays[name] for name in model.fixed}
    own = units.model_from_user(model)
    signature = Signature.of(own, scaled, shapes, fixed, horizon=1)
    return Problem(signature, scaled, fixed, units=units, user_model=model, user_data=data).point(arrays)


def choose_units(model: Model, data: Data) -> Units:
    """The units of the user, unless the scale of the data is extreme."""
    peak, namespace = data.facts.peak, data.namespace
    if peak == 0 or namespace.smallest ** (1 / 8) <= peak <= namespace.largest ** (1 / 8):
        return Units()
    form, missing = model.form, 1 - model.form.count(model.data)
    movable = [name for name in model.learned if model.constraints[name].any_scale] or list(model.fixed)
    if not model.divergence.approximates or not missing:
        movable = []
    elif not movable:
        return Units()  # every factor's scale is set by its constraint: the problem has no other units
    occurrences = max(sum(form.count(name) for name in movable), 1)
    power = math.trunc(math.log2(peak) / occurrences) * occurrences  # each factor takes a whole power of two
    doublings = power * missing // occurrences
    if abs(doublings) >= math.log2(namespace.largest) - 1:
        raise DataError(
            f"{model.data} has entries of up to {peak:g}, and in {model.form} {' and '.join(movable)} would have to be of about "
            f"2^{doublings} to make up for it, which no number can be. Multiply {model.data} by a number first."
        )
    factor = 2.0**doublings
    return Units(2.0**power, dict.fromkeys(movable, factor), model.divergence.in_units(power)[1])
