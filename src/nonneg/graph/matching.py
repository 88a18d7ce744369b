"""Graph matching: the permutation P with which P A Pᵀ is most like B (QNMF §5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from ..constraints import Constraint, get_constraint
from ..constraints.stochastic import balanced
from ..divergences import Objective
from ..exceptions import DataError, IncompatibleError, ShapeError, Stopped, find
from ..kernels.tuned import tuned
from ..model import Model
from ..solve.context import Context
from ..solve.initialization import make_generator
from ..solve.problem import Problem, bind
from ..solve.progress import current_listener, is_interrupted
from ..solve.solvers import Multiplicative, Solver, Stopping, get_solver
from ..solve.solving import solve_from
from ._permutations import Pair, polished, regrown, rounded, searched
from ._reading import Graph, read_graph
from ._symmetries import have_doubles
from .correspondences import CORRESPONDENCES, Correspondence

_BALANCING = tuned(20, by="assignment", on="2026-11-15")
"""Sinkhorn sweeps of a first guess."""
_UNLIKELY = 1e-9
"""Share of the largest entry that rules no match out."""
_LARGEST = 5000
"""Vertices that can be matched: the matrix of who is whom is dense."""


@dataclass(frozen=True, repr=False, eq=False)
class Matching:
    """Result of `match_graphs`.

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
        W of a match beside its strongest rival, W_ij / (W_ij + rival): 1 is sure, ½ a tie, and less where exchanging pairs found
        better than W has it. Never more than ½ where A, or B, looks the same from another of its vertices, so that another
        matching is as good, whatever W has come to.
    start : str
        The first guess that led to it.
    errors : dict
        The squared error that each first guess led to, in the order in which they were tried.
    n_iter : int
    names : tuple of two arrays
        What the vertices of A and of B are called.

    See Also
    --------
    match_graphs : Returns one.
    nonneg.plot.matching : Draws one.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.graph import match_graphs
    >>> A = np.triu(np.ones((4, 4)), 1)
    >>> found = match_graphs(A, A, random_state=0)
    >>> found.permutation, found.edge_error
    (array([0, 1, 2, 3]), 0)
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

    def __repr__(self) -> str:
        names_A, names_B = self.names
        return (
            f"Matching({np.count_nonzero(self.permutation >= 0)} of {len(names_A)} and {len(names_B)} vertices, "
            f"edge_error={self.edge_error}, squared_error={self.squared_error:g}, start={self.start!r})"
        )

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

    W is then rounded to a permutation by the Hungarian method, pairs are exchanged as long as that gains, the best of several first
    guesses is searched around for better ones, and the best of all is kept.

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
        Restarts: first guesses at random (one at least where ``init="random"``), and as many more of the best matchings that are
        searched around. Matching graphs that fit hardly needs them; quadratic assignment, and much noise, do.
    seeds : array of shape (n_seeds, 2) or dict, optional
        Pairs known beforehand, a vertex of A and one of B: numbers, or the names of networkx nodes.
    polish : bool, default=True
        Exchange pairs as long as that gains, from what each guess is rounded to as well as from W; then search around the best by
        robust tabu search (Taillard 1991), and match all but the vertices that fit best anew (FAQ: Vogelstein et al. 2015), again
        and again.
    solver : str or Solver
        As in `nonneg.factorize`; "paper" takes the printed rule, with the exponent of the theorem, from the first guess as it is.
        Other solvers start from the first guess with balanced rows and columns.
    max_iter : int
        Most iterations from one first guess.
    tol : float
        Tolerance, as in `nonneg.factorize`.
    random_state : int, Generator, RandomState or None
        Seed of first guesses and of the search.

    Returns
    -------
    Matching
        Ctrl-C ends the search early, and then raises KeyboardInterrupt with the best so far as its `solution`.

    See Also
    --------
    Matching : What is returned.
    nonneg.plot.matching : Draws it.
    nonneg.metrics.edge_error : Counts edges that differ.

    Notes
    -----
    EU-QNMF and I-QNMF as printed: ``constraint="orthogonal", init="random", polish=False, solver="paper"``; W is divided by its
    largest singular value after each step, without which it grows beyond bounds. The squared error is what the best is
    chosen by; for graphs without weights it is the edge error.

    ‖B − P A Pᵀ‖² is smallest where Σ_ij B_ij A_p(i)p(j) is largest. So ``match_graphs(D.max() - D, F, n_init=10)`` minimises the
    cost Σ_ij F_ij D_p(i)p(j) of a quadratic assignment with flows F and distances D.

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
    if not isinstance(polish, bool | np.bool_):
        raise IncompatibleError(f"polish must be True or False; got {polish!r}.")
    if not isinstance(n_init, Integral) or isinstance(n_init, bool) or n_init < 0:
        raise IncompatibleError(f"n_init must be an int of at least 0; got {n_init!r}.")
    as_printed = _is(solver, "paper")
    solver = Multiplicative() if as_printed else solver
    if not _is(solver, "auto"):
        get_solver(solver)
    get_constraint(constraint)
    generator, stopping = _generator(random_state), Stopping(tol=tol, max_iter=max_iter)
    graph_A, graph_B = read_graph(A, "A"), read_graph(B, "B")
    n = max(graph_A.n, graph_B.n)
    if n > _LARGEST:
        raise DataError(
            f"The larger graph has {n} vertices; at most {_LARGEST} can be matched, since W has an entry for each pair."
        )
    full_A, full_B = _filled(graph_A, n), _filled(graph_B, n)
    guesses = _guesses(init, int(n_init), full_A, full_B, (graph_B.n, graph_A.n))
    pair = Pair.of(full_A, full_B, _read_seeds(seeds, graph_A, graph_B))
    problem = _problem(pair, divergence, constraint, max_iter)
    descent = None if problem is None else _Descent(problem, pair, solver, stopping, not as_printed)

    found: list[_Found] = []
    context = Context()
    with context.watching():
        for number, (name, guess) in enumerate(guesses):
            _say(f"first guess {name!r}, {number + 1} of {len(guesses)}")
            found.append(_from_guess(pair, name, guess(pair.A, pair.B, generator), descent, polish))
            if (found[-1].error == 0 and _is(init, "auto")) or context.interrupt.is_set():
                break
        if polish:
            found = _search(pair, found, 1 + int(n_init), generator)
    best = min(found, key=_error)
    matched = best.permutation[: graph_B.n]
    matching = Matching(
        permutation=np.where(matched < graph_A.n, matched, -1),
        edge_error=int(np.count_nonzero(full_A[np.ix_(best.permutation, best.permutation)] != full_B)),
        squared_error=pair.in_user_units(best.error),
        W=best.W,
        confidence=_with_ties(pair, best.permutation, _confidence(best.W, best.permutation))[: graph_B.n],
        start=best.start,
        errors={one.start: pair.in_user_units(one.error) for one in found},
        n_iter=best.n_iter,
        names=(graph_A.names, graph_B.names),
    )
    if context.interrupt.is_set():
        stopped = Stopped("The matching was interrupted; `solution` is the best so far.")
        stopped.solution = matching
        raise stopped
    return matching


