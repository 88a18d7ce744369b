"""How alike two vertices are: the matrices S whose trace tr(WᵀSW) a partition should make large (ONL §4.1, QNMF §5.1).

Each is S = S⁺ − S⁻ with two parts without negative entries, sparse, of rank one, or the solution of an equation: an N × N array is
formed only where the definition leaves no other way, and for graphs of at most a few thousand vertices.

A partition with indicators C stands for W = V C(CᵀV²C)^(-½) with weights V² of the vertices: those of a normalised cut are the
degrees, the others are one. Modularity does not ask for the sizes of parts: for it W is C, divided by the same number throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..data import as_dense as dense_array
from ..data.reading import read_data
from ..data.signed import Operator
from ..exceptions import DataError, IncompatibleError, is_number, is_one_of
from ..kernels.csr import checked, to_csr
from ..kernels.eigenvectors import leading
from ..kernels.tuned import tuned

LARGEST = tuned(5000, by="graphs", on="2026-11-15")
"""Vertices up to which S may be an N × N array."""


class Outer(NamedTuple):
    """factor · u uᵀ."""

    factor: float
    u: np.ndarray


@dataclass(frozen=True)
class Similarity:
    """S = positive − negative.

    Attributes
    ----------
    positive, negative : sparse array, array or Operator of shape (n, n)
        Parts without negative entries; negative may be None.
    weights : array of shape (n,), optional
        Of the vertices; None for one each.
    entries : sparse array or array, optional
        S as far as it is not of rank one, for what looks at single vertices; None where only products can be had.
    outer : Outer, optional
        What is subtracted from the entries.
    total : float, optional
        What a partition is measured by in place of the sizes of its parts: W = C total^(-½).

    See Also
    --------
    GraphClustering : Takes functions that return one.
    Modularity : Makes one.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import GraphClustering, Similarity
    >>> A = np.kron(np.eye(2), np.ones((5, 5))) + 0.1
    >>> labels = GraphClustering(2, similarity=lambda A: Similarity(A, entries=A), random_state=0).fit_predict(A)
    >>> len(set(labels[:5])), len(set(labels))
    (1, 2)
    """

    positive: Any
    negative: Any = None
    weights: np.ndarray | None = None
    entries: Any = None
    outer: Outer | None = None
    total: float | None = None
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in ("positive", "negative", "entries"):
            checked(getattr(self, name), name)

    @property
    def n(self) -> int:
        return int(self.positive.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """S as an array, for estimators of kernels and affinities."""
        return np.array(self.toarray(), dtype=dtype)

    def __matmul__(self, W: np.ndarray) -> np.ndarray:
        product = np.asarray(self.positive @ W)
        return product if self.negative is None else product - self.negative @ W

    def toarray(self) -> np.ndarray:
        """S as an array, for graphs of at most a few thousand vertices."""
        if self.n > LARGEST:
            raise IncompatibleError(
                f"S would be an array of {self.n} × {self.n}; at most {LARGEST} vertices are worth one. Multiply by it: S @ W."
            )
        if "array" not in self._kept:
            if self.entries is not None and self.outer is None:
                array = self.entries.toarray() if sparse.issparse(self.entries) else self.entries
            else:
                array = self @ np.eye(self.n)
            self._kept["array"] = (array + array.T) / 2
        return self._kept["array"]


def adjacency(A: Any) -> Similarity:
    """A itself."""
    return Similarity(A, entries=A)


def laplacian(A: Any) -> Similarity:
    """The negative Laplacian A − D; its trace is minus the ratio cut of a partition."""
    D = sparse.diags_array(degrees(A), format="csr")
    return Similarity(A, D, entries=(A - D).tocsr() if sparse.issparse(A) else A - D.toarray())


def modularity(A: Any, split: str = "terms") -> Similarity:
    """A − k kᵀ/2m: weights less their expectation from the degrees.

    Of a partition the trace is its modularity, tr(CᵀSC)/2m: divided by the sizes of parts, it would single out small dense ones.

    Parameters
    ----------
    A : array or sparse array
    split : {"terms", "entries"}
        S⁺ and S⁻ of the multiplicative rules: the two terms, A and k kᵀ/2m, which are never formed; or ``(|S| ± S)/2``, as ONL §4
        has them, two N × N arrays.
    """
    _check_split(split)
    k = degrees(A)
    total = k.sum()
    outer = Outer(1 / total if total else 0.0, k)

    def expected(W: np.ndarray) -> np.ndarray:
        return np.multiply.outer(k, outer.factor * (k @ W)) if W.ndim == 2 else k * (outer.factor * (k @ W))

    S = Similarity(
        A, Operator(len(k), expected, outer.factor * float(k.max()) ** 2), entries=A, outer=outer, total=float(total) or 1.0
    )
    if split == "terms":
        return S
    array = S.toarray()
    return replace(S, positive=np.maximum(array, 0.0), negative=np.maximum(-array, 0.0))


def normalized(A: Any) -> Similarity:
    """D^(-½) A D^(-½), with the degrees as weights of vertices: normalised cut, and NSC."""
    return weighted_by(A, degrees(A))


def regularized(A: Any, share: float = 0.02) -> Similarity:
    """Normalised cut with degrees that are regularized: D + τI in place of D, τ a share of the mean degree.

    A few vertices with next to no edges to all others are the best normalised cut, whatever else there is in a graph. With τ, what
    a part weighs counts its vertices besides its edges, so that such a part is worth less than one of many edges. A larger share
    does more against such parts, also in graphs of few edges, and costs small parts that are real.

    Parameters
    ----------
    A : array or sparse array
    share : float
        τ beside the mean degree of vertices with edges; 0 is `normalized`.
    """
    _check_share(share)
    k = degrees(A)
    return weighted_by(A, np.where(k > 0, k + share * k.sum() / max(int((k > 0).sum()), 1), 0.0))


def weighted_by(A: Any, weights: np.ndarray) -> Similarity:
    """V⁻¹ A V⁻¹ with weights V² of the vertices: Σₖ (Σ A_ij within part k) / (its weight)."""
    S = scaled(A, np.where(weights > 0, 1 / np.sqrt(np.where(weights > 0, weights, 1.0)), 0.0))
    return Similarity(S, weights=weights, entries=S)


def random_walk(A: Any) -> Similarity:
    """(B + Bᵀ)/2 with (2D − A) B = A: Σ (½ D⁻¹A)ᵗ over walks of all lengths t ≥ 1 (QNMF §5.1)."""
    k = degrees(A)
    root = np.sqrt(k)
    inverse = np.where(k > 0, 1 / np.where(k > 0, root, 1.0), 0.0)
    half = scaled(A, inverse) / 2

    def walks(W: np.ndarray) -> np.ndarray:
        return chebyshev(lambda V: V - half @ V, 0.5, 1.5, half @ W)  # M W with M = (I − ½Ā)⁻¹ ½Ā, and B = D^(-½) M D^½

    def apply(W: np.ndarray) -> np.ndarray:
        by = (slice(None),) + (None,) * (W.ndim - 1)
        both = inverse[by] * walks(root[by] * W) + root[by] * walks(inverse[by] * W)
        return np.maximum(both / 2, 0.0) if np.min(W, initial=0.0) >= 0 else both / 2

    return explicit(Operator(len(k), apply))


def vertex_similarity(A: Any, reach: float = 0.97) -> Similarity:
    """D⁻¹ (I − (reach/λ₁) A)⁻¹ D⁻¹ · 2m/λ₁ of Leicht, Holme and Newman: paths, beside how many are to be expected.

    Parameters
    ----------
    A : array or sparse array
    reach : float in (0, 1)
        What a step more costs a path.
    """
    _check_reach(reach)
    k = degrees(A)
    largest = spectral_radius(A)
    if largest == 0:
        raise DataError("The graph has no edges, and vertex similarity compares paths.")
    inverse = np.where(k > 0, 1 / np.where(k > 0, k, 1.0), 0.0)
    scale = k.sum() / largest

    def apply(W: np.ndarray) -> np.ndarray:
        by = (slice(None),) + (None,) * (W.ndim - 1)
        paths = chebyshev(lambda V: V - (reach / largest) * (A @ V), 1 - reach, 1 + reach, inverse[by] * W)
        product = scale * inverse[by] * paths
        return np.maximum(product, 0.0) if np.min(W, initial=0.0) >= 0 else product

    return explicit(Operator(len(k), apply))


def discriminative_kmeans(A: Any, strength: float = 10.0) -> Similarity:
    """I − (I + A/λ)⁻¹ with λ = `strength`: ONL Eq. 38.

    For more than a few thousand vertices λ must be above the largest eigenvalue of A: then S = (A/λ − (A/λ)²) + (A/λ)³ − … ends,
    odd powers make up S⁺ and even ones S⁻.

    Parameters
    ----------
    A : array or sparse array
    strength : float
        λ, of the regularization.
    """
    _check_strength(strength)
    n = A.shape[0]
    if n <= LARGEST:
        dense = dense_array(checked(A, "A"))
        try:
            S = np.linalg.solve(np.eye(n) + dense / strength, dense / strength)  # I − (I + A/λ)⁻¹ = (I + A/λ)⁻¹ A/λ
        except np.linalg.LinAlgError:
            S = np.full((n, n), np.inf)
        if not np.isfinite(S).all():
            raise DataError(f"I + A/λ is singular for λ = {strength:g}, an eigenvalue of −A. Use another strength.")
        return explicit((S + S.T) / 2)
    largest = spectral_radius(A)
    if largest >= strength:
        raise DataError(
            f"With {n} vertices, 'discriminative-kmeans' needs a strength above the largest eigenvalue of A, {largest:g}; it is "
            f"{strength:g}. Use similarity=DiscriminativeKMeans({np.ceil(1.1 * largest):g}), or 'normalized'."
        )
    share = largest / strength

    def twice(W: np.ndarray) -> np.ndarray:  # (I − (A/λ)²)⁻¹ W
        return chebyshev(lambda V: V - A @ (A @ V) / strength**2, 1 - share**2, 1.0, W)

    def odd(W: np.ndarray) -> np.ndarray:
        return twice(A @ W) / strength

    def even(W: np.ndarray) -> np.ndarray:
        return twice(A @ (A @ W)) / strength**2

    return Similarity(Operator(n, odd), Operator(n, even))


def cosine_graph(X: Any) -> Any:
    """The graph of rectangular data: cosines between its rows (ONL §4.3), those of a row with itself included.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        Non-negative; rows of zeros have no edges.

    Returns
    -------
    array or sparse array of shape (n_samples, n_samples)
        Cosines.

    See Also
    --------
    GraphClustering : Clusters its vertices.
    nonneg.SymmetricNMF : Makes kernels of samples itself.

    Examples
    --------
    >>> from nonneg.graph import cosine_graph
    >>> cosine_graph([[3.0, 4], [4, 3], [0, 1]]).round(2)
    array([[1.  , 0.96, 0.8 ],
           [0.96, 1.  , 0.6 ],
           [0.8 , 0.6 , 1.  ]])
    """
    from sklearn.preprocessing import normalize

    from ..estimators.validation import check_non_negative

    X = to_csr(X, "X") if sparse.issparse(X) else X
    if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiu"):
        check_non_negative(X)  # in scikit-learn's words too
    X = read_data(X).itself().astype(np.float64)
    if not sparse.issparse(X) and X.shape[0] > 4 * LARGEST:
        raise DataError(
            f"X has {X.shape[0]} samples, and cosines between all of them would fill an array of that size squared. Use a graph of "
            "nearest neighbours (sklearn.neighbors.kneighbors_graph), or nonneg.ProjectiveClustering, which needs none."
        )
    peaks = np.asarray(dense_array(X.max(axis=1))).ravel()  # first by the largest entry, whose square neither over- nor underflows
    inverse = 1 / np.where(peaks > 0, peaks, 1.0)
    rows = normalize(sparse.csr_array(X.multiply(inverse[:, None])) if sparse.issparse(X) else X * inverse[:, None])
    return sparse.csr_array(rows @ rows.T) if sparse.issparse(rows) else rows @ rows.T


def degrees(A: Any) -> np.ndarray:
    """The weights at each vertex, added up."""
    return np.asarray(checked(A, "A").sum(axis=1), dtype=np.float64).reshape(-1)


def scaled(A: Any, by: np.ndarray) -> Any:
    """diag(by) A diag(by)."""
    if sparse.issparse(A):
        coordinates = A.tocoo()
        values = coordinates.data * by[coordinates.row] * by[coordinates.col]
        return sparse.csr_array((values, (coordinates.row, coordinates.col)), shape=A.shape)
    return by[:, None] * A * by


def explicit(S: Any) -> Similarity:
    """S as an array, with its parts, where there are few vertices; as an operator elsewhere."""
    if isinstance(S, Operator):
        if S.size > LARGEST:
            return Similarity(S)
        S = S @ np.eye(S.size)
        S = (S + S.T) / 2
    positive, negative = np.maximum(S, 0.0), np.maximum(-S, 0.0)
    return Similarity(positive, negative if negative.any() else None, entries=S)


def spectral_radius(A: Any) -> float:
    """The largest eigenvalue of a symmetric matrix without negative entries."""
    if (A.nnz if sparse.issparse(A) else A.any()) == 0:
        return 0.0
    return float(leading(A, 1, np.random.default_rng(0), tol=1e-8)[0][0])


def chebyshev(
    apply: Callable[[np.ndarray], np.ndarray], low: float, high: float, right: np.ndarray, tol: float = 1e-12
) -> np.ndarray:
    """The solution of M x = right, M symmetric with eigenvalues between low and high, by Chebyshev's iteration."""
    centre, radius = (high + low) / 2, (high - low) / 2
    if radius <= 1e-12 * centre:
        return right / centre
    sigma = centre / radius
    rho = 1 / sigma
    x = right / centre
    residual = right - apply(x)
    step = residual / centre
    condition = np.sqrt(high / low)
    count = int(np.ceil(np.log(2 / tol) / -np.log((condition - 1) / (condition + 1))))
    for _ in range(count):
        x = x + step
        residual = residual - apply(step)
        rho, last = 1 / (2 * sigma - rho), rho
        step = rho * last * step + 2 * rho / radius * residual
    return x


