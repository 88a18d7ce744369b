"""Wide sparse data, r = 10: `transform` and `score` as features and non-zeros grow, and `fit_transform` beside `fit`. One thread.

Times are those of the processor. The slope in logarithms is at most 1 where the time is linear in non-zeros and features.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np
from scipy import sparse

from _bench import Bench, in_turns, processed, seconds_of, slope, threads
from nonneg import NMF

TITLE = "Wide sparse data"
DIVERGENCES = {"Euclidean": "euclidean", "Kullback-Leibler": "kullback-leibler"}
RANK = 10


def run(bench: Bench) -> None:
    samples, growth = (60, (100, 400)) if bench.quick else (4000, (10_000, 40_000, 160_000))
    per_sample = 5 if bench.quick else 30
    features = [(size, (size, per_sample)) for size in growth]
    non_zeros = [(samples * factor * per_sample, (growth[1], factor * per_sample)) for factor in (1, 4, 16)]
    for name, divergence in DIVERGENCES.items():
        for axis, cases in (("features", features), ("non-zeros", non_zeros)):
            sizes = [size for size, _ in cases]
            problem = f"{name}, {samples} samples, {axis} from {sizes[0]} to {sizes[-1]}"
            with bench.attempt(problem, TITLE), threads(1):
                data = [random_counts(samples, *case) for _, case in cases]
                grow(bench, problem, divergence, axis, sizes, data)
        side = 300 if bench.quick else 100_000
        problem = f"{name}, {side} × {side}, {per_sample} non-zeros a sample"
        with bench.attempt(problem, TITLE), threads(1):
            together(bench, problem, divergence, random_counts(side, side, per_sample))


def random_counts(samples: int, features: int, per_sample: int) -> sparse.csr_array:
    """Counts from 1 to 5 at random features, a little fewer than `per_sample` where one is drawn twice."""
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 6, samples * per_sample).astype(float)
    indices = rng.integers(0, features, samples * per_sample)
    X = sparse.csr_array((counts, indices, np.arange(samples + 1) * per_sample), shape=(samples, features))
    X.sum_duplicates()
    return X


def grow(bench: Bench, problem: str, divergence: str, axis: str, sizes: Sequence[int], data: Sequence[sparse.csr_array]) -> None:
    """The seconds of `transform` and `score` for each size, and their slope."""
    models = [NMF(RANK, divergence=divergence, random_state=0, max_iter=20, tol=0).fit(X) for X in data]
    for method in ("transform", "score"):
        bound = [getattr(model, method) for model in models]
        calls = {
            str(size): lambda call=call, X=X: processed(lambda: call(X)) for size, call, X in zip(sizes, bound, data, strict=True)
        }
        for call in calls.values():
            call()  # so that nothing is compiled or loaded in what is timed
        taken = {size: seconds_of(runs) for size, runs in in_turns(calls, 1 if bench.quick else 7).items()}
        for size, seconds in taken.items():
            bench.number([1e3 * value for value in seconds], problem=problem, what=f"milliseconds of {method}, {size} {axis}")
        middle, best = ([choose(seconds) for seconds in taken.values()] for choose in (median, min))
        bench.number([slope(sizes, middle), slope(sizes, best)], 1.1, problem=problem, what=f"slope of the time of {method}")


def together(bench: Bench, problem: str, divergence: str, X: sparse.csr_array) -> None:
    """`fit_transform` beside `fit`, in turns."""
    estimator = NMF(RANK, divergence=divergence, random_state=0)
    estimator.fit_transform(X[:200])
    fits, both = [], []
    for _ in range(1 if bench.quick else 3):
        fits.append(processed(lambda: estimator.fit(X)))
        both.append(processed(lambda: estimator.fit_transform(X)))
    bench.cost(seconds_of(both), seconds_of(fits), 1.3, problem=problem, what="fit_transform", peer="fit")
