"""Graph matching: the permutation P with which P A Pᵀ is most like B (QNMF §5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from ..constraints import Constraint
from ..divergences import Objective
from ..exceptions import DataError, IncompatibleError, ShapeError
from ..factorization import Task
from ..model import Model
from ..naming import find
from ..solvers import Solver, Stopping
from ._reading import Graph, read_graph
from .correspondences import CORRESPONDENCES, Correspondence

_BALANCING = 20
_UNLIKELY = 1e-9
_SHAKES, _EFFORT = 200, 5e7
"""How often the best matching is shaken, at most, and for how many cubes of the number of vertices."""
_LARGEST = 5000
"""Vertices that can be matched: the matrix of who is whom is dense."""


@dataclass(frozen=True)
class Matching:
    """What `match_graphs` found.

    Attributes
    ----------
    permutation : array of shape (n_B,)
        The vertex of A that each vertex of B is matched with; −1 for none, where A has fewer vertices. Where both have equally
        many, ``A[permutation][:, permutation]`` is most like B.
    edge_error : int
        Entries in which P A Pᵀ and B differ, vertices that are not matched counted as if they were without edges.
    squared_error : float
        ‖B − P A Pᵀ‖²: the same for graphs without weights.
    W : array of shape (n, n)
        The factor that was rounded to P: how much vertex i of B is vertex j of A, with n the larger number of vertices.
    confidence : array of shape (n_B,)
        W of a match beside its strongest rival, W_ij / (W_ij + rival): 1 is sure, ½ a tie, as between vertices that could be
        exchanged without any edge noticing; less where exchanging pairs found better than W has it.
    start : str
        The first guess that led to it.
    errors : dict
        The squared error that each first guess led to.
    n_iter : int
    names : tuple of two arrays
        What the vertices of A and of B are called.
    """

    permutation: np.ndarray
    edge_error: int
    squared_error: float
    W: np.ndarray
    confidence: np.ndarray
    start: str
    errors: dict[str, float]
    n_iter: int
    names: tuple[np.ndarray, np.ndarray]

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """Vertices of A with those of B that they are matched with, by name."""
        names_A, names_B = self.names
        return [(names_A[a], names_B[b]) for b, a in enumerate(self.permutation) if a >= 0]


def match_graphs(
    A: Any,
    B: Any,
    *,
    divergence: str | float | Objective | None = "kullback-leibler",
    constraint: str | Constraint = "permutation",
    init: str | Correspondence | Any = "auto",
    n_init: int = 0,
    seeds: Any = None,
    polish: bool = True,
    solver: str | Solver = "auto",
    max_iter: int = 40,
    tol: float = 1e-5,
    random_state: Any = None,
) -> Matching:
    r"""Find which vertex of one graph is which of another.

    .. math:: \min_{W \ge 0} D(B \| W A W^T), \quad W^T W = W W^T = I

    W is then rounded to a permutation by the Hungarian method, pairs are exchanged as long as that gains, and the best of several
    first guesses is kept.

    Parameters
    ----------
    A, B : networkx graph, sparse array or array
        Directed or not, with weights ≥ 0 or without. The smaller one is filled up with vertices without edges.
    divergence : str, float, Objective or None, default="kullback-leibler"
        "kullback-leibler" is I-QNMF, "euclidean" EU-QNMF; any other that allows zeros. None rounds the first guess as it is: with
        ``init="umeyama"`` this is Umeyama's method.
    constraint : str or Constraint, default="permutation"
        "permutation" has W orthogonal on both sides, with rows and columns balanced; "orthogonal" is the paper's.
    init : str, callable, array, or a list of them, default="auto"
        First guesses: "umeyama", "eigenvectors" (all pairs of them), "walks", "random"; a function of A, B and a Generator; or an
        array with rows for B and columns for A. "auto" tries the first three and `n_init` at random, in turn until one fits.
    n_init : int, default=0
        How many at random; one at least where ``init="random"``.
    seeds : array of shape (n_seeds, 2) or dict, optional
        Pairs known beforehand, a vertex of A and one of B: numbers, or the names of networkx nodes.
    polish : bool, default=True
        Exchange pairs as long as that gains, from what each guess is rounded to as well as from W; then shake the best and go on.
    solver, max_iter, tol
        As in `nonneg.factorize`.
    random_state : int, Generator or None

    Returns
    -------
    Matching

    Notes
    -----
    EU-QNMF and I-QNMF as printed: ``constraint="orthogonal", init="random", polish=False``. The squared error is what the best is
    chosen by; for graphs without weights it is the edge error.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import match_graphs
    >>> A = np.zeros((5, 5))
    >>> for i, j in [(0, 1), (1, 2), (2, 3), (3, 4), (1, 3)]:
    ...     A[i, j] = A[j, i] = 1
    >>> hidden = np.array([3, 0, 4, 1, 2])
    >>> found = match_graphs(A, A[np.ix_(hidden, hidden)], random_state=0)
    >>> found.edge_error
    0
    """
    graph_A, graph_B = read_graph(A, "A"), read_graph(B, "B")
    n = max(graph_A.n, graph_B.n)
    if n > _LARGEST:
        raise DataError(
            f"The larger graph has {n} vertices; at most {_LARGEST} can be matched, since W has an entry for each pair."
        )
    if not isinstance(n_init, Integral) or isinstance(n_init, bool) or n_init < 0:
        raise IncompatibleError(f"n_init must be an int of at least 0; got {n_init!r}.")
    full_A, full_B = _filled(graph_A, n), _filled(graph_B, n)
    seeded = _read_seeds(seeds, graph_A, graph_B)
    generator = np.random.default_rng(random_state)
    task = _task(full_A, full_B, divergence, constraint, max_iter)
    stopping = Stopping(tol=tol, max_iter=max_iter)

    best: tuple[float, np.ndarray, np.ndarray, str, int] | None = None
    errors: dict[str, float] = {}
    for name, guess in _guesses(init, int(n_init), (graph_B.n, graph_A.n)):
        if best is not None and best[0] == 0 and init == "auto":
            break
        W, n_iter = _with_seeds(guess(full_A, full_B, generator), seeded, full_A, full_B), 0
        start = _balanced(W)
        if task is not None:
            solution = task.solve({"W": start, "A": full_A}, solver, stopping)
            W, n_iter = solution.factors["W"], solution.n_iter
        for candidate in (W, start) if polish and task is not None else (W,):
            permutation = _rounded(candidate, seeded)
            if polish:
                permutation = _polished(full_A, full_B, permutation, seeded)
            error = _squared_error(full_A, full_B, permutation)
            errors[name] = min(error, errors.get(name, np.inf))
            if best is None or error < best[0]:
                best = error, permutation, W, name, n_iter
    if best is None:
        raise IncompatibleError("init is an empty list; at least one first guess is needed.")
    error, permutation, W, name, n_iter = best
    if polish and error > 0:
        permutation, error = _shaken(full_A, full_B, permutation, error, seeded, generator)
    differing = int(np.count_nonzero(full_A[np.ix_(permutation, permutation)] != full_B))
    matched = np.where(permutation[: graph_B.n] < graph_A.n, permutation[: graph_B.n], -1)
    confidence = _confidence(W, permutation)[: graph_B.n]
    names = graph_A.names, graph_B.names
    return Matching(matched, differing, error, W, confidence, name, errors, n_iter, names)


def _filled(graph: Graph, n: int) -> np.ndarray:
    """The adjacency matrix as an array, with vertices without edges up to n."""
    A = graph.adjacency.toarray() if sparse.issparse(graph.adjacency) else graph.adjacency
    return np.pad(A, (0, n - len(A)))


def _task(A: np.ndarray, B: np.ndarray, divergence: Any, constraint: Any, max_iter: int) -> Task | None:
    if divergence is None:
        return None
    model = Model("W A W.T", divergence, {"W": constraint, "A": "fixed"}, data="B")
    if not A.any() or not B.any():
        return None
    return Task(B, model, init={"A": A}, horizon=max_iter)


def _guesses(init: Any, n_init: int, shape: tuple[int, int]) -> Iterable[tuple[str, Correspondence]]:
    """First guesses with what to call them; shape is the numbers of vertices of B and of A."""
    several = (
        init
        if isinstance(init, list | tuple)
        else [*("umeyama", "eigenvectors", "walks", "random")]
        if _is(init, "auto")
        else [init]
    )
    for number, one in enumerate(several):
        if isinstance(one, str):
            guess = find("init", one, CORRESPONDENCES, "a function of A and B, or an array")
            for k in range(1 if one != "random" else n_init if _is(init, "auto") else max(n_init, 1)):
                yield (f"{one} {k}" if one == "random" else one), guess
        elif callable(one):
            yield f"init {number}", _computed(one, shape)
        else:
            yield f"init {number}", _given(one, shape)


def _is(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def _computed(guess: Correspondence, shape: tuple[int, int]) -> Correspondence:
    return lambda A, B, generator: _checked(guess(A, B, generator), shape)


def _given(array: Any, shape: tuple[int, int]) -> Correspondence:
    W = _checked(array, shape)
    return lambda A, B, generator: W


def _checked(array: Any, shape: tuple[int, int]) -> np.ndarray:
    """A guess that was given, filled up until it is square."""
    n = max(shape)
    try:
        W = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"init cannot be read as an array of numbers: {error}.") from error
    if W.shape not in (shape, (n, n)) or not np.isfinite(W).all() or (W < 0).any():
        raise ShapeError(
            f"init must be an array of shape {shape}, without negative or missing entries: a row for each vertex of B, a column "
            f"for each of A; got shape {W.shape}."
        )
    return np.pad(W, ((0, n - W.shape[0]), (0, n - W.shape[1])))


def _read_seeds(seeds: Any, A: Graph, B: Graph) -> np.ndarray:
    """Pairs of numbers, of a vertex of A and one of B."""
    if seeds is None:
        return np.zeros((0, 2), dtype=np.int64)
    try:
        pairs = list(seeds.items()) if isinstance(seeds, Mapping) else [tuple(pair) for pair in seeds]
        hash(tuple(pairs))
    except TypeError:
        pairs = [()]
    if any(len(pair) != 2 for pair in pairs):
        raise ShapeError("Each of the seeds must be a pair: a vertex of A, and the vertex of B that it is.")
    numbers = [{name: number for number, name in enumerate(graph.names)} for graph in (A, B)]
    read = []
    for pair in pairs:
        for vertex, known, which in zip(pair, numbers, "AB", strict=True):
            if vertex not in known:
                raise DataError(f"The seed {pair!r} names {vertex!r}, which is no vertex of {which}.")
        read.append([known[vertex] for vertex, known in zip(pair, numbers, strict=True)])
    found = np.array(read, dtype=np.int64).reshape(-1, 2)
    for column, which in enumerate("AB"):
        if len(np.unique(found[:, column])) < len(found):
            raise DataError(f"Two of the seeds have the same vertex of {which}; each vertex can be matched once.")
    return found


def _with_seeds(W: np.ndarray, seeds: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The guess with what seeds say: they themselves, and who is tied to them in the same ways."""
    if not len(seeds):
        return W
    of_A, of_B = seeds.T
    disagreement = sum(
        np.abs(b[:, None, :] - a[None, :, :]).sum(axis=2) for a, b in ((A[:, of_A], B[:, of_B]), (A[of_A].T, B[of_B].T))
    )
    W = W / (W.max() or 1.0) * np.exp(-disagreement / (0.5 * float(disagreement.mean()) + 1e-12))
    W[of_B, :], W[:, of_A] = 0.0, 0.0
    W[of_B, of_A] = 1.0
    return W


