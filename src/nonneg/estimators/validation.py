"""Input read as scikit-learn reads it, with errors in its words and ours."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, check_X_y, validate_data

from ..data import Data, Observed, as_dense, is_elsewhere, is_location, read_data, refuse_name
from ..data.annotated import is_annotated, matrix_of, variable_names
from ..data.checking import MOST_NAMES, empty_rows, listed, refuse_text_columns
from ..data.device import is_on_device, library_of
from ..data.reading import refuse_empty, refuse_masked
from ..exceptions import DataError, EmptySamplesWarning, ShapeError, users_line
from ..kernels.csr import checked
from ..kernels.namespace import to_host, without_gradient


def read_codes(X: Any, count: int) -> np.ndarray:
    """Checked codes: one column for each component."""
    refuse_masked(X, "X")
    if is_location(X) or isinstance(X, Data):
        raise DataError("Codes are an array, or a Dask array, as transform gives them; got a file. Read it first: numpy.load.")
    checked(X, "X")
    try:
        codes = np.asarray(to_host(X) if is_on_device(X) else as_dense(X))
    except ValueError:
        raise DataError("X cannot be read as codes: its rows are not all of the same length.") from None
    if codes.dtype.kind not in "fiub" or not np.isfinite(codes).all():
        raise DataError(f"X must be codes, finite numbers; got an array of {codes.dtype}, or one with NaN or infinity in it.")
    check_width(codes.shape, count)
    return codes


def check_width(shape: tuple[Any, ...], count: int) -> None:
    """Refuse codes that have not one column for each component."""
    if len(shape) != 2 or shape[1] != count:
        raise ShapeError(f"Codes must have one column for each of the {count} components; got shape {shape}.")


def validated(estimator: Any, X: Any, *others: Any, **settings: Any) -> Any:
    """Read X by scikit-learn's `validate_data`, as float32 or float64, dense or CSR, or say why it is no matrix of numbers.

    The names of the variables of an AnnData are those of features. A tensor that requires a gradient is read without it.
    """
    is_plain = type(X) is np.ndarray and X.dtype.kind in "fiub"
    annotated, X = X, X if is_plain else _matrix_in_memory(estimator, X)
    settings = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)} | settings
    try:
        if is_plain or not is_annotated(annotated):
            return validate_data(estimator, X, *others, **settings)
        reset = settings.pop("reset", True)
        check_features(estimator, X.shape[1], variable_names(annotated), reset=reset)
        if others:
            return check_X_y(X, *others, estimator=estimator, **settings)
        return check_array(X, input_name="X", estimator=estimator, **settings)
    except (TypeError, ValueError, RuntimeError) as error:
        for what in ("NaN", "infinity"):
            if str(error).startswith(f"Input X contains {what}"):
                _say_where(X, what)
        refuse_text_columns(X, error)
        _refuse_elsewhere(X, estimator, error)
        why = next((ours or str(error) for theirs, ours in _NOT_NUMBERS.items() if theirs in str(error)), None)
        if why is None:
            raise
        raise type(error)(f"X cannot be read as a matrix of numbers: {why}") from error


def _matrix_in_memory(estimator: Any, X: Any) -> Any:
    """A matrix, table or AnnData as scikit-learn can read it; an error for other inputs."""
    if is_elsewhere(X):
        since = f", since {estimator._in_memory_because}" if hasattr(estimator, "_in_memory_because") else ""
        raise DataError(
            f"{type(estimator).__name__} needs all of X in memory{since}, and takes neither files nor data in blocks, as NMF and "
            "OPNMF do. Read X first: numpy.load, nonneg.files.read(path).values, or .compute() of a Dask collection."
        )
    refuse_name(X)
    refuse_empty(X, "X")
    _refuse_repeated(X)
    if isinstance(X, Observed):
        raise DataError(
            f"{type(estimator).__name__} takes no Observed, in which entries that are not stored are missing: it needs an array, "
            "dense where entries are missing, with NaN in their place."
        )
    X = checked(without_gradient(matrix_of(X)), "X")
    if library_of(X) is None or is_on_device(X):
        return X
    try:
        return to_host(X)  # also where scikit-learn would leave it
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        _refuse_elsewhere(X, estimator, error)
        raise


def _refuse_repeated(X: Any) -> None:
    """Refuse a table in which columns share a name."""
    names = list(getattr(X, "columns", ())) if hasattr(X, "__dataframe__") else []
    repeated = [repr(name) for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"X has several columns of one name: {listed(repeated)}. Features are told apart by name: rename or drop columns, or "
            "give the array, X.to_numpy()."
        )


def _refuse_elsewhere(X: Any, estimator: Any, error: Exception) -> None:
    """Refuse an array that NumPy cannot reach, as one on a GPU."""
    if isinstance(X, np.ndarray | list | tuple) or not hasattr(X, "__array__"):
        return
    try:
        np.asarray(X)
    except (TypeError, ValueError, RuntimeError) as reason:
        where = f" on the device {X.device}" if hasattr(X, "device") else ""
        remedy = (
            "Give a dense tensor of float32 or float64, or a SciPy sparse array."
            if str(getattr(X, "device", "")) == "cpu"
            else f"{type(estimator).__name__} works in main memory here: move X there first, X.cpu() of PyTorch, X.get() of CuPy."
        )
        what = f"{type(X).__module__}.{type(X).__name__}{where}"
        raise DataError(f"X is a {what}, which NumPy cannot read: {str(reason).rstrip('.')}. {remedy}") from error


_NOT_NUMBERS = {
    "float() argument": "",
    "could not convert string": "it holds text.",
    "setting an array element": "its rows are not all of the same length, or hold more than numbers.",
}
"""NumPy's messages about objects that are no numbers, and the sentences in their place."""


