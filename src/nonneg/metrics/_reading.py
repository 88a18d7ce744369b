"""Read the arguments of a measure, or refuse them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..data import as_dense
from ..data.reading import read_matrix
from ..exceptions import DataError, ShapeError
from ..kernels.csr import to_csr
from ..kernels.namespace import is_array, to_host


def contingency(labels_true: Any, labels_pred: Any) -> sparse.csr_array:
    """Number of samples of each cluster (row) in each class (column)."""
    (_, classes), (_, clusters) = read_labels(labels_true, "labels_true"), read_labels(labels_pred, "labels_pred")
    if len(classes) != len(clusters):
        raise ShapeError(f"labels_true has {len(classes)} labels and labels_pred {len(clusters)}; every sample needs one of each.")
    ones = np.ones(len(classes), dtype=np.int64)
    return sparse.coo_array((ones, (clusters, classes))).tocsr()  # (`csr_array` of coordinates keeps duplicates before SciPy 1.15)


def read_labels(labels: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The different labels in sorted order, and the place of each sample's among them."""
    array = read_vector(labels, name, "label", "Of soft memberships W, give W.argmax(axis=1).")
    if array.dtype.kind in "US" and not is_array(labels):
        array = np.asarray(labels, dtype=object)  # NumPy writes numbers among strings as strings, a missing one as "nan"
    try:
        if np.any(array != array) or (array.dtype.kind == "O" and None in array.tolist()):
            raise DataError(f"{name} has labels that are NaN or None. Drop those samples, or give them a label.")
        names, places = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise DataError(f"{name} has labels that cannot be put in order: {error}. Use numbers or strings, not both.") from error
    return names, places


def read_scores(score: Any) -> np.ndarray:
    array = read_vector(score, "score", "number", "Of class probabilities, give the column of the positive class.")
    if array.dtype.kind not in "fiub":
        raise DataError(f"score holds entries of type {array.dtype}; only real numbers can be compared with a threshold.")
    values = array.astype(np.float64)
    if not np.all(np.isfinite(values)):
        raise DataError(
            f"score has entries that are not finite, the first at {np.argmin(np.isfinite(values))}. Drop those samples."
        )
    return values


def read_vector(values: Any, name: str, noun: str, advice: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise DataError(f"{name} is a masked array with missing entries. Drop those samples, or fill them in.")
    try:
        array = np.asarray(to_host(values) if is_array(values) else values)
    except ValueError as error:
        raise DataError(f"{name} cannot be read as one {noun} per sample: {error}.") from error
    if array.ndim != 1:
        raise DataError(f"{name} must have one {noun} per sample; got {array.ndim} dimensions, shape {array.shape}. {advice}")
    if not len(array):
        raise DataError(f"{name} is empty. At least one sample is needed.")
    return array


def checked_matrix(array: Any, name: str, *, signed: bool = False) -> Any:
    """A dense matrix, or a sparse one in CSR with each entry stored once, in double precision, checked."""
    if sparse.issparse(array):
        if array.ndim != 2 or np.dtype(array.dtype).kind not in "fiub":
            raise DataError(f"{name} must be a matrix of real numbers; got a sparse array of {array.dtype}, shape {array.shape}.")
        matrix = to_csr(array, name, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        entries = matrix.data
    else:
        matrix = entries = np.asarray(to_host(read_matrix(array, name)[0]), dtype=np.float64)
    if 0 in matrix.shape:
        raise DataError(f"{name} is empty: its shape is {matrix.shape}. At least one row and one column are needed.")
    if not np.all(np.isfinite(entries)):
        raise DataError(f"{name} has entries that are not finite; only numbers can be measured.")
    if not signed and np.any(entries < 0):
        raise DataError(
            f"{name} has negative entries, the lowest {np.min(entries):g}; this measure is one of non-negative matrices."
        )
    return matrix


def read_basis(W: Any) -> np.ndarray:
    matrix = as_dense(checked_matrix(W, "W"))
    if not np.any(matrix):
        raise DataError("W is zero everywhere, so it is no basis. At least one column must have an entry that is not zero.")
    return matrix


def mean_with_dead(values: np.ndarray, r: int, worst: float) -> float:
    """The mean over r columns, of which those without a value have the worst."""
    return float((np.sum(values) + (r - len(values)) * worst) / r)


def read_permutation(permutation: Any, n: int) -> np.ndarray:
    p = read_vector(permutation, "permutation", "vertex", "Of a permutation matrix P, give P.argmax(axis=1).")
    if p.dtype.kind not in "iu" or not np.array_equal(np.sort(p), np.arange(n)):
        given = np.array2string(p, threshold=8)
        raise DataError(f"permutation must have each of the integers 0 to {n - 1} once; got {len(p)} entries, {given}.")
    return p


def norm(matrix: Any) -> float:
    """The Frobenius norm, also if squares of entries overflow."""
    entries = matrix.data if sparse.issparse(matrix) else matrix
    largest = float(np.max(np.abs(entries), initial=0.0))
    return largest * float(np.linalg.norm(entries / largest)) if largest else 0.0


def shape_text(matrix: Any) -> str:
    return f"{matrix.shape[0]} × {matrix.shape[1]}"