def _balanced(W: np.ndarray) -> np.ndarray:
    """Rows and columns that sum to about one, with nothing ruled out."""
    W = W + _UNLIKELY * (W.max() or 1.0)
    for _ in range(_BALANCING):
        W = W / W.sum(axis=0)
        W = W / W.sum(axis=1, keepdims=True)
    return W


def _rounded(W: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """The permutation that W is nearest to, by the Hungarian method; seeds stay what they are."""
    rows, columns = np.ones(len(W), dtype=bool), np.ones(len(W), dtype=bool)
    rows[seeds[:, 1]], columns[seeds[:, 0]] = False, False
    permutation = np.empty(len(W), dtype=np.int64)
    permutation[seeds[:, 1]] = seeds[:, 0]
    rows_left, columns_left = np.flatnonzero(rows), np.flatnonzero(columns)
    permutation[rows_left] = columns_left[linear_sum_assignment(W[np.ix_(rows, columns)], maximize=True)[1]]
    return permutation


def _polished(A: np.ndarray, B: np.ndarray, permutation: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    from ..kernels.swaps import swap_pairs

    movable = np.ones(len(A), dtype=bool)
    movable[seeds[:, 1]] = False
    permutation = permutation.copy()
    least = 1e-9 * float(np.sqrt((A**2).sum() * (B**2).sum()))
    swap_pairs(np.ascontiguousarray(A), np.ascontiguousarray(B), permutation, movable, least, 100)
    return permutation


def _shaken(
    A: np.ndarray, B: np.ndarray, permutation: np.ndarray, error: float, seeds: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The best matching after a few vertices that do not fit have been exchanged at random, again and again, and polished."""
    n = len(A)
    free = np.setdiff1d(np.arange(n), seeds[:, 1])
    for _ in range(int(min(_SHAKES, _EFFORT / n**3))):
        differing = A[np.ix_(permutation, permutation)] != B
        wrong = (differing.sum(axis=0) + differing.sum(axis=1))[free].astype(float) + 1 / n
        count = min(int(generator.integers(3, 9)), len(free))
        chosen = generator.choice(free, count, replace=False, p=wrong / wrong.sum())
        again = permutation.copy()
        again[chosen] = permutation[generator.permutation(chosen)]
        again = _polished(A, B, again, seeds)
        other = _squared_error(A, B, again)
        if other <= error:
            permutation, error = again, other
        if error == 0:
            break
    return permutation, error


def _squared_error(A: np.ndarray, B: np.ndarray, permutation: np.ndarray) -> float:
    return float(((A[np.ix_(permutation, permutation)] - B) ** 2).sum())


def _confidence(W: np.ndarray, permutation: np.ndarray) -> np.ndarray:
    """W of each match beside the largest other entry in its row and column."""
    rows = np.arange(len(W))
    own = W[rows, permutation]
    others = W.copy()
    others[rows, permutation] = 0.0
    rival = np.maximum(others.max(axis=1), others.max(axis=0)[permutation])
    return own / np.where(own + rival > 0, own + rival, 1.0)
