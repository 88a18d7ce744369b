"""From a model and whatever the user has to a `Problem`: data are read, factors checked, units chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra.expression import Letter
from ..data import Data, as_dense, read_data
from ..data.weighted import Levelled
from ..exceptions import DataError, IncompatibleError
from ..kernels.namespace import Array, Namespace
from ..model import Model
from .filling import counts_fills, must_be_filled, must_be_whole
from .point import Point
from .problem import Problem
from .shapes import infer_shapes
from .signature import HORIZON, Signature, totals_of
from .units import Units, choose_units


def read_for(model: Model, X: Any) -> Data:
    """The data, checked for what a model asks of them, in one reading."""
    divergence = model.divergence
    data = read_data(
        X,
        model.data,
        signed=model.data in model.signed,
        symmetric=divergence.signed,
        positive=divergence.requires_positive_data,
        totals=totals_of(model),
    )
    if divergence.scale_invariant and data.facts.peak == 0:
        raise DataError(f"{model.data} is zero everywhere, and {divergence!r} compares {model.data}/Σ{model.data}, which is 0/0.")
    return data


def _read_with_signs(model: Model, X: Any, given: Mapping[str, Any]) -> tuple[Model, Data]:
    """The model that fits the signs of what is given, and the data: X may be negative where it says so, or where X̂ may be."""
    if not model.divergence.takes_signs:
        return model, read_for(model, X)
    negative = {
        name for name in model.fixed if name in given and read_data(given[name], f"init[{name!r}]", signed=True).facts.lowest < 0
    }
    may_be = model.signed | negative | ({model.data} if negative else set())
    data = read_for(model.with_signs(may_be & {model.data, *model.fixed}), X)
    return model.with_signs(negative | ({model.data} if data.facts.lowest < 0 and model.data in may_be else set())), data


def absorbed(model: Model, data: Data) -> Data:
    """The data with weights of rows, or of columns, taken into them, where X̂ is multiplied along and the model stays what it is.

    With the Euclidean distance s‖x − x̂‖² = ‖√s x − √s x̂‖², and √s x̂ is what the form makes of √s x where it begins with X.
    """
    form, X = model.form, Letter(model.data)
    if not model.divergence.takes_signs or form.count(model.data) != 1:
        return data
    rows, columns = form[0] == X, form[-1] == X
    return data.absorbed(rows, columns) if rows or columns else data


def _levelled(model: Model, data: Data) -> Levelled | None:
    """Data whose weights are one on average, and none where factors at the ends of the form are free to take them up.

    With the Euclidean distance s‖x − w H‖² = ‖√s x − (√s w) H‖², where w is a row of a factor that is free.
    """
    if not must_be_whole(model, data):
        return None
    rows, columns = (_takes_up(model, letter) for letter in (model.form[0], model.form[-1]))
    return data.levelled(rows, columns)


def _takes_up(model: Model, letter: Letter) -> bool:
    is_learned = letter.name in model.learned
    return is_learned and model.constraints[letter.name].is_free and model.form.count(letter.name) == 1


def _with_level(units: Units, model: Model, level: Levelled) -> Units:
    """Units in which weights are one on average."""
    first, last = model.form[0], model.form[-1]
    sides = {}
    if level.rows is not None:
        sides[first.name] = level.rows[None, :] if first.transposed else level.rows[:, None]
    if level.columns is not None:
        sides[last.name] = level.columns[:, None] if last.transposed else level.columns[None, :]
    return replace(units, sides=sides, doublings=units.doublings + math.log2(level.level))


def _arrange(model: Model, data: Data) -> tuple[Levelled | None, Any, Any]:
    """The normalised weights, the data inside the form, and the data to be filled, as far as a model asks for them."""
    level = _levelled(model, data)
    if level is not None:
        inner = level.data.items
        return level, inner, None if inner is level.data else level.data
    inner = absorbed(model, data)
    if not must_be_filled(model, inner):
        return None, inner, None
    filled = inner.imputed
    return None, filled if counts_fills(model, inner) else inner.imputed_by(filled), inner


def signature_of(model: Model, data: Any, rank: Any, init: Mapping[str, Any] | None = None, horizon: int = HORIZON) -> Signature:
    """The signature of the problem that `bind` makes; without weights, data out of core are not read for it."""
    if not isinstance(data, Data) or not data.profile.out_of_core:
        return bind(model, data, rank, init, horizon).signature
    _, inner, partial = _arrange(model, data)
    shapes = infer_shapes(model, data.shape, rank, {name: np.shape(factor) for name, factor in (init or {}).items()})
    horizon = horizon if partial is None else 1
    has_weights = data.profile.weighted
    return Signature.of(model, inner, shapes, None, horizon, is_filled=partial is not None, has_weights=has_weights)


def bind(model: Model, X: Any, rank: Any = None, init: str | Mapping[str, Any] | None = None, horizon: int = HORIZON) -> Problem:
    """A model with its data: read, measured, and planned, to be solved from any number of starts, which share what never changes.

    Parameters
    ----------
    model : Model
    X : array, sparse array, Gram, Signed, Sketch or Data
    rank : int or sequence of int, optional
        For the inner dimensions that nothing else fixes.
    init : str or dict of arrays
        Where the fixed factors, and the sizes that nothing else says, come from.
    horizon : int
        How many iterations to expect.
    """
    model, data = _read_with_signs(model, X, init if isinstance(init, Mapping) else {})
    level, inner, partial = _arrange(model, data)
    horizon = horizon if partial is None else 1  # products of X change with every fill
    given = read_init({} if init is None else init, model, data.namespace)
    shapes = infer_shapes(model, data.shape, rank, {name: array.shape for name, array in given.items()})
    units = choose_units(model, data if level is None else level.data)
    of_fixed = {name: unit for name, unit in units.factors.items() if name in model.fixed}
    if any(float(abs(given[name]).max()) / data.namespace.largest ** (1 / 4) > unit for name, unit in of_fixed.items()):
        units = Units()  # what is given is too far from the scale of the data to be measured with it
    units = units if level is None else _with_level(units, model, level)
    fixed = units.from_user({name: given[name] for name in model.fixed})
    scaled = inner if units.data == 1 else inner.in_units(units.data)
    settings = {"is_filled": partial is not None, "has_weights": data.profile.weighted}
    signature = Signature.of(units.model_from_user(model), scaled, shapes, fixed, horizon, **settings)
    return Problem(
        signature,
        scaled,
        fixed,
        units=units,
        user_model=model,
        user_data=data,
        partial=partial if partial is None or units.data == 1 else partial.in_units(units.data),
    )


def read_init(init: str | Mapping[str, Any], model: Model, namespace: Namespace) -> dict[str, Array]:
    """The factors that are given, checked."""
    given = init if isinstance(init, Mapping) else {}
    model.check_given(given)
    for name in model.fixed:
        if name not in given:
            raise IncompatibleError(f"{name} is fixed but has no value: pass init={{{name!r}: array}}.")
    return {
        name: _read_factor(given[name], name, namespace, fixed=name in model.fixed, signed=name in model.signed) for name in given
    }


def _read_factor(value: Any, name: str, namespace: Namespace, *, fixed: bool, signed: bool) -> Any:
    label = f"init[{name!r}]"
    data = read_data(value, label, signed=signed)
    if fixed and namespace.is_host and hasattr(data.itself(), "nnz"):
        return data.itself().astype(namespace.dtype)  # a fixed factor may be sparse
    array = namespace.asarray(data.whole())
    if not fixed and not signed and not data.facts.highest > 0:
        raise DataError(f"{label} is zero everywhere, and a multiplicative rule cannot leave zero. Start from positive numbers.")
    return array


def point_at(model: Model, X: Any, factors: Mapping[str, Any]) -> Point:
    """A model with its data, at given factors: objective and gradients, in the units of its problem, are methods of it."""
    model, data = _read_with_signs(model, X, factors)
    inner = absorbed(model, data)
    arrays = {name: data.namespace.asarray(as_dense(factor)) for name, factor in factors.items()}
    shapes = infer_shapes(model, data.shape, None, {name: array.shape for name, array in arrays.items()})
    units = choose_units(model, data)
    arrays, scaled = units.from_user(arrays), inner if units.data == 1 else inner.in_units(units.data)
    fixed = {name: arrays[name] for name in model.fixed}
    signature = Signature.of(units.model_from_user(model), scaled, shapes, fixed, horizon=1)
    problem = Problem(signature, scaled, fixed, units=units, user_model=model, user_data=data)
    return problem.point(arrays)
