"""What an iteration costs beside the matrix products it cannot do without.

The two are timed in turns, several times, in one run. K = X Xᵀ is known before, on both sides: what setting up costs is not part
of an iteration. As a script, ``python benchmarks/iteration.py [JSON]`` runs this group alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from _bench import Bench, Timed, in_turns, seconds_of, threads, timed
from _data import described, documents, faces, spatial
from nonneg import factorize
from nonneg.solvers import Multiplicative

TITLE = "An iteration beside its bare products"
ORTHOGONAL = {"constraints": {"W": "orthogonal"}}
SOLVERS: dict[str, dict[str, Any]] = {
    "exponent 1": {"solver": Multiplicative(exponent=1)},
    "proven exponent": {"solver": Multiplicative()},
    "a sweep of the default solver": {},
}


def run(bench: Bench) -> None:
    rng = np.random.default_rng(0)
    rounds, count = (2, 20) if bench.quick else (5, 200)
    with bench.attempt("CBCL", TITLE), threads(1):
        X, r = faces(bench.quick), 25
        K, W, H = X @ X.T, rng.random((X.shape[0], r)), rng.random((r, X.shape[1]))
        problem = f"CBCL {described(X)}, r = {r}"
        compare(bench, problem, X, "W W.T X", r, {}, lambda: K @ W, rounds, count, at_most=1.35)
        compare(bench, problem, X, "W W.T X", r, ORTHOGONAL, lambda: K @ W, rounds, count, at_most=1.35)
        compare(bench, problem, X, "W H", r, {}, lambda: (X @ H.T, W.T @ X), rounds, count // 10)
    with bench.attempt("spatial parts", TITLE), threads(2):
        X, r = spatial(bench.quick), 20
        V = rng.random((X.shape[0], r))
        problem = f"spatial parts {described(X)}, r = {r}"
        compare(bench, problem, X, "W W.T X", r, {}, lambda: X @ (X.T @ V), rounds, count // 20, at_most=1.25)
        compare(bench, problem, X, "W W.T X", r, ORTHOGONAL, lambda: X @ (X.T @ V), rounds, count // 20, at_most=1.25)
    with bench.attempt("reviews", TITLE), threads(1):
        X, r = documents("reviews", bench.quick), 20
        transposed, U, T = X.T.tocsr(), rng.random((X.shape[0], r)), rng.random((X.shape[1], r))
        problem = f"reviews {described(X)}, r = {r}"
        compare(bench, problem, X, "W H", r, {}, lambda: (X @ T, transposed @ U), rounds, count // 20)


def compare(
    bench: Bench,
    problem: str,
    X: Any,
    form: str,
    rank: int,
    settings: dict[str, Any],
    products: Callable[[], object],
    rounds: int,
    count: int,
    at_most: float | None = None,
) -> None:
    """A row for each way of taking a step: the proven exponent of W H is 1, and what is wanted is so of multiplicative ones."""
    same = {"proven exponent"} if form == "W H" else {"a sweep of the default solver"} if settings else set()
    ways = {name: more | settings for name, more in SOLVERS.items() if name not in same}
    calls = {name: lambda more=more: an_iteration(X, form, rank, more, count) for name, more in ways.items()}
    calls["products"] = lambda: Timed(timed(lambda: [products() for _ in range(count)]).seconds / count, None)
    in_turns(calls, 1)  # the first time is slower
    taken = {name: [1e3 * seconds for seconds in seconds_of(runs)] for name, runs in in_turns(calls, rounds).items()}
    title = f"{form}, orthogonal" if settings else form
    for name, more in ways.items():
        bench.cost(
            taken[name],
            taken["products"],
            at_most=at_most if "solver" in more else None,
            unit="ms",
            problem=problem,
            what=f"{title}, {name}",
            peer="bare products",
        )


def an_iteration(X: Any, form: str, rank: int, settings: dict[str, Any], count: int) -> Timed:
    """Seconds per iteration between two checks, and so without what comes before."""
    history = factorize(X, form, rank, max_iter=2 * count, check_every=count, tol=0, random_state=0, **settings).history
    return Timed((history[-1].seconds - history[-2].seconds) / (history[-1].iteration - history[-2].iteration), None)


if __name__ == "__main__":
    from _command import main

    sys.exit(main(["iteration", *(("--json", sys.argv[1]) if len(sys.argv) > 1 else ())]))