def _check_reach(reach: Any) -> None:
    if not (is_number(reach) and 0 < reach < 1):
        raise IncompatibleError(f"The reach of vertex similarity must be between 0 and 1; got {reach!r}.")


def _check_share(share: Any) -> None:
    if not (is_number(share) and share >= 0):
        raise IncompatibleError(f"The share of 'regularized' must be a number of at least 0; got {share!r}.")


def _check_split(split: Any) -> None:
    if not is_one_of(split, ("terms", "entries")):
        raise IncompatibleError(f"The split of 'modularity' must be 'terms' or 'entries'; got {split!r}.")


def _check_strength(strength: Any) -> None:
    if not (is_number(strength) and strength > 0):
        raise IncompatibleError(f"The strength of 'discriminative-kmeans' must be a number above 0; got {strength!r}.")


@dataclass(frozen=True)
class DiscriminativeKMeans:
    """Discriminative k-means, S = I − (I + A/λ)⁻¹ (ONL Eq. 38), with a λ of your own.

    Parameters
    ----------
    strength : float, default=10
        The λ of the regularization.

    See Also
    --------
    GraphClustering : Takes it as ``similarity``.
    VertexSimilarity : Another similarity of graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import GraphClustering, DiscriminativeKMeans
    >>> A = np.kron(np.eye(2), np.ones((5, 5))) + 0.1
    >>> labels = GraphClustering(2, similarity=DiscriminativeKMeans(50.0), random_state=0).fit_predict(A)
    >>> len(set(labels[:5])), len(set(labels))
    (1, 2)
    """

    strength: float = 10.0

    def __post_init__(self) -> None:
        _check_strength(self.strength)

    def __call__(self, A: Any) -> Similarity:
        return discriminative_kmeans(A, self.strength)


