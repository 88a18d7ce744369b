"""How well scores separate, a matching fits, an approximation approximates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..data import as_dense
from ..data.reading import check_missing, with_nan
from ..exceptions import DataError, ShapeError
from ._reading import checked_matrix, norm, read_labels, read_permutation, read_scores, shape_text


def equal_error_rate(y_true: Any, score: Any) -> float:
    """The equal error rate, at the threshold that misjudges the same share of either class: NNP Table 1.

    From 0, which is best (a threshold separates the classes), through 0.5 (a score that knows nothing) to 1 (it separates them the
    wrong way round). NNP gives it in percent.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Two classes. The second in sorted order is the one that should score higher: 1 of 0 and 1, True of False and True.
    score : array-like of shape (n,)
        Score of each sample; the second class should have the higher ones.

    Returns
    -------
    float
        Between 0, the best, and 1.

    See Also
    --------
    nonneg.NonnegativeLDA : Gives scores.

    Notes
    -----
    A sample has finitely many thresholds, and the two rates may be equal at none. Between thresholds the rates are taken as
    linear: the ROC curve crosses there the diagonal from (0, 1) to (1, 0).

    Examples
    --------
    One of three is misjudged on either side, wherever the threshold lies between 2 and 3:

    >>> round(equal_error_rate([0, 0, 0, 1, 1, 1], [1, 2, 5, 2, 3, 4]), 4)
    0.3333
    """
    names, classes = read_labels(y_true, "y_true")
    values = read_scores(score)
    if len(classes) != len(values):
        raise ShapeError(f"y_true has {len(classes)} labels and score {len(values)} values; every sample needs one of each.")
    if len(names) != 2:
        raise DataError(f"y_true has {len(names)} class{'es' * (len(names) > 1)}; an equal error rate is between exactly two.")

    _, ranks = np.unique(-values, return_inverse=True)  # from the highest score down; equal scores are judged together
    accepted = np.array([np.bincount(ranks, weights=classes == which).cumsum() for which in (0, 1)])
    rates = np.pad(accepted / accepted[:, -1:], ((0, 0), (1, 0)))
    false_positive, false_negative = rates[0], 1 - rates[1]
    gap = false_positive - false_negative  # rises from −1 to 1
    after = int(np.argmax(gap >= 0))
    weight = gap[after] / (gap[after] - gap[after - 1])
    return float(weight * false_positive[after - 1] + (1 - weight) * false_positive[after])


def edge_error(A: Any, B: Any, permutation: Any) -> int:
    """The number of entries in which P A Pᵀ and B differ: QNMF §5.4.

    From 0, which is best (the graphs are matched), to n². An edge of an undirected graph is two entries, and counts twice.

    Parameters
    ----------
    A, B : array-like or sparse array of shape (n, n)
        Adjacency matrices, with or without weights. Sparse ones stay sparse.
    permutation : array-like of int of shape (n,)
        ``permutation[i]`` is the vertex of A that is matched with vertex i of B: the column of the one in row i of P. Where
        B ≈ W A Wᵀ, it is ``scipy.optimize.linear_sum_assignment(W, maximize=True)[1]``.

    Returns
    -------
    int
        Number of differing entries; 0 is the best.

    See Also
    --------
    nonneg.graph.match_graphs : Finds the permutation.

    Examples
    --------
    The path 0–1–2 is the path 1–0–2 with its first two vertices exchanged:

    >>> A, B = [[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    >>> edge_error(A, B, [1, 0, 2]), edge_error(A, B, [0, 1, 2])
    (0, 4)
    """
    A, B = checked_matrix(A, "A", signed=True), checked_matrix(B, "B", signed=True)
    n = A.shape[0]
    if not A.shape == B.shape == (n, n):
        raise ShapeError(
            f"A is {shape_text(A)} and B is {shape_text(B)}; two graphs with equally many vertices have square matrices of one "
            "size."
        )
    p = read_permutation(permutation, n)
    if sparse.issparse(A) or sparse.issparse(B):
        return int((sparse.csr_array(A)[p][:, p] != sparse.csr_array(B)).count_nonzero())
    return int(np.count_nonzero(A[np.ix_(p, p)] != B))


def relative_error(X: Any, approximation: Any, *, missing: str = "raise") -> float:
    """‖X − X̂‖/‖X‖ in the Frobenius norm; over the known entries of X, if some are missing.

    From 0, which is best, without an upper end; 1 is that of X̂ = 0.

    Parameters
    ----------
    X : array-like or sparse array of shape (m, n)
        Of either sign, not zero everywhere.
    approximation : array-like or sparse array of shape (m, n)
        X̂. If both are sparse, so is their difference.
    missing : {"raise", "ignore"}, default="raise"
        Whether NaN, masked entries and NA in X are left out.

    Returns
    -------
    float
        At least 0, the best.

    See Also
    --------
    nonneg.Solution : Its `reconstruct` gives an approximation.

    Examples
    --------
    >>> round(relative_error([[3, 0], [0, 4]], [[3, 0], [0, 0]]), 4)
    0.8
    >>> relative_error([[3, float("nan")], [0, 4]], [[3, 7], [0, 0]], missing="ignore")
    0.8
    """
    check_missing(missing)
    if missing == "ignore":
        X = with_nan(X)
        known = ~np.isnan(np.asarray(X, dtype=np.float64)) if not sparse.issparse(X) else None
        if known is not None and known.shape == np.shape(approximation):
            X, approximation = np.where(known, X, 0.0), np.where(known, as_dense(approximation), 0.0)
    X, approximation = checked_matrix(X, "X", signed=True), checked_matrix(approximation, "approximation", signed=True)
    if X.shape != approximation.shape:
        raise ShapeError(
            f"X is {shape_text(X)} and approximation is {shape_text(approximation)}; they are compared entry by entry."
        )
    length = norm(X)
    if length == 0:
        raise DataError("X is zero everywhere, and no error is relative to nothing. Use the norm of the difference itself.")
    return norm(X - approximation) / length