def _say(text: str) -> None:
    """Report a stage to listeners of progress."""
    current_listener().phase(text)


@dataclass(frozen=True)
class _Found:
    """Result of the search from one first guess."""

    start: str
    error: float
    permutation: np.ndarray
    W: np.ndarray
    n_iter: int


def _error(found: _Found) -> float:
    return found.error


@dataclass(frozen=True)
class _Descent:
    """Minimisation of D(B‖W A Wᵀ) from a first guess."""

    problem: Problem
    pair: Pair
    solver: str | Solver
    stopping: Stopping
    balances: bool
    """Whether rows and columns of the first guess are balanced."""

    def start(self, guess: np.ndarray) -> np.ndarray:
        return _balanced(guess) if self.balances else guess

    def end(self, start: np.ndarray) -> tuple[np.ndarray, int]:
        factors = {"W": start, "A": self.pair.A}
        solution = solve_from(self.problem, factors, self.solver, self.stopping, callback=is_interrupted)
        return solution.factors["W"], solution.n_iter


def _from_guess(pair: Pair, name: str, guess: np.ndarray, descent: _Descent | None, polish: bool) -> _Found:
    """The permutation that a guess leads to: after a descent, if any, rounded, and improved by exchanges if `polish`."""
    W, n_iter = _with_seeds(guess, pair), 0
    candidates = [W]
    if descent is not None:
        start = descent.start(W)
        W, n_iter = descent.end(start)
        candidates = [W, start] if polish else [W]
    permutations = [rounded(candidate, pair.seeds) for candidate in candidates]
    if polish and not is_interrupted():
        permutations = [polished(pair, permutation) for permutation in permutations]
    best = min(permutations, key=pair.error)
    return _Found(name, pair.error(best), best, W, n_iter)


def _search(pair: Pair, found: list[_Found], count: int, generator: np.random.Generator) -> list[_Found]:
    """The results, so many of the best ones improved by a search, unless one fits perfectly."""
    results = {one.start: one for one in found}
    for one in sorted(found, key=_error)[:count]:
        if min(map(_error, results.values())) == 0 or is_interrupted():
            break
        _say(f"searching around what {one.start!r} led to")
        permutation = regrown(pair, searched(pair, one.permutation, generator), generator)
        results[one.start] = replace(one, permutation=permutation, error=pair.error(permutation))
    return list(results.values())


def _generator(random_state: Any) -> np.random.Generator:
    generator = make_generator(random_state)
    return generator if isinstance(generator, np.random.Generator) else np.random.default_rng(generator.randint(2**31))


