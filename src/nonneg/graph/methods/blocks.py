"""Block models: the partition under which the edges of a graph are most likely (W B Wᵀ, one entry in each row of W)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...constraints import unit_length
from ...data.signed import Operator
from ...exceptions import IncompatibleError
from ...kernels.eigenvectors import leading
from ...kernels.tuned import tuned
from ...solve.progress import is_interrupted
from .._partitions import Mover
from ..similarities import Similarity, degrees, scaled
from .base import Effort, Method, Partitioned
from .pod import discretised, eigenrows
from .refined import Refined

_BUDGET = tuned(1e8, by="communities", on="2026-11-19")
"""Entries and parts of vertices that shakes may go over, about."""
_SHAKES = tuned(100, by="communities", on="2026-11-15")
"""From each start, at most."""
_IN_VAIN = tuned(30, by="communities", on="2026-11-19")
"""Shakes without a gain after which there are no more."""
_VISITS = 100
"""To all vertices, at most, from one partition."""
_ROUNDS = tuned(5, by="communities", on="2026-11-19")
"""How often the spread of degrees is estimated again, from better parts, at most."""
_TRIANGLES = tuned(1.3, by="communities", on="2026-11-19")
"""How many times the triangles that parts explain a graph may have: .7 to 1.15 times in block models, LFR graphs and PolBlogs, 1.45
times in PolBooks, 3.4 to 8.7 times in graphs of nearest neighbours."""
_PAIRS = tuned(1.15, by="communities", on="2026-11-19")
"""How many times the log-likelihood of parts that of pairs must be: it is 1.02 to 1.04 times in graphs with edges inside parts, 1.3
to 4.4 times in graphs with edges between them."""
_BULK = tuned(2.0, by="communities", on="2026-11-19")
"""Eigenvalues of a random graph with mean degree d are within 2 / √d of zero, but for the largest."""
_STARTS = tuned(5, by="communities", on="2026-11-19")
"""Of rates of pairs, at most: their likelihood has more maxima."""


@dataclass(frozen=True)
class BlockModel(Method):
    """The likeliest W B Wᵀ with one entry in each row of W: between vertices i and j of parts r and s there are uᵢ uⱼ B_rs edges.

    u are the degrees, as far as they vary within parts by more than chance does, and their mean for the rest: all of them for
    random graphs of blocks, which is nearly the degrees themselves for scale-free graphs. W minimises the I-divergence.

    Vertices are moved one by one as long as the likelihood grows, from the partition of the eigenvectors; then it is shaken.
    Memberships are the probabilities of the parts of a vertex, given those of all others.

    Attributes
    ----------
    rates : {"auto", "parts", "pairs"}
        What B has: "parts" has an entry for each part, and one for all pairs of different parts; "pairs" has one for each pair, so
        that vertices of a part may have their edges to another. "auto" is "pairs" where these explain half as much again, and
        "parts" elsewhere; and where a graph has more triangles than its parts explain, as have graphs of neighbours in space,
        in which parts may have any shape, it is `Refined`, the normalised cut. So it is for graphs with loops, and dense ones, and
        for bipartite ones (paths, trees, grids), whose two sides explain all edges and are no communities.
    """

    similarity: ClassVar[str] = "regularized"
    rates: Literal["auto", "parts", "pairs"] = "auto"

    def __post_init__(self) -> None:
        if self.rates not in ("auto", "parts", "pairs"):
            raise IncompatibleError(f"rates can be 'auto', 'parts' or 'pairs'; got {self.rates!r}.")

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        if S.entries is None or S.weights is None or S.outer is not None:
            raise IncompatibleError("A block model is made of edges: use similarity='regularized' or 'normalized'.")
        A = sparse.csr_array(scaled(S.entries, np.sqrt(S.weights)))
        if self.rates == "auto" and not _may_have_blocks(A, count):
            return _cut(S, count, generator, effort)
        A = A * (A.sum() / (A.data**2).sum())  # so that weights have the variance of counts
        found = [] if self.rates == "pairs" else _settle_parts(S, A, count, generator)
        if self.rates == "pairs" or (self.rates == "auto" and not is_interrupted()):
            pairs = self._settle_pairs(S, A, count, generator, effort)
            least = max((_PAIRS * blocks.likelihood for blocks in found), default=-np.inf)
            found = [blocks for blocks in pairs if blocks.likelihood > least] or found
        best = max(found, key=lambda blocks: blocks.likelihood)
        if self.rates == "auto" and not best.pairs and _has_more_triangles(A, best, count):
            return _cut(S, count, generator, effort)
        kind = BlockModel("pairs" if best.pairs else "parts")
        return Partitioned(best.labels, best.probabilities, len(found), best.likelihood, kind)

    def _settle_pairs(
        self, S: Similarity, A: sparse.csr_array, count: int, generator: np.random.Generator, effort: Effort
    ) -> list[_Blocks]:
        """Block models with a rate for each pair of parts; with "auto" none where eigenvalues tell of no edges between parts."""
        bulk = 0.0 if self.rates == "pairs" else _BULK / np.sqrt(A.sum() / S.n)
        starts = _by_magnitude(S, count, generator, effort, bulk)
        starts += [_by_degrees(A, count, generator)] if self.rates == "pairs" else []
        return [_settled(A, start, count, generator, pairs=True) for start in starts]


def _cut(S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
    return Refined().partition(S, count, generator, effort)._replace(method=Refined())


class _Blocks(NamedTuple):
    labels: np.ndarray
    likelihood: float
    probabilities: np.ndarray
    u: np.ndarray
    pairs: bool


def _settle_parts(S: Similarity, A: sparse.csr_array, count: int, generator: np.random.Generator) -> list[_Blocks]:
    """Block models with a rate for each part, from the eigenvectors' partition and from the cut that follows it."""
    own = discretised(eigenrows(S, count, generator), count, generator)
    cut = Mover(S)(own, np.ones((S.n, count), dtype=bool), generator).labels
    return [_settled(A, start, count, generator, pairs=False) for start in (own, cut)]


