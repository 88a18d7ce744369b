"""Projective NMF of 50 000 voxels × 300, where X Xᵀ does not fit: made-up spatial parts, and brains. Two threads.

The opnmf package would form 20 GB here. Beside ours runs its rule, with the same iterates, written with X(XᵀW), which is far
cheaper; it is cut at 75 s, before it has converged, so ratios say who is ahead then.
"""

from __future__ import annotations

import numpy as np

from _bench import Bench, Target, extra_memory, threads
from _data import brains, described, spatial, starts
from _peers import printed_opnmf, projection, run_rule
from nonneg import factorize

TITLE = "Projective NMF: tall data"
FORM = "W W.T X"


def run(bench: Bench) -> None:
    for title, load in (("spatial parts", spatial), ("brains", brains)):
        with bench.attempt(title, TITLE), threads(2):
            compare(bench, title, load(bench.quick))


def compare(bench: Bench, title: str, X: np.ndarray) -> None:
    rank, limit = (4, 0.2) if bench.quick else (20, 75.0)
    problem = f"{title} {described(X)}, r = {rank}"
    factorize(X, FORM, rank, max_iter=10, random_state=0)
    for name, W in starts(X, rank, seeds=(1,)).items():
        words = {"problem": problem, "what": f"to its objective and ρ after {limit:g} s", "start": name}
        bench.race(
            X,
            FORM,
            {"W": W},
            lambda W=W: run_rule(printed_opnmf, X, W, limit=limit)[0],
            lambda basis: Target(*projection(X, basis)),
            at_least=20,
            peer="OPNMF (ONL Eq. 31) in NumPy, factored",
            **words,
        )
    with bench.attempt(problem, "peak memory beyond X / X"):
        share = extra_memory(X, FORM, rank, max_iter=30, tol=0)
        # Without a tolerance there is no sketch: W, and a few matrices like it, 20 columns of 300 each.
        bench.number([share], 0.50, problem=problem, what="peak memory beyond X / X")