@dataclass(frozen=True)
class Modularity:
    """Modularity, S = A − k kᵀ/2m, with a choice of how it is split into parts without negative entries.

    Parameters
    ----------
    split : {"entries", "terms"}, default="entries"
        S⁺ and S⁻ of the multiplicative rules: ``(|S| ± S)/2``, as ONL §4 has them, two n × n arrays; or the two terms, A and
        k kᵀ/2m, as ``similarity="modularity"`` takes them.

    See Also
    --------
    GraphClustering : Takes it as ``similarity``.
    Regularized : Another similarity of graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import GraphClustering, Modularity
    >>> A = np.kron(np.eye(2), np.ones((5, 5))) + 0.1
    >>> labels = GraphClustering(2, similarity=Modularity(), random_state=0).fit_predict(A)
    >>> len(set(labels[:5])), len(set(labels))
    (1, 2)
    """

    split: str = "entries"

    def __post_init__(self) -> None:
        _check_split(self.split)

    def __call__(self, A: Any) -> Similarity:
        return modularity(A, self.split)


@dataclass(frozen=True)
class Regularized:
    """Normalised cut with degrees D + τI, τ a share of the mean degree of your own.

    Parameters
    ----------
    share : float, default=0.02
        The τ beside the mean degree of vertices with edges; 0 is the normalised cut.

    See Also
    --------
    GraphClustering : Takes it as ``similarity``.
    Modularity : Another similarity of graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import GraphClustering, Regularized
    >>> A = np.kron(np.eye(2), np.ones((5, 5))) + 0.1
    >>> labels = GraphClustering(2, similarity=Regularized(0.1), random_state=0).fit_predict(A)
    >>> len(set(labels[:5])), len(set(labels))
    (1, 2)
    """

    share: float = 0.02

    def __post_init__(self) -> None:
        _check_share(self.share)

    def __call__(self, A: Any) -> Similarity:
        return regularized(A, self.share)


