"""Sparse text, Euclidean, r = 20: NMF beside scikit-learn, projective NMF beside the papers' rules. Two threads."""

from __future__ import annotations

from scipy import sparse

from _bench import Bench, Target, threads
from _data import described, documents, pair, starts
from _peers import cd_marks, euclidean, printed_opnmf, printed_pnmf, projection, run_rule, scikit_learn
from nonneg import factorize

TITLE = "Sparse text, Euclidean"


def run(bench: Bench) -> None:
    rank = 4 if bench.quick else 20
    for name in ("reviews", "ohscal"):
        with bench.attempt(name, TITLE), threads(2):
            X = documents(name, bench.quick)
            nmf(bench, f"{name} {described(X)}, r = {rank}", X, rank)
            projective(bench, f"{name} {described(X.T)}, r = {rank}", X.T.tocsr(), rank)


def nmf(bench: Bench, problem: str, X: sparse.csr_array, rank: int) -> None:
    """Documents × terms, as scikit-learn has them."""
    factorize(X, "W H", rank, max_iter=5, random_state=0)
    for solver, peer, seed, wanted in (
        *(("cd", "scikit-learn cd", seed, 2) for seed in range(3)),
        ("minibatch", "scikit-learn MiniBatchNMF", 0, None),
    ):
        W, H = pair(X, rank, seed)
        words = {"problem": problem, "peer": peer, "start": f"random {seed}"}
        with bench.attempt(what="W H, to its objective", **words):
            theirs = bench.race(
                X,
                "W H",
                {"W": W, "H": H},
                lambda W=W, H=H, solver=solver: scikit_learn(X, W, H, solver),
                lambda found: Target(euclidean(X, *found[:2])),
                at_least=wanted,
                what="W H, to its objective",
                **words,
            )
            if solver == "cd":
                bench.meet(X, "W H", {"W": W, "H": H}, cd_marks(X, W, H, theirs), what="W H", **words)


def projective(bench: Bench, problem: str, X: sparse.csr_array, rank: int) -> None:
    """Terms × documents, as W is over terms; the rules for 500 iterations."""
    factorize(X, "W W.T X", rank, max_iter=5, random_state=0)
    iterations = 20 if bench.quick else 500
    for name, W in starts(X, rank, seeds=(0,)).items():
        for rule, peer, wanted in (
            (printed_opnmf, "OPNMF (ONL Eq. 31) in NumPy", 10),
            (printed_pnmf, "PNMF Eq. 20 in NumPy", None),
        ):
            words = {"problem": problem, "what": f"W W.T X, to its objective after {iterations}", "peer": peer, "start": name}
            with bench.attempt(**words):
                bench.race(
                    X,
                    "W W.T X",
                    {"W": W},
                    lambda W=W, rule=rule: run_rule(rule, X, W, max_iter=iterations)[0],
                    lambda basis: Target(projection(X, basis)[0]),
                    at_least=wanted,
                    **words,
                )