def _filled(graph: Graph, n: int) -> np.ndarray:
    """The adjacency matrix as an array, with vertices without edges up to n."""
    A = graph.adjacency.toarray() if sparse.issparse(graph.adjacency) else graph.adjacency
    return np.pad(A, (0, n - len(A)))


def _problem(pair: Pair, divergence: Any, constraint: Any, max_iter: int) -> Problem | None:
    """The relaxed problem of matching; None if there is no divergence, or a graph has no edges."""
    if divergence is None:
        return None
    model = Model("W A W.T", divergence, {"W": constraint, "A": "fixed"}, data="B")
    if not pair.A.any() or not pair.B.any():
        return None
    return bind(model, pair.B, init={"A": pair.A}, horizon=max_iter)


def _guesses(init: Any, n_init: int, A: np.ndarray, B: np.ndarray, shape: tuple[int, int]) -> list[tuple[str, Correspondence]]:
    """First guesses with their names; shape is the numbers of vertices of B and A before padding."""
    is_auto = _is(init, "auto")
    several = list(CORRESPONDENCES) if is_auto else init if isinstance(init, list | tuple) else [init]
    guesses: list[tuple[str, Correspondence]] = []
    for number, one in enumerate(several):
        if not isinstance(one, str):
            guesses.append((f"init {number}", _computed(one, A, B, shape) if callable(one) else _given(one, shape)))
            continue
        guess = find("init", one, CORRESPONDENCES, "'auto', a function of A and B, or an array")
        if guess is CORRESPONDENCES["random"]:
            guesses += [(f"random {k}", guess) for k in range(n_init if is_auto else max(n_init, 1))]
        else:
            guesses.append((one, guess))
    if not guesses:
        raise IncompatibleError("init is an empty list; at least one first guess is needed.")
    return guesses


def _is(value: Any, word: str) -> bool:
    """Whether a value is this word; arrays are not compared."""
    return isinstance(value, str) and value == word


def _computed(guess: Correspondence, A: np.ndarray, B: np.ndarray, shape: tuple[int, int]) -> Correspondence:
    """A user's function, which is given the graphs with the weights that they were given with."""
    return lambda _A, _B, generator: _checked(guess(A, B, generator), shape)


def _given(array: Any, shape: tuple[int, int]) -> Correspondence:
    W = _checked(array, shape)
    return lambda A, B, generator: W


def _checked(array: Any, shape: tuple[int, int]) -> np.ndarray:
    """The given start as a square matrix, with vertices added to the smaller graph."""
    n = max(shape)
    try:
        W = np.asarray(array)
        W = W.astype(np.float64, casting="safe" if W.dtype.kind == "c" else "unsafe")
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
                raise DataError(f"seeds has the pair {pair!r}, and {vertex!r} is no vertex of {which}.")
        read.append([known[vertex] for vertex, known in zip(pair, numbers, strict=True)])
    found = np.array(read, dtype=np.int64).reshape(-1, 2)
    for column, which in enumerate("AB"):
        if len(np.unique(found[:, column])) < len(found):
            raise DataError(f"Two of the seeds have the same vertex of {which}; each vertex can be matched once.")
    return found


def _with_seeds(W: np.ndarray, pair: Pair) -> np.ndarray:
    """The guess with the seeds, and with vertices favoured that are tied to seeds in the same ways."""
    if not len(pair.seeds):
        return W
    of_A, of_B = pair.seeds.T
    disagreement = cdist(pair.B[:, of_B], pair.A[:, of_A], "cityblock") + cdist(pair.B[of_B].T, pair.A[of_A].T, "cityblock")
    W = W / (W.max() or 1.0) * np.exp(-disagreement / (0.5 * float(disagreement.mean()) + 1e-12))
    W[of_B, :], W[:, of_A] = 0.0, 0.0
    W[of_B, of_A] = 1.0
    return W


def _balanced(W: np.ndarray) -> np.ndarray:
    """Rows and columns that sum to about one, with nothing ruled out."""
    return balanced(np, W + _UNLIKELY * (W.max() or 1.0), _BALANCING)


def _confidence(W: np.ndarray, permutation: np.ndarray) -> np.ndarray:
    """W of each match beside the largest other entry in its row and column."""
    rows = np.arange(len(W))
    own = W[rows, permutation]
    others = W.copy()
    others[rows, permutation] = 0.0
    rival = np.maximum(others.max(axis=1), others.max(axis=0)[permutation])
    return own / np.where(own + rival > 0, own + rival, 1.0)


def _with_ties(pair: Pair, permutation: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """No more than a half for vertices that have doubles, in either graph."""
    is_tied = have_doubles(pair.B, pair.seeds[:, 1])
    if pair.error(permutation) > 0:
        is_tied = is_tied | have_doubles(pair.A, pair.seeds[:, 0])[permutation]
    return np.where(is_tied, np.minimum(confidence, 0.5), confidence)
