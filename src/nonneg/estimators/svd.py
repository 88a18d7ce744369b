"""The singular value decomposition with its negative entries cut off: a baseline."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..data import as_dense
from ..exceptions import ShapeError
from ..kernels.eigenvectors import leading
from ..kernels.tuned import tuned
from ..solve.initialization import make_generator
from ._naming import with_sample_names
from .annotations import RandomState, Rank
from .atomic import atomic_fit
from .docstrings import documented
from .shareable import Shareable
from .validation import check_non_negative, read_codes, read_samples


@documented
@dataclass(eq=False, repr=False)
class TruncatedNonnegativeSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Shareable, BaseEstimator):
    r"""Truncated SVD with its negative entries cut off (tSVD): a non-negative approximation of X, without non-negative parts.

    A baseline to compare with. Choose it to see the error of a factorization without parts; for parts, any of the others.

    .. math:: \hat X = \max(U_k S_k V_k^T, 0)

    Cutting off raises the rank. k is the largest number of singular vectors, up to `n_components`, whose approximation has, cut
    off, at most rank `n_components`: for most data that is one, or all there are.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        The rank that the approximation may have. "auto" takes as many as there are samples or features, whichever is less.
    random_state : int, Generator, RandomState or None, default=None
        For finding ranks, by products with random vectors, and the singular vectors of sparse X.

    Attributes
    ----------
    components_ : array of shape (n_singular_, n_features)
        The singular vectors V_kᵀ, of either sign.
    n_singular_ : int
        k, how many singular vectors are used.
    rank_ : int
        The rank of the approximation, at most `n_components`.
    reconstruction_err_ : float
        ‖X − X̂‖.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only if X has feature names that are all strings.

    See Also
    --------
    NMF : Factors without negative entries.
    OPNMF : Orthogonal parts without negative entries.

    Notes
    -----
    PNMF §2, Eq. 3. It approximates X and gives no basis: `transform` and `inverse_transform` lead to X̂ and back, and that is all.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import TruncatedNonnegativeSVD
    >>> X = np.random.default_rng(0).random((30, 8))
    >>> model = TruncatedNonnegativeSVD(3).fit(X)
    >>> bool(model.inverse_transform(model.transform(X)).min() >= 0), model.rank_ <= 3
    (True, True)
    """

    n_components: Rank = "auto"
    _: KW_ONLY
    random_state: RandomState = None
    _in_memory_because: ClassVar[str] = "it takes as many products with X as its singular vectors need to settle"

    @atomic_fit
    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the singular vectors, and how many of them to use.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Non-negative.
        y : None
            Not used.
        """
        X = self._read(X, reset=True)
        most = self._most(X.shape)
        generator = make_generator(self.random_state)
        size = float(X.max()) or 1.0  # squares of extreme data are zero or infinite
        X = X / size
        codes, VT = _decomposed(X, most, generator)
        probe = generator.standard_normal(size=(X.shape[1], min(most + _SPARE, *X.shape)))
        seen = _some_rows(codes, X.shape[1], probe.shape[1], generator)
        ranks = [_rank_of_clipped(seen[:, :k], VT[:k], probe) for k in range(1, VT.shape[0] + 1)]
        allowed = [k for k, rank in enumerate(ranks, start=1) if rank <= most]
        self.n_singular_ = max(allowed, key=lambda k: (ranks[k - 1], k))
        self.rank_, self.components_ = ranks[self.n_singular_ - 1], VT[: self.n_singular_].astype(X.dtype)
        self.reconstruction_err_ = size * _error(X, codes[:, : self.n_singular_], VT[: self.n_singular_])
        return self

    def _read(self, X: Any, *, reset: bool) -> Any:
        return check_non_negative(read_samples(self, X, reset=reset))

    def _most(self, shape: tuple[int, int]) -> int:
        given = self.n_components
        if given is None or (isinstance(given, str) and given == "auto"):
            return min(shape)
        if not isinstance(given, Integral) or isinstance(given, bool) or given < 1:
            raise ShapeError(f"n_components must be an int of at least 1, or 'auto'; got {given!r}.")
        return min(int(given), *shape)

    @with_sample_names
    def transform(self, X: Any) -> np.ndarray:
        """The coordinates of samples along the singular vectors, X V.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Non-negative.
        """
        check_is_fitted(self)
        return np.asarray(self._read(X, reset=False) @ self.components_.T)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The non-negative approximation that coordinates stand for, max(coordinates · Vᵀ, 0): PNMF Eq. 3.

        Parameters
        ----------
        X : array of shape (n_samples, n_singular_)
            As `transform` gives them.
        """
        check_is_fitted(self)
        return np.maximum(read_codes(X, self.n_singular_) @ self.components_, 0)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_singular_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


_SPARE = tuned(10, by="wide", on="2026-11-15")
"""More random vectors than the rank that is looked for."""
_BLOCK = 2**20
"""Entries of the approximation that are formed at a time."""
_ALL = tuned(2**26, by="wide", on="2026-11-16")
"""Entries of the approximation up to which its rank is computed from all of its rows."""
_PRECISION = 1e-10
"""Of the squared singular values of large sparse data, relative to the largest; noise has many that are nearly equal."""


def _decomposed(X: Any, k: int, generator: Any) -> tuple[np.ndarray, np.ndarray]:
    """U S and Vᵀ of the k leading singular vectors."""
    if sparse.issparse(X) and k < min(X.shape) - 1:
        X = X.astype(np.float64)
        is_wide = X.shape[0] < X.shape[1]
        _, vectors = leading(_Gram(X.T if is_wide else X), k, generator, tol=_PRECISION, steps=100)
        U, S, VT = np.linalg.svd(np.asarray(vectors.T @ X if is_wide else X @ vectors), full_matrices=False)
        U, VT = (vectors @ U, VT) if is_wide else (U, VT @ vectors.T)
    else:
        U, S, VT = np.linalg.svd(as_dense(X).astype(np.float64), full_matrices=False)
    U, S, VT = U[:, :k], S[:k], VT[:k]
    # Which of two opposite vectors is found is a matter of rounding: the one whose largest entry is positive.
    signs = np.sign(VT[np.arange(k), np.abs(VT).argmax(axis=1)])
    return U * (S * signs), VT * signs[:, None]


class _Gram:
    """XᵀX, which is multiplied and never formed unless it is small."""

    def __init__(self, X: Any) -> None:
        self.X, self.shape = X, (X.shape[1], X.shape[1])

    def __matmul__(self, M: np.ndarray) -> np.ndarray:
        return np.asarray(self.X.T @ (self.X @ M))


def _blocks(codes: np.ndarray, VT: np.ndarray) -> Any:
    """The clipped approximation, a few rows at a time, with their places."""
    step = max(1, _BLOCK // VT.shape[1])
    for start in range(0, len(codes), step):
        rows = slice(start, start + step)
        yield rows, np.maximum(codes[rows] @ VT, 0)


def _some_rows(codes: np.ndarray, n_features: int, n_probes: int, generator: Any) -> np.ndarray:
    """Codes of so many samples that the rank of their clipped approximations tells the rank of all."""
    count = max(_ALL // n_features, 20 * n_probes)
    if count >= len(codes):
        return codes
    return codes[np.sort(generator.permutation(len(codes))[:count])]


def _rank_of_clipped(codes: np.ndarray, VT: np.ndarray, probe: np.ndarray) -> int:
    """The rank of the clipped approximation, or more than is asked for, from its product with random vectors."""
    return int(np.linalg.matrix_rank(np.vstack([block @ probe for _, block in _blocks(codes, VT)])))


def _error(X: Any, codes: np.ndarray, VT: np.ndarray) -> float:
    """‖X − X̂‖; of large sparse X from ‖X‖² − 2⟨X, X̂⟩ + ‖X̂‖², which needs X̂ itself at the non-zeros of X alone."""
    if not sparse.issparse(X) or X.shape[0] * X.shape[1] <= _ALL:
        return float(np.sqrt(sum(np.sum((as_dense(X[rows]) - block) ** 2) for rows, block in _blocks(codes, VT))))
    X, inner = X.tocoo(), 0.0
    for start in range(0, X.nnz, _BLOCK):
        i, j, x = (values[start : start + _BLOCK] for values in (*X.coords, X.data))
        inner += float(np.sum(x * np.maximum(np.einsum("ek,ek->e", codes[i], VT.T[j]), 0)))
    return float(np.sqrt(max(np.sum(np.square(X.data, dtype=np.float64)) - 2 * inner + _squares_of_clipped(codes, VT), 0.0)))


def _squares_of_clipped(codes: np.ndarray, VT: np.ndarray) -> float:
    if len(VT) > 1:
        return float(sum(np.vdot(block, block) for _, block in _blocks(codes, VT)))
    parts = [(np.maximum(sign * codes, 0), np.maximum(sign * VT, 0)) for sign in (1, -1)]  # of max(c vᵀ, 0) = c⁺v⁺ᵀ + c⁻v⁻ᵀ
    return float(sum(np.vdot(c, c) * np.vdot(v, v) for c, v in parts))
