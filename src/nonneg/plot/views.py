"""Views of an estimator of any kind: its parts, their shares of samples and features, and names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import EmptySamplesWarning, IncompatibleError
from ..io import Layout
from ..metrics.labels import hard_labels

_PARTS = ("components_", "emissionprob_", "coef_", "dual_coef_")
"""Attributes with a row for each part and a column for each feature, in the order of preference."""


def parts_of(model: Any) -> np.ndarray:
    """A row for each component, direction or state."""
    for name in _PARTS:
        if hasattr(model, name):
            return np.asarray(getattr(model, name))
    raise IncompatibleError(f"{type(model).__name__} has no components to show; it has to be fitted, and to have parts.")


def names_of(model: Any, count: int, given: Any = None) -> np.ndarray:
    """The names of the columns of the parts: as given, as those of features were in `fit`, or numbers.

    Parts over items, as those of a kernel, have as many columns as there are items, whatever the features are called.
    """
    if given is not None and len(given) != count:
        raise IncompatibleError(f"There are {len(given)} names for {count} features.")
    if given is None:
        known = (getattr(model, name) for name in ("feature_names_in_", "symbols_") if hasattr(model, name))
        given = next((names for names in known if len(names) == count), range(count))
    return np.array([str(name) if str(name).strip() else "␣" * len(str(name)) for name in given])


def layout_of(shape: Any, count: int) -> Layout:
    """How features lie in a picture: a `Layout`, or height and width."""
    if isinstance(shape, Layout):
        layout = shape
    else:
        is_known = isinstance(shape, tuple | list | np.ndarray) and len(shape) in (2, 3)
        if not is_known or not all(isinstance(size, int | np.integer) and size > 0 for size in shape):
            raise IncompatibleError(
                f"shape must be the height and width of an image, such as (19, 19), the three sizes of a volume, or a Layout; got "
                f"{shape!r}."
            )
        layout = Layout(tuple(int(size) for size in shape))
    if layout.n_features != count:
        inside = "" if layout.mask is None else f", {layout.n_features} of them in the mask,"
        raise IncompatibleError(
            f"A picture of {' × '.join(map(str, layout.shape))}{inside} cannot be made of {count} features: it has to have as many."
        )
    return layout


def codes_of(model: Any, X: Any = None) -> np.ndarray | None:
    """How much of each part is in each sample: as kept by the fit, or of X if given; else None."""
    if hasattr(model, "memberships_"):
        return np.asarray(model.memberships_)
    if X is not None and hasattr(model, "transform"):
        return np.asarray(quietly(model.transform, X))
    return None


def quietly(method: Any, *arguments: Any) -> Any:
    """Call a method for a page or table: no warning that X has no feature names, nor of the empty samples that `fit` named."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        warnings.simplefilter("ignore", EmptySamplesWarning)
        return method(*arguments)


def row_labels(model: Any, X: Any = None) -> np.ndarray | None:
    """To which part each sample belongs."""
    for name in ("row_labels_", "labels_"):
        if hasattr(model, name):
            if name == "labels_" and _is_of_features(model):
                continue
            labels: np.ndarray = getattr(model, name)
            return labels if X is None or len(labels) == X.shape[0] else None
    codes = codes_of(model, X)
    if codes is None:
        return None
    # A long component has small codes: shares of a sample count.
    lengths = np.linalg.norm(parts_of(model), axis=1) if codes.shape[1] == len(parts_of(model)) else 1.0
    return np.asarray((np.abs(codes) * lengths).argmax(axis=1))


def _is_of_features(model: Any) -> bool:
    """Whether `labels_` are those of features, as in scikit-learn's FeatureAgglomeration: `sizes_` says how many have each."""
    return hasattr(model, "sizes_")


def column_labels(model: Any) -> np.ndarray:
    """To which part each feature belongs, with the largest share in it, components being of one length; −1 if none has it."""
    if _is_of_features(model):
        return np.asarray(model.labels_)
    for name in ("column_labels_", "symbol_groups_"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name))
    if not any(hasattr(model, name) for name in _PARTS) and hasattr(model, "labels_"):
        return np.asarray(model.labels_)  # of a graph
    parts = np.abs(parts_of(model))
    lengths = np.linalg.norm(parts, axis=1, keepdims=True)
    return hard_labels(parts / np.where(lengths > 0, lengths, 1.0))


def top_of(part: np.ndarray, count: int) -> np.ndarray:
    """The features with the largest weights, largest first; those with less than a hundredth of the largest are left out."""
    order = np.argsort(-np.abs(part), kind="stable")[:count]
    return order[np.abs(part[order]) > 0.01 * np.abs(part).max()]


def coarse(X: Any, rows: np.ndarray, columns: np.ndarray, most: int = 600) -> np.ndarray:
    """X in another order of rows and columns, dense, averaged over blocks above `most` rows or columns."""
    n, m = len(rows), len(columns)
    height, width = min(n, most), min(m, most)
    row_block, column_block = np.arange(n) * height // n, np.arange(m) * width // m
    place_row, place_column = np.empty(n, dtype=np.int64), np.empty(m, dtype=np.int64)
    place_row[rows], place_column[columns] = row_block, column_block
    sizes = np.outer(np.bincount(row_block, minlength=height), np.bincount(column_block, minlength=width))
    if sparse.issparse(X):
        entries = sparse.coo_array(X)
        across = (place_row[entries.coords[0]], place_column[entries.coords[1]])
        total = sparse.coo_array((entries.data.astype(np.float64), across), shape=(height, width)).toarray()
        return np.asarray(total / sizes)
    X = np.asarray(X)
    gathered = sparse.csr_array((np.ones(m), (np.arange(m), place_column)), shape=(m, width))
    by_row = sparse.csr_array((np.ones(n), (place_row, np.arange(n))), shape=(height, n))
    return np.asarray((by_row @ X) @ gathered) / sizes


def order_by(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order in which items with the same label are neighbours, and the first position of each label."""
    order = np.argsort(labels, kind="stable")
    return order, np.flatnonzero(np.diff(labels[order])) + 1
