"""What components are: matched with those of another fit, named by their features, and made a partition of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..data import as_dense
from ..data.compressed import checked
from ..exceptions import DataError, IncompatibleError, ShapeError
from ..labelling import hard_labels
from ..naming import is_count


class Match(NamedTuple):
    """The components of b, put in the order of those of a."""

    order: np.ndarray
    """For each component of a, the number of the component of b that goes with it; −1 where b has none left."""
    similarity: np.ndarray
    """The cosine of the two; 0 where b has none left, and where one of the two is zero everywhere."""
    components: np.ndarray
    """Those of b in the order of those of a, as they were given; zeros where b has none left."""
    left_over: np.ndarray
    """The numbers of the components of b that go with none of a."""


def match_components(a: Any, b: Any) -> Match:
    """Match the components of two fits one to one, so that the sum of their cosines is largest (the Hungarian method).

    Parameters
    ----------
    a, b : array of shape (n_components, n_features), or fitted estimator
        Of an estimator, its ``components_`` are taken, of a chain ``emissionprob_``. They may have different numbers of components.

    Returns
    -------
    Match

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.selection import match_components
    >>> a = np.eye(3)
    >>> found = match_components(a, 5 * a[[2, 0, 1]])
    >>> found.order, found.similarity
    (array([1, 2, 0]), array([1., 1., 1.]))
    """
    A, B = read_components(a, "a"), read_components(b, "b")
    if A.shape[1] != B.shape[1]:
        raise ShapeError(
            f"a has {A.shape[1]} features and b has {B.shape[1]}: components can be matched over the same features only."
        )
    cosines = unit_rows(A) @ unit_rows(B).T
    rows, columns = linear_sum_assignment(-cosines)
    order, similarity, components = np.full(len(A), -1), np.zeros(len(A)), np.zeros_like(A)
    order[rows], similarity[rows], components[rows] = columns, np.clip(cosines[rows, columns], -1.0, 1.0), B[columns]
    return Match(order, similarity, components, np.setdiff1d(np.arange(len(B)), columns))


def read_components(given: Any, name: str = "model") -> np.ndarray:
    """The components of an estimator, or an array of them, checked."""
    found = next((getattr(given, attribute) for attribute in _HELD_IN if hasattr(given, attribute)), given)
    if found is given and hasattr(given, "get_params"):
        raise IncompatibleError(
            f"{name} is {type(given).__name__}, which has no components: it is not fitted, or does not make any."
        )
    checked(found, name)
    try:
        components = np.asarray(as_dense(found), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be an array of components, one in each row, or a fitted estimator; got {given!r}.") from None
    if components.ndim != 2 or not components.size:
        raise ShapeError(f"{name} must have components in its rows, (n_components, n_features); its shape is {components.shape}.")
    if not np.isfinite(components).all():
        raise DataError(f"{name} has NaN or infinity in it.")
    return components


_HELD_IN = ("components_", "emissionprob_")


def unit_rows(components: np.ndarray) -> np.ndarray:
    """Rows of length one; a row of zeros stays what it is."""
    components = components / np.maximum(np.abs(components).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    lengths = np.linalg.norm(components, axis=1, keepdims=True)
    return components / np.where(lengths > 0, lengths, 1.0)


class Feature(NamedTuple):
    """A feature and its weight in a component."""

    name: Any
    weight: float


def top_features(model: Any, names: Sequence[Any] | None = None, count: int = 10) -> list[list[Feature]]:
    """The features with the largest weights in each component, the largest first; those of weight zero are left out.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n_components, n_features)
    names : sequence of length n_features, optional
        By default ``feature_names_in_`` if the estimator has it, the symbols of a chain, or numbers.
    count : int, default=10
        The most features of one component.

    Examples
    --------
    >>> from nonneg.selection import top_features
    >>> [[feature.name for feature in part] for part in top_features([[3, 0, 1], [0, 2, 0]], ["red", "green", "blue"])]
    [['red', 'blue'], ['green']]
    """
    components = read_components(model)
    if not is_count(count, 1):
        raise IncompatibleError(f"count must be an int of at least 1; got {count!r}.")
    if names is None:
        held = (getattr(model, attribute, None) for attribute in ("feature_names_in_", "symbols_"))
        names = next((found for found in held if found is not None), range(components.shape[1]))
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    if len(names) != components.shape[1]:
        raise ShapeError(f"names has {len(names)} names for {components.shape[1]} features; every feature needs one.")
    order = np.argsort(-components, axis=1, kind="stable")[:, :count]
    return [[Feature(names[j], float(row[j])) for j in places if row[j] > 0] for row, places in zip(components, order, strict=True)]


class Atlas(NamedTuple):
    """A partition of the features by components."""

    labels: np.ndarray
    """The component that each feature belongs to; −1 for features that no component has."""
    sizes: np.ndarray
    """How many features each component has."""
    components: np.ndarray
    """The components with nothing but their own features, (n_components, n_features)."""


def atlas(model: Any) -> Atlas:
    """Each feature given to one component: the one that has most of it.

    Components count with the size that they have in the data, where the model says it: that of a row of H is in W as much as in H.
    Of models with two ranks, the parts are the clusters of features, which ``column_labels_`` has too.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n_components, n_features)
        Best one whose components hardly overlap, such as `OPNMF`. Of other models it is a summary that leaves much out.

    Examples
    --------
    >>> from nonneg.selection import atlas
    >>> found = atlas([[3.0, 0.5, 0, 0], [0, 2.0, 1, 0]])
    >>> found.labels, found.sizes
    (array([ 0,  1,  1, -1]), array([1, 2]))
    """
    components = _clusters_of_features(model)
    if components is not None:
        labels = np.asarray(model.column_labels_)
    else:
        components = read_components(model)
        sizes = _sizes_in_data(model, len(components))
        labels = hard_labels(components if sizes is None else components * sizes[:, None])
    own = labels == np.arange(len(components))[:, None]
    return Atlas(labels, own.sum(axis=1), np.where(own, components, 0.0))


def _clusters_of_features(model: Any) -> np.ndarray | None:
    """The factor of the features, clusters in rows, of a model that clusters samples and features, each in parts of their own."""
    if not hasattr(model, "column_labels_") or not hasattr(model, "factors_"):
        return None
    last = model.model_.form[-1]
    factor = np.asarray(model.factors_[last.name], dtype=np.float64)
    return factor.T if last.transposed else factor


def _sizes_in_data(model: Any, count: int) -> np.ndarray | None:
    """The lengths of the columns of the factor of samples, where a form begins with one."""
    if not hasattr(model, "model_") or not hasattr(model, "factors_"):
        return None
    first = model.model_.form[0]
    codes = model.factors_.get(first.name)
    if codes is None or first.transposed or codes.shape[1] != count:
        return None
    lengths = np.linalg.norm(codes / (np.abs(codes).max() or 1.0), axis=0)
    return lengths if lengths.any() else None