@dataclass(frozen=True)
class VertexSimilarity:
    """Vertex similarity of Leicht, Holme and Newman, with a reach of your own: paths beside how many are to be expected.

    Parameters
    ----------
    reach : float in (0, 1), default=0.97
        What a step more costs a path.

    See Also
    --------
    GraphClustering : Takes it as ``similarity``.
    DiscriminativeKMeans : Another similarity of graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import GraphClustering, VertexSimilarity
    >>> A = np.kron(np.eye(2), np.ones((5, 5))) + 0.1
    >>> labels = GraphClustering(2, similarity=VertexSimilarity(0.9), random_state=0).fit_predict(A)
    >>> len(set(labels[:5])), len(set(labels))
    (1, 2)
    """

    reach: float = 0.97

    def __post_init__(self) -> None:
        _check_reach(self.reach)

    def __call__(self, A: Any) -> Similarity:
        return vertex_similarity(A, self.reach)


SIMILARITIES: dict[str, Callable[[Any], Similarity]] = {
    "adjacency": adjacency,
    "laplacian": laplacian,
    "modularity": modularity,
    "vertex": vertex_similarity,
    "discriminative-kmeans": discriminative_kmeans,
    "normalized": normalized,
    "regularized": regularized,
    "random-walk": random_walk,
}
