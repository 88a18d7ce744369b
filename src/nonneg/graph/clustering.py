"""The partitioners as a scikit-learn estimator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from importlib import import_module
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..data.reading import refuse_masked
from ..estimators.annotations import Kernel, RandomState
from ..estimators.atomic import atomic_fit
from ..estimators.docstrings import documented
from ..estimators.neighbours import NEIGHBOURS, neighbour_graph
from ..estimators.shareable import Shareable, renamed
from ..estimators.validation import validated
from ..exceptions import DataError, IncompatibleError, ShapeError, Stopped, find, is_count, is_number, users_line
from ..kernels.tuned import tuned
from ..plot.graphs import partition as draw_partition
from ..solve.context import Context
from ..solve.progress import inner_runs
from ._edges import is_igraph
from ._partitions import compact, trace_of
from ._reading import (
    Graph,
    asymmetry,
    check_symmetrize,
    check_weights,
    edges_given,
    is_graph,
    is_networkx,
    looks_like_edges,
    names_of_table,
    read_graph,
    undirected,
)
from .methods import METHODS, Effort, Method
from .similarities import (
    SIMILARITIES,
    DiscriminativeKMeans,
    Modularity,
    Regularized,
    Similarity,
    VertexSimilarity,
    cosine_graph,
    degrees,
    modularity,
)

_AS_MODULAR = tuned(0.05, by="communities", on="2026-11-19")
"""How much less modularity than the largest counts as much the same."""


@renamed(affinity="kernel")
@documented
@dataclass(eq=False, repr=False)
class GraphClustering(ClusterMixin, Shareable, BaseEstimator):
    r"""The vertices of a graph in parts, so that those within a part are alike.

    .. math:: \max_{W \ge 0,\ W^T W = I} \operatorname{tr}(W^T S W)

    S says how alike two vertices are; W are the indicators of the parts, of length one.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        How many parts. "auto" takes the number that `nonneg.selection.rank_scan` finds, from 2 to 12, by how well partitions of
        subgraphs agree. If they agree at no number, it warns, and takes the smallest one with a modularity within 5 % of the
        largest. Fewer may come out where S_ii ≤ 0, so that a part of few vertices
        can be worth nothing or less.
    method : str or Method, default="auto"
        "auto" is a block model: the partition under which the edges are most likely, if each part has a density of its own and
        all pairs of parts share one; or each pair has its own ("block-model", W B Wᵀ), where that explains much more, as in
        graphs with edges between parts. Where a graph has more triangles than parts explain, as graphs of nearest neighbours
        have, where it is bipartite, has loops or is dense, and for any `similarity` that is named, "auto" is "refined": the trace
        is made large by moves of single vertices from eigenvectors, random numbers and √ONL, and partitions are shaken.
        "onl", "sqrt-onl", "nl", "sqrt-nl" are the rules ONL Eq. 39–42; "nsc" is non-negative spectral clustering; "kernel-pnmf"
        kernel PNMF (QNMF §5.1); "kernel-kmeans" ONL Eq. 43; "pod" eigenvectors with the best discretisation.
        Or an object of `nonneg.graph.methods`.
    similarity : str or callable, default="auto"
        S: "adjacency", "laplacian" (its negative), "modularity", "vertex" (Leicht, Holme and Newman), "discriminative-kmeans"
        (ONL Eq. 38, λ = 10), "normalized" (normalised cut), "regularized" (the same with D + τI for degrees D, τ a fiftieth of
        their mean, so that a few vertices with next to no edges to others are no part), "random-walk" (QNMF §5.1); or a function
        of the adjacency matrix, such as `DiscriminativeKMeans(5.0)`. For rules that need S = S⁺ − S⁻, "modularity" is split into
        its terms, A and k kᵀ/2m; `Modularity("entries")` by its entries, ``(|S| ± S)/2``, as ONL §4 has it. "auto" is what a method
        was published with: "discriminative-kmeans" for NL and ONL, "random-walk" for "kernel-pnmf", "normalized" for the others;
        and "regularized" for "auto", "refined" and "block-model".
    kernel : str or callable, default="precomputed"
        "precomputed", where X is a graph: networkx, sparse array, or array of affinities. For samples with features, "cosine" as
        ONL §4.3 has it, "nearest_neighbors" for the graph of samples and their nearest neighbours, in which clusters may have any
        shape, or any kernel of `sklearn.metrics.pairwise` that is not negative. "refined" is what `method="auto"` is for samples.
    n_neighbors : int, default=10
        Of kernel="nearest_neighbors", how many of each sample.
    symmetrize : {None, "mean", "max"}, default=None
        What to do with a directed graph: refuse it, take the mean of both ways, or the larger one.
    n_init : int, default=10
        Starts of each kind, at most. "auto" makes no more of them once four have come to the best partition, and makes do with one
        above 20 000 vertices.
    max_iter : int, default=1000
        Iterations of the multiplicative rules.
    tol : float, default=1e-5
        They stop once the objective changes by no more than this share of it between two checks; 0 runs to `max_iter`.
    random_state : int, Generator, RandomState or None
        Seed of the starts.

    Attributes
    ----------
    labels_ : array of shape (n_vertices,)
        The parts, numbered in the order of their first vertices.
    communities_ : list of sets
        The names of the vertices of each part, as networkx has communities.
    n_clusters_ : int
        How many parts were asked for, or found by "auto".
    method_ : Method
        The method that made the parts: of "auto", `BlockModel("parts")`, `BlockModel("pairs")` or `Refined()`.
    memberships_ : array of shape (n_vertices, n_clusters)
        How much each vertex belongs to each part: rows of W, divided by their sums. Of a block model, the probabilities of its
        parts, given those of all other vertices.
    objective_ : float
        What `method_` made large: tr(WᵀSW) of the parts as they are in `labels_`. With "modularity", their modularity. Of a block
        model, the log-likelihood beyond that of a graph with the same expected degrees and no parts.
    vertices_ : array of shape (n_vertices,)
        What the vertices are called: nodes of a graph, ends of edges, columns of a table, or numbers.
    similarity_ : Similarity
        S; not kept in files.
    n_iter_ : int
        Iterations, or partitions tried for "auto".
    n_features_in_ : int

    See Also
    --------
    nonneg.ProjectiveClustering : Samples with features.
    nonneg.plot.partition : Draws the parts.
    nonneg.selection.rank_scan : Chooses the number of parts.

    Notes
    -----
    ONL's protocol is ``GraphClustering(k, method="onl", similarity="discriminative-kmeans", n_init=50, max_iter=10_000, tol=0)``.
    A vertex without edges is like no other. Where its weight in a normalised cut is zero, nothing says where it belongs: it goes
    to the largest part, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import GraphClustering
    >>> two_triangles = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> two_triangles[2, 3] = two_triangles[3, 2] = 1
    >>> GraphClustering(2, random_state=0).fit_predict(two_triangles)
    array([0, 0, 0, 1, 1, 1])
    """

    _made_of: ClassVar[tuple[type, ...]] = (Method, DiscriminativeKMeans, Modularity, Regularized, VertexSimilarity)
    _left_out: ClassVar[tuple[str, ...]] = ("similarity_",)  # as large as the graph, and made of functions

    n_clusters: int | str = 8
    _: KW_ONLY
    method: str | Method = "auto"
    similarity: str | Callable[[Any], Similarity] = "auto"
    kernel: Kernel = "precomputed"
    n_neighbors: int = 10
    symmetrize: Literal["mean", "max"] | bool | None = None
    n_init: int = 10
    max_iter: int = 1000
    tol: float = 1e-5
    random_state: RandomState = None

    @atomic_fit
    def fit(self, X: Any, y: Any = None) -> GraphClustering:
        """Partition a graph.

        Parameters
        ----------
        X : networkx or igraph graph, path, edges, sparse array, or array or table of shape (n, n); or samples with a `kernel`
            Edges are a list of tuples (a, b) or (a, b, weight), or a table with columns "source", "target" and "weight".
        y : None
            Not used.
        """
        method, similarity = self._check_names()
        effort, generator = self._effort(), self._generator()
        self._count()
        A, names = self._adjacency(X)
        n = A.shape[0]
        count = self._suggested(A, generator) if self.n_clusters == "auto" else self._count(n)
        S = similarity(A)
        if not isinstance(S, Similarity) or S.n != n:
            raise IncompatibleError(
                f"similarity={self.similarity!r} must make a nonneg.graph.Similarity of {n} vertices from the adjacency matrix; it "
                f"made {f'one of {S.n}' if isinstance(S, Similarity) else f'an object of type {type(S).__name__}'}."
            )
        context = Context()
        with context.watching(), inner_runs("partitions"):
            found = method.partition(S, count, generator, effort)
        labels = self._settled(A, S, found.labels)
        order = np.argsort([np.argmax(labels == k) if (labels == k).any() else n for k in range(count)], kind="stable")
        sums = found.memberships.sum(axis=1, keepdims=True)
        self.memberships_ = (found.memberships / np.where(sums > 0, sums, 1.0))[:, order]
        self.labels_ = compact(labels)
        rows = np.arange(n)
        own, first = self.memberships_[rows, self.labels_], self.memberships_.argmax(axis=1)
        tied = (first != self.labels_) & (own > 0) & (own == self.memberships_[rows, first])
        self.memberships_[rows[tied], self.labels_[tied]] = np.nextafter(own[tied], 1.0)  # so that the largest is the label's
        self.objective_ = trace_of(S, labels, count) if found.objective is None else found.objective
        self.method_ = found.method or method
        self.vertices_, self.similarity_, self.n_iter_, self.n_clusters_ = names, S, int(found.n_iter), count
        if context.interrupt.is_set():
            raise Stopped("GraphClustering was interrupted; it holds the best partition so far.")
        return self

    def _check_names(self) -> tuple[Method, Callable[[Any], Similarity]]:
        """Method and similarity by name; unknown names are refused."""
        method = self.method if isinstance(self.method, Method) else find("method", self.method, METHODS, "a Method")
        is_plain = self._is_precomputed and isinstance(self.similarity, str) and self.similarity == "auto"
        if method is METHODS["auto"] and not is_plain:
            method = METHODS["refined"]
        similarity = self._similarity(method)
        self._check_kernel()
        check_symmetrize(self.symmetrize)
        return method, similarity

    def _effort(self) -> Effort:
        for name, least in (("n_init", 1), ("max_iter", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise IncompatibleError(f"{name} must be an int of at least {least}; got {value!r}.")
        if not is_number(self.tol) or self.tol < 0:
            raise IncompatibleError(f"tol must be a number of at least 0; got {self.tol!r}.")
        return Effort(int(self.n_init), int(self.max_iter), float(self.tol))

    def _count(self, n: int | None = None) -> int:
        k = self.n_clusters
        if k == "auto":
            return 1
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ShapeError(f"n_clusters must be an int of at least 1, or 'auto'; got {k!r}.")
        if n is not None and k > n:
            raise ShapeError(f"n_clusters={k} parts cannot be made of {n} vertices. Use at most as many.")
        return int(k)

    def _suggested(self, A: Any, generator: np.random.Generator) -> int:
        """The number of parts that a scan finds."""
        selection = import_module("nonneg.selection")  # which scans the estimators of this package
        own = clone(self).set_params(n_clusters=1, kernel="precomputed", symmetrize=None)
        scan = selection.rank_scan(own, A, "auto", random_state=int(generator.integers(2**31)))
        if next(iter(scan.choices_.values())).is_supported:
            return int(scan.best_)
        counts, S = list(scan.found_["subsamples"]), modularity(A)
        shares = [trace_of(S, own.set_params(n_clusters=count).fit(A).labels_, count) for count in counts]
        place = next(place for place, share in enumerate(shares) if share >= max(shares) - _AS_MODULAR * abs(max(shares)))
        warnings.warn(
            f"n_clusters='auto': partitions of subgraphs agree at no number from {counts[0]} to {counts[-1]}, so that none "
            f"is sure. {counts[place]} is the smallest with a modularity, {shares[place]:.3g}, within {_AS_MODULAR:.0%} of the "
            "largest.",
            stacklevel=users_line(),
        )
        return int(counts[place])

    @property
    def communities_(self) -> list[set[Any]]:
        """The names of the vertices of each part, as networkx has communities."""
        check_is_fitted(self)
        return [set(self.vertices_[self.labels_ == part].tolist()) for part in range(self.labels_.max() + 1)]

    def to_frame(self) -> Any:
        """The vertices as a DataFrame, with their names for its index: the part of each, and how much it belongs to every part."""
        check_is_fitted(self)
        import pandas

        table = {"part": self.labels_} | {f"membership {part}": column for part, column in enumerate(self.memberships_.T)}
        return pandas.DataFrame(table, index=pandas.Index(self.vertices_, name="vertex", tupleize_cols=False))

    def annotate(self, graph: Any, name: str = "part") -> Any:
        """Write the part of each vertex into a graph, as an attribute of its nodes, and return the graph.

        Parameters
        ----------
        graph : networkx or igraph graph
            With the vertices that were partitioned; it may have others.
        name : str, default="part"
            The attribute.
        """
        check_is_fitted(self)
        part = dict(zip(self.vertices_.tolist(), self.labels_.tolist(), strict=True))
        if is_networkx(graph):
            for node, attributes in graph.nodes(data=True):
                if node in part:
                    attributes[name] = part[node]
        elif is_igraph(graph):
            names = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
            graph.vs[name] = [part.get(vertex) for vertex in names]
        else:
            raise IncompatibleError(f"graph must be a graph of networkx or igraph; got {type(graph).__name__}.")
        return graph

    def plot(self, X: Any, ax: Any = None) -> Any:
        """Draw the graph with its vertices coloured by part; see `nonneg.plot.partition`.

        Parameters
        ----------
        X : networkx or igraph graph, edges, sparse array or array
            As it was fitted.
        ax : matplotlib Axes, optional
            Where to; a new one by default.
        """
        check_is_fitted(self)
        A, names = clone(self)._adjacency(X)
        has_names = any(name != number for number, name in enumerate(names.tolist()))
        return draw_partition(self, A, names=names.tolist() if has_names else None, ax=ax)

    def _generator(self) -> np.random.Generator:
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        try:
            return np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        except (TypeError, ValueError) as error:
            raise IncompatibleError(
                f"random_state must be None, an int from 0 to 2³² − 1, a Generator or a RandomState; got {self.random_state!r}."
            ) from error

    def _similarity(self, method: Method) -> Callable[[Any], Similarity]:
        if isinstance(self.similarity, str) or not callable(self.similarity) or isinstance(self.similarity, type):
            is_auto = isinstance(self.similarity, str) and self.similarity == "auto"
            name = method.similarity if is_auto else self.similarity
            return find("similarity", name, SIMILARITIES, "a function of the adjacency matrix")
        return self.similarity

    def _check_kernel(self) -> None:
        known = ("precomputed", NEIGHBOURS, *sorted(PAIRWISE_KERNEL_FUNCTIONS))
        if isinstance(self.kernel, type) or not (callable(self.kernel) or (isinstance(self.kernel, str) and self.kernel in known)):
            names = ", ".join(map(repr, known))
            raise IncompatibleError(f"Unknown kernel {self.kernel!r}. Known names: {names}; or a function of two samples.")
        if not is_count(self.n_neighbors, 1):
            raise IncompatibleError(f"n_neighbors must be an int of at least 1; got {self.n_neighbors!r}.")

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _adjacency(self, X: Any) -> tuple[Any, np.ndarray]:
        """A symmetric adjacency matrix, and the names of its vertices."""
        if is_graph(X) and (self._is_precomputed or not isinstance(X, str | os.PathLike)):
            if not self._is_precomputed:
                raise IncompatibleError(f"kernel={self.kernel!r} is for samples with features; X is a graph already.")
            graph = read_graph(X, "X")
            self.n_features_in_ = graph.n
        else:
            refuse_masked(X, "X")
            table = X if hasattr(X, "columns") and hasattr(X, "iloc") else None
            if self._is_precomputed and looks_like_edges(X):
                raise DataError(f"{edges_given(X, 'X')} If its rows are samples, use kernel='cosine', or a kernel such as 'rbf'.")
            X = validated(self, X, dtype=np.float64, ensure_min_samples=1)
            if self._is_precomputed:
                if X.shape[0] != X.shape[1]:
                    raise DataError(
                        f"X must be square with kernel='precomputed': weights between all pairs of vertices; its shape is "
                        f"{X.shape}. For samples with features use kernel='cosine', or a kernel such as 'rbf'."
                    )
                graph = read_graph(X, "Negative values in data passed to X: X" if _has_negative(X) else "X")
                graph = graph if table is None else replace(graph, names=names_of_table(table, "X"))
            else:
                K = check_weights(self._kernel(X), f"The graph of kernel={self.kernel!r}")
                graph = Graph(K, np.arange(K.shape[0]), directed=asymmetry(K) > 0)
        A = undirected(graph, self.symmetrize, "X")
        if not degrees(A).any():
            raise DataError(f"X has {graph.n} vertices and no edges: there is nothing to partition it by.")
        return A, graph.names

    def _kernel(self, X: Any) -> Any:
        if isinstance(self.kernel, str) and self.kernel == "cosine":
            return cosine_graph(X)
        if isinstance(self.kernel, str) and self.kernel == NEIGHBOURS:
            return neighbour_graph(X, self.n_neighbors)
        return np.asarray(pairwise_kernels(X, metric=self.kernel), dtype=np.float64)

    def _settled(self, A: Any, S: Similarity, labels: np.ndarray) -> np.ndarray:
        """Vertices without edges go to the largest part, where their weight is nothing and so nothing says where they belong."""
        if S.weights is None:
            return labels
        alone = S.weights == 0
        if alone.any():
            warnings.warn(
                f"{int(alone.sum())} of {len(labels)} vertices have no edges; nothing says where they belong, and they are put "
                "into the largest part.",
                stacklevel=users_line(),
            )
            labels = np.where(alone, np.bincount(labels[~alone]).argmax(), labels)
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.positive_only = isinstance(self.kernel, str) and self.kernel in ("precomputed", "cosine")
        tags.input_tags.sparse = True
        return tags


def _has_negative(X: Any) -> bool:
    return bool(np.min(X.data if hasattr(X, "indptr") else X, initial=0.0) < 0)
