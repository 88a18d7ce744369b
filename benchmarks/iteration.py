"""What an iteration costs beside the matrix products it cannot do without.

The two are timed in turns, several times, in one run, by what the processor works for them. K = X Xᵀ is known before, on both
sides: what setting up costs is not part of an iteration. The faces are compared with the long products alone (K W; X Hᵀ and Wᵀ X),
and with all that the rule multiplies, in NumPy and in the order that is cheapest. As a script,
``python benchmarks/iteration.py [JSON]`` runs this group alone; ``python benchmarks/iteration.py models [DATA ...]`` prints a table
of models, sets of data and precisions, beside all that each multiplies; ``python benchmarks/iteration.py hand`` compares with a
rule that is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from _bench import Bench, Timed, in_turns, processed, seconds_of, threads
from _data import described, documents, faces, spatial
from nonneg import factorize
from nonneg.solve.solution import Progress
from nonneg.solvers import Multiplicative
from nonneg_papers import load_feret, load_orl

TITLE = "An iteration beside its bare products"
ORTHOGONAL = {"constraints": {"W": "orthogonal"}}
SOLVERS: dict[str, dict[str, Any]] = {
    "exponent 1": {"solver": Multiplicative(exponent=1)},
    "proven exponent": {"solver": Multiplicative()},
    "adaptive": {"solver": "adaptive"},
    "a sweep of the default solver": {},
}


def run(bench: Bench) -> None:
    rng = np.random.default_rng(0)
    rounds, count = (2, 20) if bench.quick else (5, 200)
    with bench.attempt("CBCL", TITLE), threads(1):
        for dtype in ("float64",) if bench.quick else ("float64", "float32"):
            on_faces(bench, faces(bench.quick).astype(dtype), dtype, rounds, count)
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


def on_faces(bench: Bench, X: np.ndarray, dtype: str, rounds: int, count: int) -> None:
    r = 25
    K, H = X @ X.T, np.random.default_rng(0).random((r, X.shape[1])).astype(dtype)
    W = np.random.default_rng(1).random((X.shape[0], r)).astype(dtype)
    projective, orthogonal, two, _, three = products(X, r)

    for form, settings, long, everything, times in (
        ("W W.T X", {}, lambda: K @ W, projective, count),
        ("W W.T X", ORTHOGONAL, lambda: K @ W, orthogonal, count),
        ("X W W.T", {}, lambda: K @ W, projective, count),
        ("W H", {}, lambda: (X @ H.T, W.T @ X), two, count // 10),
        ("W S H", {}, lambda: (X @ H.T, W.T @ X), three, count // 10),
    ):
        samples = np.ascontiguousarray(X.T) if form == "X W W.T" else X
        problem = f"CBCL {described(samples)}, {dtype}, r = {r}"
        compare(bench, problem, samples, form, r, settings, long, rounds, times, at_most=1.15, everything=everything)


def products(X: np.ndarray, rank: int) -> tuple[Callable[[], object], ...]:
    """All that the rules multiply, of W Wᵀ X, free and orthogonal, of W H, free and with orthogonal W, and of W S H."""
    rng, K = np.random.default_rng(0), X @ X.T
    shapes = (X.shape[0], rank), (rank, rank), (rank, X.shape[1])
    W, S, H = (rng.random(shape).astype(X.dtype) for shape in shapes)

    def projective() -> None:
        KW = K @ W
        _ = W @ (W.T @ KW), KW @ (W.T @ W)

    def orthogonal() -> None:
        _ = W @ (W.T @ (K @ W)), W.T @ W

    def two() -> None:
        _ = X @ H.T, W @ (H @ H.T), W.T @ X, (W.T @ W) @ H

    def two_orthogonal() -> None:
        XH = X @ H.T
        _ = W @ (W.T @ XH), W.T @ X, (W.T @ W) @ H

    def three() -> None:
        XH, HH, WX, WW = X @ H.T, H @ H.T, W.T @ X, W.T @ W
        _ = XH @ S.T, W @ (S @ HH @ S.T), W.T @ XH, WW @ S @ HH, S.T @ WX, (S.T @ WW @ S) @ H

    return projective, orthogonal, two, two_orthogonal, three


def by_model(wanted: Sequence[str], rounds: int = 5) -> Iterator[str]:
    """A table in Markdown, of all sets of data or of some: an iteration over all of its products, and the milliseconds of both."""
    sets: dict[str, tuple[Callable[[], np.ndarray], int]] = {
        "CBCL, r = 25": (faces, 25),
        "CBCL, r = 49": (faces, 49),
        "FERET, r = 25": (lambda: load_feret().data.T, 25),
        "ORL 32 × 32, r = 25": (lambda: load_orl("32x32").data.T, 25),
        "digits, r = 16": (lambda: load_digits().data.T, 16),
    }
    models: tuple[tuple[str, str, dict[str, Any], int, float | None], ...] = (
        ("W Wᵀ X", "W W.T X", {}, 0, 1),
        ("orthogonal", "W W.T X", ORTHOGONAL, 1, 1),
        ("W H", "W H", {}, 2, 1),
        ("W H, W orthogonal", "W H", ORTHOGONAL, 3, 1),
        ("W Wᵀ X, proven exponent", "W W.T X", {}, 0, None),
        ("orthogonal, proven exponent", "W W.T X", ORTHOGONAL, 1, None),
    )
    yield "| data | precision | " + " | ".join(title for title, *_ in models) + " |"
    yield "|---|---|" + "---|" * len(models)
    for name, (load, rank) in sets.items():
        if wanted and not any(name.startswith(one) for one in wanted):
            continue
        for dtype in ("float64", "float32"):
            X = np.ascontiguousarray(load(), dtype)
            bare = products(X, rank)
            cells = [
                beside(X, form, rank, {"solver": Multiplicative(exponent=exponent), **settings}, bare[which], rounds)
                for _, form, settings, which, exponent in models
            ]
            yield f"| {name} | {dtype} | " + " | ".join(cells) + " |"


def beside(X: np.ndarray, form: str, rank: int, settings: dict[str, Any], bare: Callable[[], object], rounds: int) -> str:
    """One cell of it: the median of the ratios, and of the milliseconds."""
    least = 60 if form == "W W.T X" else 10  # for runs so long that X Xᵀ is formed, as it is beside them
    count = max(least, min(400, int(0.04 / max(processed(bare).seconds, 1e-4))))
    calls = {
        "ours": lambda: an_iteration(X, form, rank, settings, count),
        "bare": lambda: Timed(processed(lambda: [bare() for _ in range(count)]).seconds / count, None),
    }
    in_turns(calls, 1)  # the first time is slower
    ours, theirs = map(seconds_of, in_turns(calls, rounds).values())
    ratio = median(a / b for a, b in zip(ours, theirs, strict=True))
    return f"{ratio:.2f} ({1e3 * median(ours):.2f} / {1e3 * median(theirs):.2f})"


def by_hand(X: np.ndarray, rank: int, is_orthogonal: bool) -> Callable[[], None]:
    """A step of the rule of W Wᵀ X with exponent 1, in NumPy and nothing else, with the same floor, in few walks."""
    K, W = X @ X.T, np.random.default_rng(0).random((X.shape[0], rank)).astype(X.dtype)
    W, eps = W / np.linalg.norm(W, 2), float(np.finfo(X.dtype).eps)

    def step() -> None:
        nonlocal W
        KW = K @ W
        below = W @ (W.T @ KW)
        if not is_orthogonal:
            below += KW @ (W.T @ W)
            KW *= 2.0
        np.maximum(below, 1e-30, out=below)
        KW /= below
        KW *= W
        np.maximum(KW, float(KW.max()) * eps**2, out=KW)
        if is_orthogonal:
            KW /= np.sqrt(np.linalg.eigvalsh(KW.T @ KW)[-1])
        W = KW

    return step


def beside_hand(rank: int = 25, count: int = 80, rounds: int = 9) -> Iterator[str]:
    """The faces: the rule by hand, and ours, over all products, and ours over that by hand."""
    for dtype in ("float64", "float32"):
        X = faces().astype(dtype)
        for title, settings, which in (("W Wᵀ X", {}, 0), ("W Wᵀ X, orthogonal", ORTHOGONAL, 1)):
            more, hand, bare = (
                {"solver": Multiplicative(exponent=1), **settings},
                by_hand(X, rank, bool(settings)),
                products(X, rank),
            )
            calls = {
                "hand": lambda hand=hand: Timed(processed(lambda: [hand() for _ in range(count)]).seconds / count, None),
                "ours": lambda X=X, more=more: an_iteration(X, "W W.T X", rank, more, count),
                "bare": lambda one=bare[which]: Timed(processed(lambda: [one() for _ in range(count)]).seconds / count, None),
            }
            in_turns(calls, 1)
            by, ours, theirs = map(seconds_of, in_turns(calls, rounds).values())
            ratios = [median(a / b for a, b in zip(*pair, strict=True)) for pair in ((by, theirs), (ours, theirs), (ours, by))]
            yield f"{dtype}, {title}: by hand {ratios[0]:.2f}, ours {ratios[1]:.2f}, ours over that by hand {ratios[2]:.2f}"


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
    everything: Callable[[], object] | None = None,
) -> None:
    """A row for each way of taking a step: the proven exponent of W H is 1, and what is wanted is so of multiplicative ones."""
    is_shown = form in ("W W.T X", "W H") and not settings
    same = {"proven exponent"} if form in ("W H", "W S H") else set()
    same |= set() if is_shown else {"a sweep of the default solver"}
    ways = {name: more | settings for name, more in SOLVERS.items() if name not in same}
    calls = {name: lambda more=more: an_iteration(X, form, rank, more, count) for name, more in ways.items()}
    bare = {"its long products": products} | ({} if everything is None else {"all of its products": everything})
    for name, multiply in bare.items():
        calls[name] = lambda multiply=multiply: Timed(processed(lambda: [multiply() for _ in range(count)]).seconds / count, None)
    in_turns(calls, 1)  # the first time is slower
    taken = {name: [1e3 * seconds for seconds in seconds_of(runs)] for name, runs in in_turns(calls, rounds).items()}
    title = f"{form}, orthogonal" if settings else form
    for name in ways:
        for peer in bare:
            wanted = at_most if name in ("exponent 1", "proven exponent") else None
            bench.cost(taken[name], taken[peer], wanted, unit="ms", problem=problem, what=f"{title}, {name}", peer=peer)


def an_iteration(X: Any, form: str, rank: int, settings: dict[str, Any], count: int) -> Timed:
    """Seconds of the processor per iteration between two checks, and so without what comes before."""
    checks: list[tuple[int, float]] = []

    def look(progress: Progress) -> None:
        checks.append((progress.iteration, process_time()))

    more = {"init": "random", "max_iter": 2 * count, "check_every": count, "tol": 0, "random_state": 0, "callback": look}
    factorize(X, form, rank, **more, **settings)
    (first, before), (last, after) = checks[-2:]
    return Timed((after - before) / (last - first), None)


if __name__ == "__main__":
    from _command import main

    if sys.argv[1:2] in (["models"], ["hand"]):
        with threads(1):
            for line in by_model(sys.argv[2:]) if sys.argv[1] == "models" else beside_hand():
                print(line, flush=True)
        sys.exit()
    sys.exit(main(["iteration", *(("--json", sys.argv[1]) if len(sys.argv) > 1 else ())]))
