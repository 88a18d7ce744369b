"""Quadratic assignment: how far from the optima of QAPLIB `match_graphs` and SciPy end. Takes a minute or two.

``python benchmarks/assignment.py [NAME ...]``; without names, all instances of `nonneg_papers.assignment_names`.
"""

import sys
from collections.abc import Callable, Iterator
from time import process_time

import numpy as np
from scipy.optimize import quadratic_assignment

from nonneg.graph import match_graphs
from nonneg_papers import assignment_names, load_assignment

SEEDS = range(3)
STARTS = 10
Solver = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def ours(n_init: int) -> Solver:
    return lambda F, D, seed: match_graphs(D.max() - D, F, n_init=n_init, random_state=seed).permutation


def scipys(method: str) -> Solver:
    """The best of ten random starts."""

    def solve(F: np.ndarray, D: np.ndarray, seed: int) -> np.ndarray:
        generator = np.random.default_rng(seed)
        start = {"P0": "randomized"} if method == "faq" else {}
        runs = [quadratic_assignment(F, D, method=method, options={"rng": generator, **start}) for _ in range(STARTS)]
        return min(runs, key=lambda run: run.fun).col_ind

    return solve


SOLVERS = {
    "match_graphs": ours(0),
    "n_init=5": ours(5),
    "FAQ, best of 10": scipys("faq"),
    "2-opt, best of 10": scipys("2opt"),
}


def rows(names: list[str]) -> Iterator[list[str]]:
    match_graphs(np.eye(3), np.ones((3, 3)))  # so that no time is the compiler's
    yield ["instance", "n", "optimum", *(f"{name}: reached, mean % above, seconds of one core" for name in SOLVERS)]
    for name in names:
        problem = load_assignment(name)
        F, D = problem.flows, problem.distances
        cells = []
        for solve in SOLVERS.values():
            begin, above = process_time(), []
            for seed in SEEDS:
                p = solve(F, D, seed)
                above.append(100 * ((F * D[np.ix_(p, p)]).sum() / problem.optimum - 1))
            seconds = (process_time() - begin) / len(SEEDS)
            cells.append(f"{np.count_nonzero(np.array(above) == 0)} of {len(SEEDS)}, {np.mean(above):.2f}, {seconds:.2f}")
        yield [name, str(len(F)), str(problem.optimum), *cells]


if __name__ == "__main__":
    for row in rows(sys.argv[1:] or assignment_names()):
        print(f"| {' | '.join(row)} |", flush=True)
