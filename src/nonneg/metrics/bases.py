"""Measures of a basis: how orthogonal, how localised, how close to its constraint."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ..constraints import Stochastic
from ..data import as_dense
from ..data.device import gram_in_double
from ..exceptions import ShapeError
from ..kernels.host import multiplied_in_double
from ..kernels.namespace import Namespace
from ._reading import checked_matrix, mean_with_dead, read_basis


def orthogonality(W: Any) -> float:
    """The orthogonality ρ = 1 − the mean cosine between two columns of W: NNP Eq. 65.

    From 0 (all columns are parallel) to 1, which is best: no two columns overlap. A single column has none to overlap with: 1.

    Parameters
    ----------
    W : array-like of shape (m, r)
        Non-negative. A column of zeros counts as parallel to every other.

    Returns
    -------
    float
        Between 0 and 1, the best.

    See Also
    --------
    orthogonality_error : PNMF's measure, also called ρ, of which zero is best.

    Examples
    --------
    Of three pairs of columns, one is parallel:

    >>> round(orthogonality([[1, 2, 0], [0, 0, 5]]), 4)
    0.6667
    """
    return measure_overlap(read_basis(W))[0]


def orthogonality_error(W: Any) -> float:
    """The error ρ = ‖WᵀW − I‖ in the Frobenius norm, the columns of W first made unit length: PNMF Eq. 38.

    From 0, which is best (no two columns overlap), to √(r(r − 1)) for r parallel columns.

    Parameters
    ----------
    W : array-like of shape (m, r)
        Non-negative. A column of zeros counts as parallel to every other.

    Returns
    -------
    float
        At least 0, the best.

    See Also
    --------
    orthogonality : NNP's measure, also called ρ, of which one is best.

    Notes
    -----
    ``solution.history.violation["W"]`` is ‖WᵀW − I‖ of W as it is, and so also counts lengths that are not one.

    Examples
    --------
    Lengths do not matter, overlap does:

    >>> orthogonality_error([[1, 0], [0, 7]])
    0.0
    >>> round(orthogonality_error([[1, 1], [1, 1]]), 4)
    1.4142
    """
    return measure_overlap(read_basis(W))[1]


def measure_overlap(W: np.ndarray, namespace: Namespace | None = None) -> tuple[float, float]:
    """`orthogonality` and `orthogonality_error` of a matrix that was checked; its columns are multiplied where a namespace is."""
    largest, r = np.max(W, axis=0), W.shape[1]
    alive = largest > 0
    is_plain = alive.all() and 1e-100 < float(largest.min()) <= float(largest.max()) < 1e100
    columns = W if is_plain else directions(W)
    products = multiplied_in_double(columns.T, columns) if namespace is None else gram_in_double(columns, namespace)
    lengths = np.sqrt(np.diag(products))
    R = np.ones((r, r))  # NNP Eq. 64, less its diagonal: cosines between columns, 1 for a column of zeros
    R[np.ix_(alive, alive)] = np.minimum(products / lengths / lengths[:, None], 1.0)  # rounding may put it above one
    np.fill_diagonal(R, 0.0)
    return float(1 - np.sum(R) / (r * (r - 1))) if r > 1 else 1.0, float(np.linalg.norm(R))  # NNP Eq. 65, PNMF Eq. 38


def basis_entropy(W: Any) -> float:
    """The mean entropy of the columns of W, each divided by its sum, in nats: PNMF Eq. 37.

    From 0, which is best (each column has a single entry), to ln m for m rows (each column is constant).

    Parameters
    ----------
    W : array-like of shape (m, r)
        Non-negative. A column of zeros counts as constant.

    Returns
    -------
    float
        In nats, at most ln m.

    See Also
    --------
    sparseness : Hoyer's measure.
    orthogonality : How much components overlap.

    Notes
    -----
    The values that PNMF prints for its 361 pixels, 7.4 to 54.5, cannot come from this formula, which is at most ln 361 = 5.9.
    Their order can be compared, not their size.

    Examples
    --------
    A column that is spread evenly over k rows has entropy ln k:

    >>> round(basis_entropy([[1], [1], [1], [0]]), 4)  # ln 3
    1.0986
    """
    W = read_basis(W)
    alive = directions(W)
    p = alive / np.sum(alive, axis=0)
    logarithms = np.log(p, out=np.zeros_like(p), where=p > 0)  # 0 ln 0 = 0
    entropies = -np.sum(p * logarithms, axis=0)  # PNMF Eq. 37
    return mean_with_dead(entropies, W.shape[1], worst=math.log(W.shape[0]))


def sparseness(W: Any) -> float:
    """The mean of Hoyer's sparseness (√m − ‖w‖₁/‖w‖₂)/(√m − 1) over the columns w of W.

    From 0 (each column is constant) to 1, which is sparsest: each column has a single entry.

    Parameters
    ----------
    W : array-like of shape (m, r)
        Non-negative, with at least two rows. A column of zeros counts as constant.

    Returns
    -------
    float
        Between 0 and 1, the sparsest.

    See Also
    --------
    basis_entropy : The entropy of components.
    orthogonality : How much components overlap.

    References
    ----------
    P. Hoyer. Non-negative matrix factorization with sparseness constraints. Journal of Machine Learning Research 5, 2004.

    Examples
    --------
    One half, as one column has a single entry and the other is constant:

    >>> sparseness([[3, 1], [0, 1], [0, 1], [0, 1]])
    0.5
    """
    W = read_basis(W)
    m, r = W.shape
    if m == 1:
        raise ShapeError("W has one row, and a single number is neither sparse nor not. At least two rows are needed.")
    alive = directions(W)
    ratios = np.sum(alive, axis=0) / np.linalg.norm(alive, axis=0)
    values = np.clip((math.sqrt(m) - ratios) / (math.sqrt(m) - 1), 0.0, 1.0)  # rounding may put it outside its own range
    return mean_with_dead(values, r, worst=0.0)


def stochastic_error(W: Any, axis: Literal["columns", "rows", "matrix"] = "columns") -> float:
    """How far the entries of W are from summing to one, Σ|1 − sum| over columns or rows, or of the whole: QNMF Table 2.

    From 0, which is best, without an upper end.

    Parameters
    ----------
    W : array-like of shape (m, r)
        Non-negative.
    axis : {"columns", "rows", "matrix"}, default="columns"
        Sums that should be one, as for `nonneg.constraints.Stochastic`. In QNMF it is the columns of W, and the whole of Y.

    Returns
    -------
    float
        At least 0, the best.

    See Also
    --------
    orthogonality_error : The same of orthogonality.
    nonneg.constraints.Stochastic : The constraint it measures.

    Examples
    --------
    The rows of this matrix sum to one, its columns to 1.5 and 0.5:

    >>> stochastic_error([[0.5, 0.5], [1.0, 0.0]], "rows"), stochastic_error([[0.5, 0.5], [1.0, 0.0]], "columns")
    (0.0, 1.0)
    """
    return float(Stochastic(axis).violation(np, as_dense(checked_matrix(W, "W"))))  # QNMF Table 2


def directions(W: np.ndarray) -> np.ndarray:
    """The columns that are not zero, divided by their largest entry, so that no sum or square leaves the range of numbers."""
    largest = np.max(W, axis=0)
    return W[:, largest > 0] / largest[largest > 0]
