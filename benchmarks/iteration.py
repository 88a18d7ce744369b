"""What an iteration costs, beside the matrix products it cannot do without. Run it with ``make bench``.

For each problem the two are timed in turn, several times, in one run; the figure is the ratio of the medians.
"""

import json
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

import nonneg

ROUNDS, ITERATIONS = 5, 200


def problems() -> dict[str, tuple[object, str, int, dict, Callable[[], object]]]:
    """For each name: data, form, rank, settings, and the bare products of one iteration."""
    rng = np.random.default_rng(0)
    faces = rng.random((361, 2429))
    tall = rng.random((20_000, 300))
    text = sparse.random_array((20_000, 5_000), density=0.002, format="csr", rng=rng)
    K = faces @ faces.T
    W, H, V, T = (rng.random(shape) for shape in ((361, 25), (25, 2429), (20_000, 20), (5_000, 20)))
    U = rng.random((20_000, 20))
    return {
        "W W.T X, 361 × 2429, r = 25": (faces, "W W.T X", 25, {}, lambda: K @ W),
        "W W.T X orthogonal, the same": (faces, "W W.T X", 25, {"constraints": {"W": "orthogonal"}}, lambda: K @ W),
        "W H, the same": (faces, "W H", 25, {}, lambda: (faces @ H.T, W.T @ faces)),
        "W W.T X, 20000 × 300, r = 20": (tall, "W W.T X", 20, {}, lambda: tall @ (tall.T @ V)),
        "W H, sparse 20000 × 5000, r = 20": (text, "W H", 20, {}, lambda: (text @ T, text.T @ U)),
    }


def seconds_per_iteration(X: object, form: str, rank: int, settings: dict) -> float:
    solution = nonneg.factorize(
        X, form, rank, solver="multiplicative", max_iter=ITERATIONS, tol=0, check_every=ITERATIONS, random_state=0, **settings
    )
    return solution.history[-1].seconds / ITERATIONS


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    for _ in range(ITERATIONS):
        function()
    return (time.perf_counter() - started) / ITERATIONS


def main() -> None:
    report = {}
    print(f"{'problem':36} {'iteration':>12} {'products':>12} {'ratio':>8}")
    for name, (X, form, rank, settings, products) in problems().items():
        pairs = [(seconds_per_iteration(X, form, rank, settings), timed(products)) for _ in range(ROUNDS)]
        iteration, bare = np.median(pairs, axis=0)
        ratios = [a / b for a, b in pairs]
        report[name] = {"iteration": iteration, "products": bare, "ratio": iteration / bare, "spread": [min(ratios), max(ratios)]}
        print(f"{name:36} {1e3 * iteration:9.3f} ms {1e3 * bare:9.3f} ms {iteration / bare:8.2f}")
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
