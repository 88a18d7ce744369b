"""A fitted estimator for some of its features: a panel."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..exceptions import DataError, IncompatibleError
from ..solve.signature import dimension_classes

_OF_FEATURES = ("column_labels_", "run_components_")
"""Attributes with features along their last axis, beside factors and components."""


def restricted(model: Any, features: Any) -> Any:
    """A copy of a fitted factorization that knows some of the features only."""
    check_is_fitted(model)
    places = places_of(model, features)
    form, data = model.model_.form, model.model_.data
    equal = dimension_classes(model.model_)
    projects = form[0].name == data
    own = copy.copy(model)
    for held in ("factors_", "_soft_factors"):
        factors = {}
        for name, factor in getattr(model, held).items():
            axes = [axis for axis in (0, 1) if equal[name, axis] == equal[data, 1]]
            part = _taken(factor, places, axes)
            factors[name] = _as_long(part, factor) if projects and axes == [0] else part
        setattr(own, held, factors)
    own.components_ = np.ascontiguousarray(model.components_[:, places])
    if projects:
        lengths = _lengths(model.components_) / np.where(_lengths(own.components_) > 0, _lengths(own.components_), 1.0)
        own.components_ = (own.components_ * lengths).astype(model.components_.dtype)
    for name in _OF_FEATURES:
        if name in vars(model):
            setattr(own, name, getattr(model, name)[..., places])
    own.n_features_in_ = len(places)
    if hasattr(model, "feature_names_in_"):
        own.feature_names_in_ = model.feature_names_in_[places]
    if getattr(model, "fixed_components", None) is not None:
        own.fixed_components = np.asarray(model.fixed_components)[:, places]
    own.__dict__.pop("_stream", None)
    return own


def places_of(model: Any, features: Any) -> np.ndarray:
    """The numbers of features, which are given by name, by number, or by a mask."""
    count, names = model.n_features_in_, getattr(model, "feature_names_in_", None)
    given = np.asarray(features if not isinstance(features, str) else [features])
    if given.ndim != 1 or not given.size:
        raise IncompatibleError(f"features must be a list of names or numbers, or a mask; got {features!r:.80}.")
    if given.dtype == bool:
        if len(given) != count or not given.any():
            raise IncompatibleError(
                f"features as a mask must be True for some of {count} features; got {given.sum()} of {len(given)}."
            )
        return np.flatnonzero(given)
    if given.dtype.kind in "iu":
        wrong = given[(given < 0) | (given >= count)].tolist()
        places = given.astype(np.int64)
    elif names is None:
        raise IncompatibleError(f"{type(model).__name__} was fitted without feature names. Give numbers from 0 to {count - 1}.")
    else:
        place = {name: number for number, name in enumerate(names)}
        wrong = [name for name in given.tolist() if name not in place]
        places = np.array([place.get(name, -1) for name in given.tolist()], dtype=np.int64)
    if wrong:
        shown = ", ".join(map(repr, wrong[:5])) + (", …" if len(wrong) > 5 else "")
        raise DataError(f"features has {len(wrong)} that {type(model).__name__} was not fitted with: {shown}. Leave them out.")
    if len(np.unique(places)) < len(places):
        raise DataError("features has some more than once.")
    return places


def _taken(factor: np.ndarray, places: np.ndarray, axes: list[int]) -> np.ndarray:
    for axis in axes:
        factor = np.take(factor, places, axis)
    return np.ascontiguousarray(factor)


def _as_long(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Columns as long as they were, so that codes X W keep their scale, and X W Wᵀ is a projection as before."""
    lengths = np.linalg.norm(part, axis=0)
    return (part * (np.linalg.norm(whole, axis=0) / np.where(lengths > 0, lengths, 1.0))).astype(whole.dtype)


def _lengths(components: np.ndarray) -> np.ndarray:
    return np.linalg.norm(components, axis=1, keepdims=True)