def _settled(A: sparse.csr_array, labels: np.ndarray, count: int, generator: np.random.Generator, *, pairs: bool) -> _Blocks:
    """The partition after moves and shakes; the spread of degrees is estimated again as long as that changes it."""
    from ...kernels.blocks import settle_blocks

    labels, gains = labels.astype(np.int64), np.zeros((len(labels), count))
    state = np.array([generator.integers(1, 2**31 - 1)])
    movable, likelihood = degrees(A) > 0, 0.0
    shakes = int(min(_SHAKES, _BUDGET / 10 / (A.nnz + labels.size * count ** (2 if pairs else 1))))
    for _ in range(_ROUNDS):
        before, u = labels.copy(), expected_degrees(A, labels, count)
        given = (state, np.zeros(1, dtype=np.int64), A.indptr, A.indices, A.data, u, movable, pairs, labels, gains)
        likelihood = settle_blocks(shakes, _VISITS, _IN_VAIN, *given)
        if (labels == before).all() or is_interrupted():
            break
    odds = np.exp(gains - gains.max(axis=1, keepdims=True))
    return _Blocks(labels, float(likelihood), odds / odds.sum(axis=1, keepdims=True), u, pairs)


def expected_degrees(A: Any, labels: np.ndarray, count: int) -> np.ndarray:
    """Degrees, drawn towards their mean by the share of their variance within parts that counts have by chance."""
    k = degrees(A)
    some = k > 0
    sizes = np.maximum(np.bincount(labels, some, minlength=count), 1)
    within = k - (np.bincount(labels, k, minlength=count) / sizes)[labels]
    variance = (within[some] ** 2).sum() / max(some.sum() - count, 1)
    mean = k.sum() / some.sum()
    share = max(0.0, 1 - mean / variance) if variance > 0 else 0.0
    return np.where(some, mean + share * (k - mean), 0.0)


def _by_magnitude(S: Similarity, count: int, generator: np.random.Generator, effort: Effort, bulk: float) -> list[np.ndarray]:
    """Partitions by eigenvectors of the eigenvalues largest in magnitude.

    With a `bulk`, there are none unless an eigenvalue is below −`bulk`.
    """
    from sklearn.cluster import KMeans

    vectors = leading(Operator(S.n, lambda W: S @ (S @ W)), count, generator)[1]
    values = np.linalg.eigvalsh(vectors.T @ (S @ vectors))
    if bulk and values[0] >= -bulk:
        return []
    rows = unit_length(np, vectors, "rows")
    draws = generator.integers(2**31, size=min(effort.n_init, _STARTS))
    return [KMeans(count, n_init=1, random_state=int(draw)).fit_predict(rows).astype(np.int64) for draw in draws]


def _by_degrees(A: sparse.csr_array, count: int, generator: np.random.Generator) -> np.ndarray:
    """Clusters of degrees, by their roots: a core and its periphery, which eigenvectors take for one part."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different degrees than parts
        found = KMeans(count, n_init=1, random_state=int(generator.integers(2**31))).fit(np.sqrt(degrees(A))[:, None])
    return np.asarray(found.labels_, dtype=np.int64)


def _may_have_blocks(A: sparse.csr_array, count: int) -> bool:
    """Whether a block model may tell something: a graph without loops, not dense and not bipartite, in several parts."""
    return count > 1 and not A.diagonal().any() and 2 * A.nnz <= A.shape[0] ** 2 and _has_odd_cycle(A)


def _has_odd_cycle(A: sparse.csr_array) -> bool:
    """Whether a graph is not bipartite: its double cover has fewer than two components for each of its own."""
    cover = sparse.block_array([[None, A], [A, None]], format="csr")
    return bool(connected_components(cover, directed=False)[0] < 2 * connected_components(A, directed=False)[0])


def _has_more_triangles(A: sparse.csr_array, blocks: _Blocks, count: int) -> bool:
    """Whether a graph has many more triangles than its parts explain."""
    C = sparse.csr_array((np.ones(len(blocks.labels)), (np.arange(len(blocks.labels)), blocks.labels)), shape=(A.shape[0], count))
    edges = (C.T @ A @ C).toarray()
    sums, squares = C.T @ blocks.u, C.T @ blocks.u**2
    pairs = np.outer(sums, sums)
    others = ~np.eye(count, dtype=bool)
    B = np.where(others, edges[others].sum() / max(pairs[others].sum(), 1e-300), edges / np.maximum(pairs, 1e-300))
    expected = np.trace(np.linalg.matrix_power(squares[:, None] * B, 3))
    return float((A @ A).multiply(A).sum()) > _TRIANGLES * expected
