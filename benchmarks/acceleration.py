"""Fewer iterations where entries have no exact minimum: other divergences, other constraints. One thread.

The proven exponent runs for 2000 iterations. The adaptive exponent and the quasi-Newton steps run from the same start to the
objective that it has then, in turns. Where they are compared at their own stop, it is with the default tolerance.

Itakura–Saito and the dual I-divergence need positive data: all greys are one level up for them. `python benchmarks/acceleration.py
[FILE]` runs this group alone, and puts the figures into the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from _bench import Bench, Target, Timed, as_results, table, threads, timed, write
from _data import described, faces, parts_and_noise
from nonneg import factorize
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Objective, Renyi
from nonneg.solve.solvers.quasi_newton import QuasiNewton
from nonneg.solvers import Adaptive, Multiplicative, Solver

TITLE = "Fewer iterations: other divergences and constraints"
PROVEN = 2000
"""Iterations of the proven exponent."""
METHODS: dict[str, tuple[Solver, float | None]] = {"adaptive": (Adaptive(), None), "quasi-Newton": (QuasiNewton(), 3)}
"""Each with how many times faster than the proven exponent it has to be."""
NAMED: dict[str, Objective] = {"Itakura–Saito": Beta(0), "α = ½": Alpha(0.5), "γ = ½": Gamma(0.5)}
STOPPED: tuple[tuple[str, str, Objective, Mapping[str, str]], ...] = (
    ("W H, I-divergence", "W H", Beta(1), {}),
    ("W W.T X, I-divergence", "W W.T X", Beta(1), {}),
    ("W S H, I-divergence", "W S H", Beta(1), {}),
    ("W H, β = 1.5", "W H", Beta(1.5), {}),
    ("W H, Rényi 2", "W H", Renyi(2), {}),
    ("W W.T X, dual I", "W W.T X", DualI(), {}),
    ("W H, I-divergence, W stochastic", "W H", Beta(1), {"W": "stochastic-columns"}),
)
SEEDS = (0, 1, 2)


def digits(quick: bool = False) -> np.ndarray:
    """64 pixels × 1797 digits, in 17 levels of grey."""
    return parts_and_noise(16, 60) if quick else np.ascontiguousarray(load_digits().data.T) / 16


def run(bench: Bench) -> None:
    for name, load, level, rank in (("CBCL", faces, 1 / 255, 25), ("digits", digits, 1 / 16, 16)):
        with bench.attempt(name, TITLE), threads(1):
            X = load(bench.quick)
            for form in ("W H", "W W.T X"):
                for title, divergence in NAMED.items():
                    rank = 4 if bench.quick else rank
                    to_the_proven(bench, f"{name} {described(X)}, r = {rank}, {form}, {title}", X, level, form, rank, divergence)
    with threads(1):
        X = digits(bench.quick)
        for title, form, divergence, constraints in STOPPED:
            for seed in SEEDS[: 1 if bench.quick else None]:
                settings = {"divergence": divergence, "constraints": constraints}
                at_the_stop(bench, f"digits, r = 10, {title}", X, form, 4 if bench.quick else 10, seed, settings)


def positive(X: np.ndarray, divergence: Objective, level: float) -> np.ndarray:
    return X + level if divergence.requires_positive_data else X


def started(X: np.ndarray, form: str, rank: int, seed: int, settings: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return dict(factorize(X, form, rank, max_iter=0, random_state=seed, **settings).factors)


def to_the_proven(bench: Bench, problem: str, X: np.ndarray, level: float, form: str, rank: int, divergence: Objective) -> None:
    X, settings = positive(X, divergence, level), {"divergence": divergence}
    init, count = started(X, form, rank, 0, settings), 50 if bench.quick else PROVEN

    def proven() -> Timed:
        return timed(
            lambda: (
                factorize(
                    X, form, init=init, solver=Multiplicative(), max_iter=count, tol=0, check_every=count, **settings
                ).objective
            )
        )

    reference = proven()
    for method, (solver, wanted) in METHODS.items():
        words = {"problem": problem, "peer": f"proven exponent, {count} iterations"}
        with bench.attempt(what=f"{method}, to its objective", **words):
            bench.race(
                X,
                form,
                init,
                lambda: reference,
                Target,
                at_least=wanted,
                rounds=2,
                settings={**settings, "solver": solver},
                what=f"{method}, to its objective",
                **words,
            )
            iterations = bench.rows[-1].details["iterations"]
            bench.faster([iterations], [count], unit="iterations", what=f"{method}, iterations to its objective", **words)


def at_the_stop(bench: Bench, problem: str, X: np.ndarray, form: str, rank: int, seed: int, settings: Mapping[str, Any]) -> None:
    X = positive(X, settings["divergence"], 1 / 16)
    init = started(X, form, rank, seed, settings)

    def fit(solver: Solver) -> Callable[[], Any]:
        return lambda: factorize(X, form, init=init, solver=solver, max_iter=100 if bench.quick else 2000, **settings)

    words = {"problem": problem, "peer": "adaptive exponent", "start": f"random {seed}"}
    with bench.attempt(what="at the default stop", **words):
        (slow, theirs), (fast, ours) = (timed(fit(solver)) for solver, _ in METHODS.values())
        bench.faster([fast], [slow], what="quasi-Newton, to its own stop", **words)
        bench.number([ours.objective / theirs.objective], what="quasi-Newton, objective there / theirs", **words)


def main(arguments: list[str]) -> None:
    bench, begun = Bench(), perf_counter()
    run(bench)
    print(table(bench.rows))
    if arguments:
        write(Path(arguments[0]), {"acceleration": as_results(bench, TITLE, perf_counter() - begun)})


if __name__ == "__main__":
    main(sys.argv[1:])