def read_samples(estimator: Any, X: Any, *, reset: bool, allows_nan: bool = False) -> Any:
    """X as scikit-learn reads it, float32 or float64, dense or CSR; or an error if entries are missing or not finite."""
    if isinstance(X, np.ma.MaskedArray):
        refuse_masked(X, "X")
    X = validated(estimator, X, reset=reset, **({"ensure_all_finite": "allow-nan"} if allows_nan else {}))
    entries = X.data if sparse.issparse(X) else X
    largest = max(float(entries.max()), -float(entries.min())) if entries.size else 0.0
    least = float(np.finfo(entries.dtype).tiny)
    if 0 < largest < least:
        raise DataError(
            f"The largest entry of X is {largest:g}, and below {least:g} {entries.dtype} has no room for all digits of a number. "
            "Multiply X by a number that makes its entries larger."
        )
    return X


def warn_of_empty(estimator: Any, X: Any, *, is_fit: bool) -> None:
    """Warn once of samples of X, an array or `Observed`, without a known value; in a fit, also of those with zeros only."""
    unknown, zeros = map(len, empty_rows(X))
    found = [f"{unknown} without a known value"] * bool(unknown) + [f"{zeros} with zeros only"] * bool(zeros and is_fit)
    if not found:
        return
    fate = "nothing is learned from them" if is_fit else "their codes are the mean of the fit, or zero"
    warnings.warn(
        f"{type(estimator).__name__}: X has {X.shape[0]} samples, {' and '.join(found)}: {fate}. Leave them out.",
        EmptySamplesWarning,
        stacklevel=users_line(),
    )


def _say_where(X: Any, what: str) -> None:
    """Refuse X with entries that are not finite, in scikit-learn's words and ours.

    It is for infinity if there is no NaN, or NaN is allowed; allowed NaN is not counted.
    """
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=False, copy=what == "infinity")
    if what == "infinity":
        entries = X.data if sparse.issparse(X) else X
        entries[np.isnan(entries)] = 0
    try:
        read_data(X)
    except DataError as error:
        raise DataError(f"Input X contains {what}: {error}") from None


def check_features(estimator: Any, count: int, names: Sequence[str] | None, *, reset: bool) -> None:
    """scikit-learn's checks of arrays and tables, in its words, for data of our own.

    The number of features, and their names if they have any, are set by a fit, and compared with those of the fit afterwards.

    Parameters
    ----------
    estimator : estimator
    count : int
    names : sequence of str, or None
    reset : bool
        Whether this is a fit.
    """
    if reset:
        estimator.n_features_in_ = count
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return
    known, kind = getattr(estimator, "feature_names_in_", None), type(estimator).__name__
    if known is None and names is not None:
        warnings.warn(f"X has feature names, but {kind} was fitted without feature names", stacklevel=users_line())
    elif names is None and known is not None:
        text = f"X does not have valid feature names, but {kind} was fitted with feature names"
        warnings.warn(text, stacklevel=users_line())
    elif known is not None and names is not None and list(known) != list(names):
        raise DataError(_other_names(known, names))
    if count != estimator.n_features_in_:
        raise ShapeError(f"X has {count} features, but {kind} is expecting {estimator.n_features_in_} features as input.")


def _other_names(known: Sequence[str], names: Sequence[str]) -> str:
    """How the names of features differ from those of the fit."""
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    for title, some in (
        ("Feature names unseen at fit time:", unseen),
        ("Feature names seen at fit time, yet now missing:", missing),
    ):
        if some:
            lines += [title, *(f"- {name}" for name in some[:MOST_NAMES]), *(["- ..."] if len(some) > MOST_NAMES else [])]
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join([*lines, ""])


def check_non_negative(X: Any) -> Any:
    """X itself, or an error that locates a negative entry, in scikit-learn's words and ours."""
    entries = X.data if sparse.issparse(X) else X
    if entries.size and entries.min() < 0:
        try:
            read_data(X)
        except DataError as error:
            raise DataError(f"Negative values in data passed to X: {error}") from None
    return X
