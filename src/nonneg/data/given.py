"""Arguments in place of X with a meaning beyond their entries: a Gram matrix, a difference, known entries, a sketch."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from ..exceptions import DataError


class Gram:
    """Data X given by its Gram matrix K = X Xᵀ alone: a kernel between the rows of X.

    ``factorize(Gram(K), "W W.T X", rank=5)`` is kernel PNMF (QNMF §5.1).

    Parameters
    ----------
    kernel : array, sparse array or Operator
        K, symmetric, of shape (m, m).
    checked : bool, default=True
        Refuse a matrix that cannot be X Xᵀ. Unchecked similarities, as of a graph, can be used too: the rule, and its proof, need
        no more than entries ≥ 0; the objective is then no longer a distance, and may be negative.

    See Also
    --------
    KernelPNMF : An estimator of kernels.
    Observed : Data known by their entries alone.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.kron(np.eye(3), np.ones((4, 5)))
    >>> solution = nonneg.factorize(nonneg.Gram(X @ X.T), "W W.T X", rank=3, random_state=0)
    >>> solution.factors["W"].argmax(axis=1)
    array([1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0])
    """

    def __init__(self, kernel: Any, *, checked: bool = True) -> None:
        self.kernel, self.checked = kernel, checked


class Signed:
    """A symmetric matrix of either sign, S = positive − negative, given by two parts without negative entries.

    Each is an array, a sparse array or an `Operator`; ``factorize(Signed(P, N), Model("W.T S W", "trace", …, data="S"))`` never
    forms S.
    """

    def __init__(self, positive: Any, negative: Any) -> None:
        self.positive, self.negative = positive, negative


class Observed:
    """Data of which only the stored entries of a sparse array are known: ratings, say, of a few of many things by each of many.

    An entry that is stored and zero is a zero; one that is not stored is missing. Time and memory grow with the stored entries.

    Parameters
    ----------
    values : sparse array of shape (m, n)
        The known entries; the pattern of stored entries says which are known.

    See Also
    --------
    NMFImputer : Fills in missing values.
    Gram : Data known by their products alone.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from scipy import sparse
    >>> X = np.outer([1.0, 2, 3, 4], [1.0, 2, 0, 4])
    >>> known = (np.arange(16).reshape(4, 4) % 5) > 0
    >>> rows, columns = np.nonzero(known)
    >>> ratings = nonneg.Observed(sparse.csr_array((X[known], (rows, columns)), shape=X.shape))
    >>> solution = nonneg.factorize(ratings, "W H", rank=1, random_state=0)
    >>> bool(np.allclose(solution.reconstruct(), X, atol=1e-3))
    True
    """

    def __init__(self, values: Any) -> None:
        if not sparse.issparse(values):
            raise DataError(
                "Observed takes a SciPy sparse array, whose stored entries are the known ones; got an object of type "
                f"{type(values).__name__}. In a dense array NaN stands for missing entries."
            )
        self.values = values

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.values.shape[1]

    def __repr__(self) -> str:
        return f"Observed({' × '.join(map(str, self.values.shape))}, {self.values.nnz} entries known)"


class Sketch:
    """Data X given by combinations R of its rows with RᵀR ≈ XᵀX, of either sign: a summary of many samples in constant memory.

    Parameters
    ----------
    rows : array of shape (few, n_features)
    energy : float, optional
        ‖X‖², if known; the objective then includes the part of X that the sketch lacks.
    """

    def __init__(self, rows: Any, energy: float | None = None) -> None:
        self.rows, self.energy = rows, energy
